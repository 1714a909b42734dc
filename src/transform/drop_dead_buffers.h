#pragma once
#include "transform/loop_pass.h"

namespace inlay::transform {

/// Drops the temporaries that nothing loads, with the stores to them: those of a running sum whose readers all stand in
/// the loop that makes it, and take it from a register. After stages are shared: before, nobody knows who stands where.
kernel::KernelProgram drop_dead_buffers(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
