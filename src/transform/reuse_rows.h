#pragma once
// What one stage has computed of a row and a later one needs too is kept in a local row, not made from memory again.
#include "transform/loop_pass.h"

namespace inlay::transform {

/// Layer norm needs x - mean for the variance and for the result: the stage that has it keeps it, and the next does not
/// go over x a third time. Only where rows are some of many: a whole array would go to memory and come back.
kernel::KernelProgram reuse_rows(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
