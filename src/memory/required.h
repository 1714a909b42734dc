#pragma once
// Updates that are marked to be made in place, against what the plan says.
#include "memory/plan.h"

namespace inlay::memory {

/// Throws Error(not-in-place) for the first copy start that is required to move nothing and does: with the plan's own
/// reason, and the step that it is about.
void require_in_place(const kernel::KernelProgram& program, const Sharing& sharing);

}  // namespace inlay::memory
