#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// k0, k1, ... in the order of the program; 0-d arithmetic has no name.
kernel::KernelProgram name_kernels(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
