#pragma once
// Kernels that follow each other row by row become stages over shared outer axes: fold, map, fold of a softmax, the
// mean and the deviations from it. Then a row that one stage has read or made is in the cache for the next.
#include "transform/join.h"

namespace inlay::transform {

/// Joins two kernels where the second reads, at each point of their leading axes, only what the first makes at the same
/// point; or at each point of the last axis, and then by tiles of columns. What is not one row's own (a sum over the
/// rows, an index) keeps them apart.
kernel::KernelProgram share_rows(kernel::KernelProgram program, LoopPassContext& context);

/// What it joins. Refers to the program and the caps.
JoinRule rows_and_columns(const kernel::KernelProgram& program, const kernel::BackendCaps& caps);

}  // namespace inlay::transform
