#pragma once
#include "transform/join.h"

namespace inlay::transform {

/// A kernel that goes on with what another folds of the same whole arrays becomes stages of that, with the 0-d
/// arithmetic between: the deviations from a mean. Behind share_rows, which makes rows of what can be rows.
kernel::KernelProgram join_whole_arrays(kernel::KernelProgram program, LoopPassContext& context);

/// What it joins. Refers to the program.
JoinRule whole_arrays(const kernel::KernelProgram& program);

}  // namespace inlay::transform
