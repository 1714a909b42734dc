#pragma once
// The reasons of temporaries. What the fuser chose to store has its reason from that decision (fuse/fuse.cpp); for what
// could not be computed where it is read, whatever it costs, the finished program shows why.
#include "kernel/kernel.h"

namespace inlay::explain {

/// Gives the reason to each temporary that has none yet, of a program that is not a body.
void say_why_stored(kernel::KernelProgram& program);

}  // namespace inlay::explain
