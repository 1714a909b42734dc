#pragma once
// The reason of each temporary. What was forced has its reason from the decision; for what could not be computed where
// it is read, whatever it costs, the finished program shows why.
#include "fuse/cone.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// Gives the reasons of what was forced to the temporaries that hold it.
void note_forced(const Forced& forced, const Cones& cones, kernel::KernelProgram& program);

/// Every other temporary's, of a program that is not a body.
void say_why_stored(kernel::KernelProgram& program);

}  // namespace inlay::fuse
