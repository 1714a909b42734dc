#pragma once
// The runtime's question for a Layout, answered by memory's planner and remembered.
#include "memory/plan.h"
#include "runtime/executable.h"

namespace inlay {

/// Layouts that are kept, those that were used last.
inline constexpr std::size_t kMaxLayouts = 64;

/// Plans each segment once for each tuple of sizes, and again where it is no longer among those that are kept. Safe
/// from many threads.
runtime::LayoutFunction layout_function(memory::Sharing sharing, memory::PlannerOptions options);

}  // namespace inlay
