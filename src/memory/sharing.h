#pragma once
// Decides which buffers share bytes, once per program, for all sizes. The result is passed on, from the passes that
// change a program to save memory (checks_first.h, step_order.h) to the plan.
//
// Three decisions, in this order, since the first saves the most bytes moved:
//   copy starts    an update takes the bytes of its base, or the base is made in the bytes of the update
//   destinations   what is only brought into a region of a larger buffer is made there
//   operands       an elementwise result takes the bytes of an operand that dies
// Each joins two groups of buffers, and only if none of the others in the groups is harmed. What would write the bytes
// that are there already, the copy, the start or the store, is marked as elided in the program.
#include "memory/plan.h"

namespace inlay::memory {

/// Decides the sharing of a program. Clears the marks of an earlier plan first.
SharedProgram share(kernel::KernelProgram program, SharingFunction may_share = {});

}  // namespace inlay::memory
