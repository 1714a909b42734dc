#pragma once
// Which buffers lie in the same bytes, decided once per program, for all sizes.
//
// Three decisions, in this order, since the first saves the most bytes moved:
//   copy starts    an update takes the bytes of its base, or the base is made in the bytes of the update
//   destinations   what is only brought into a region of a larger buffer is made there
//   operands       an elementwise result takes the bytes of an operand that dies
// Each joins two groups of buffers, and only if none of the others in the groups is harmed.
#include "memory/plan.h"

namespace inlay::memory {

Sharing decide_sharing(const kernel::KernelProgram& program, const Eligibility& eligible = {});

}  // namespace inlay::memory
