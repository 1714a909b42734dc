#pragma once
// The runtime's question for a Layout, answered by memory's planner and remembered.
#include "memory/plan.h"
#include "runtime/executable.h"

namespace inlay {

/// Plans each segment once for each tuple of sizes; the last few tuples are kept. Safe from many threads.
runtime::LayoutFunction layout_function(memory::Sharing sharing, memory::Planner planner);

}  // namespace inlay
