#pragma once
// Kernels that follow each other row by row become stages over shared outer axes: fold, map, fold of a softmax, the
// mean and the deviations from it. Then a row that one stage has read or made is in the cache for the next.
#include "transform/join.h"

namespace inlay::transform {

/// Joins two kernels where the second reads, at each point of their leading axes, only what the first makes at the same
/// point; or at each point of the last axis, and then by tiles of columns. What is not one row's own (a sum over the
/// rows, an index) keeps them apart.
kernel::KernelProgram share_rows(kernel::KernelProgram program, LoopPassContext& context);

/// With this pass in the place of share_rows, what do all passes that join kernels make of the program?
kernel::KernelProgram joined(const Trial& trial, kernel::KernelProgram program, LoopPassFunction* share = share_rows);

/// May another axis of a kernel come in front, to have rows to share?
enum class MayTurn : uint8_t { no, yes };
/// By buffer that the second of two kernels writes: may either be turned? Empty: all may.
using Turns = IdMap<kernel::BufferId, MayTurn>;

/// What it joins. Refers to the program and the caps.
JoinRule rows_and_columns(const kernel::KernelProgram& program, const kernel::BackendCaps& caps, Turns turns = {});

}  // namespace inlay::transform
