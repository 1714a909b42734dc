#pragma once
// Kernels that follow each other row by row become stages over shared outer axes: fold, map, fold of a softmax, the
// mean and the deviations from it. Then a row that one stage has read or made is in the cache for the next.
#include "kernel/kernel.h"

namespace inlay::fuse {

/// Joins each kernel to the one just before it where it reads, at each point of their leading axes, only what that one
/// makes at the same point. What is not one row's own (a sum over the rows, an index) keeps them apart.
void share_rows(kernel::KernelProgram& program);

}  // namespace inlay::fuse
