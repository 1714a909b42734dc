#pragma once
#include <vector>

#include "kernel/kernel.h"

namespace inlay {

/// Returns a few tuples of small sizes, by SymbolId, that every size check of the program accepts: one without
/// elements, if that is possible, one with several, and one with a second tile if kernels are tiled. For verifiers that
/// need numbers. Empty if none was found.
std::vector<std::vector<int64_t>> sample_sizes(const kernel::KernelProgram& program);

}  // namespace inlay
