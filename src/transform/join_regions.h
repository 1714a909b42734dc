#pragma once
#include "transform/join.h"

namespace inlay::transform {

/// Stages that write regions of one buffer are one Kernel: a slice write over its base, the parts of a concat. 0-d
/// arithmetic that writes a region between two of them is one too. Beside rows that write the buffer, what writes
/// another region of it runs once.
kernel::KernelProgram join_regions(kernel::KernelProgram program, LoopPassContext& context);

/// What it joins. Refers to the program.
JoinRule regions_of_one_buffer(const kernel::KernelProgram& program);

}  // namespace inlay::transform
