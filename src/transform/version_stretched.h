#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// What may have length 1 when the program runs is read at a step that has a factor of 0 or 1 (`stretch`). A stage that
/// does so becomes two, of which one has no points: in the first all such sizes are 1, and what it reads lies side by
/// side; the second is for any other. Near the end: till then it is one stage, and shares loops as such.
kernel::KernelProgram version_stretched(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
