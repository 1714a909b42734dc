#pragma once
// Makes Layouts for the runtime with memory's planner, and caches them.
#include "memory/plan.h"
#include "runtime/executable.h"
#include "runtime/object.h"

namespace inlay {

/// How many Layouts are kept: those that were used last.
inline constexpr std::size_t kMaxLayouts = 64;

/// Returns a function that plans each segment once for each tuple of sizes, and again if that Layout is no longer kept.
/// Safe from many threads.
runtime::LayoutFunction layout_function(runtime::ArenaSpec arena, memory::PlannerOptions options);

}  // namespace inlay
