#pragma once
// The part of verify that looks inside one Kernel.
#include <functional>
#include <string>

#include "kernel/text.h"

namespace inlay::kernel {

/// Takes one thing that is wrong.
using Complain = std::function<void(std::string message)>;

bool mentions(const Dim& dim, SymbolId symbol);

/// Have two arrays as many elements: for all sizes, or by a size check?
bool same_num_elements(const KernelProgram& program, const Buffer& a, const Buffer& b);

/// Shape and meaning of the statements: registers, dtypes, ranks, sites, starts. What they name must exist before
/// anybody may follow the names.
void verify_statements(const KernelProgram& program, const Kernel& kernel, const Complain& complain);

/// Contracts 1 and 2 of kernel.h, and that no two points write one element in an order that is not fixed. Of a kernel
/// whose statements are sound.
void verify_contract(const KernelProgram& program, const Kernel& kernel, const Complain& complain);

}  // namespace inlay::kernel
