#pragma once
// Checks updates that must be in place against the plan.
#include "memory/plan.h"

namespace inlay::memory {

/// Throws Error(not-in-place) for the first copy start that must move nothing but does, with the plan's own reason and
/// the step in it.
void require_in_place(const kernel::KernelProgram& program, const Sharing& sharing);

}  // namespace inlay::memory
