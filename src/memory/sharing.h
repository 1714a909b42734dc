#pragma once
// Which buffers lie in the same bytes, decided once per program, for all sizes: then it is handed on, from the passes
// that change a program for the sake of memory (checks_first.h, step_order.h) to the plan.
//
// Three decisions, in this order, since the first saves the most bytes moved:
//   copy starts    an update takes the bytes of its base, or the base is made in the bytes of the update
//   destinations   what is only brought into a region of a larger buffer is made there
//   operands       an elementwise result takes the bytes of an operand that dies
// Each joins two groups of buffers, and only if none of the others in the groups is harmed. What would write the bytes
// that are there already, the copy, the start or the store, is marked as elided in the program.
#include "memory/plan.h"

namespace inlay::memory {

/// Takes back the marks that the program has: those of another plan.
SharedProgram share(kernel::KernelProgram program, SharingFunction may_share = {});

}  // namespace inlay::memory
