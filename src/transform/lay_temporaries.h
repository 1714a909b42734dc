#pragma once
// The order of a temporary's dims, by the loop that makes it.
#include "transform/loop_pass.h"

namespace inlay::transform {

/// A temporary's dims come as its value's do. One that a loop makes, and folds, lies here as that loop's operands do:
/// of the two loops, the one that makes it and the one that reads it, one goes across the other's arrays, and the one
/// that folds is to go as they lie. Only where both have an axis left to share, and the passes that follow make them
/// one kernel, so that what is handed on is as large as the other axes; or where kernels are fewer for it and move
/// less, though it is a whole array more. Temporaries that anything but loops touches stay as they are.
kernel::KernelProgram lay_temporaries(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
