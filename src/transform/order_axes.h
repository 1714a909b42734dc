#pragma once
// The order of a stage's axes, by how its arrays lie in memory.
#include <span>

#include "transform/loop_pass.h"

namespace inlay::transform {

/// A stage's axes come as its value's dims do, which for what is read through a transposition, and folded, is not how
/// it lies in memory. Here they are put into that order, the axis that most arrays have side by side last, wherever it
/// cannot be told in which order the points come. What is read counts for more than where folds write, which they do
/// once for many points. Kernels with outer axes stay as they are.
kernel::KernelProgram order_axes(kernel::KernelProgram program, LoopPassContext& context);

/// Axis i of the stage's statements is axis `now[i]`.
void renumber_axes(kernel::Stage& stage, std::span<const int> now);

/// Axis i is what axis `order[i]` was. The stage is that of a kernel without outer axes.
void permute_axes(kernel::Stage& stage, std::span<const std::size_t> order);

/// Is what the stage makes the same, to the order of what its folds add up, whatever order its axes have?
bool may_permute_axes(const kernel::Stage& stage);

/// Can it be told in which order the stage's points come?
bool order_shows(const kernel::Stage& stage);

}  // namespace inlay::transform
