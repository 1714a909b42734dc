#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// What is expensive and the same at all points of a row (the sigmoid of a row's sum, by which the row is then
/// multiplied) gets a stage without inner axes, or joins the one before: `choose_locals` has that pass rows by tiles,
/// so it runs in vectors over rows, not one number at a time. Only in kernels whose rows are outer points and go by
/// tiles anyway, or are short, and not by tiles of columns.
kernel::KernelProgram hoist_numbers(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
