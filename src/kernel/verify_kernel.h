#pragma once
// The part of verify that looks inside one Kernel.
#include <functional>
#include <string>

#include "kernel/text.h"

namespace inlay::kernel {

/// Reports one error.
using Complain = std::function<void(std::string message)>;

bool mentions(const Dim& dim, SymbolId symbol);

/// Do two arrays have the same number of elements, for all sizes or by a size check?
bool same_num_elements(const KernelProgram& program, const Buffer& a, const Buffer& b);

/// Verifies the form and meaning of the statements: registers, dtypes, ranks, sites, starts. The ids in them must be
/// known to be valid.
void verify_statements(const KernelProgram& program, const Kernel& kernel, const Complain& complain);

/// Verifies contracts 1 and 2 of kernel.h, and that no two points write one element in an undefined order. The kernel's
/// statements must be sound.
void verify_contract(const KernelProgram& program, const Kernel& kernel, const Complain& complain);

}  // namespace inlay::kernel
