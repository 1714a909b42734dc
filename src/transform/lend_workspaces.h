#pragma once
// Blocks of a loop, which threads may run, fold into states of their own. Where these are too many for the stack the
// kernel gets memory for them, which the plan holds: a table for each block that has not been merged, as many as there
// are at a time on one thread. That is nothing where a call turns out to have too little work for two blocks.
//
// Without it such a loop is one block.
#include "transform/loop_pass.h"

namespace inlay::transform {

kernel::KernelProgram lend_workspaces(kernel::KernelProgram program, LoopPassContext& context);

}  // namespace inlay::transform
