#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace inlay {

/// A few tuples of small sizes, by SymbolId, that every size check of the program accepts; one without elements, where
/// that is possible, and one with several; one with a second tile where kernels go by tiles. For verifiers that need
/// numbers. Empty when none was found.
std::vector<std::vector<int64_t>> sample_sizes(const kernel::KernelProgram& program);

}  // namespace inlay
