#pragma once
// Proves a MemoryPlan for one tuple of sizes, independently of how it was made.
//
// The schedule is replayed on numbered contents. Every write puts a new number into the bytes that it covers; every
// buffer remembers the number that each of its elements should hold. A read must find exactly that number in every
// byte: so bytes that were overwritten too early, placed twice, or never written are found where they matter, whatever
// the plan's reasons were. An elided copy changes only what the buffer should hold, not a byte. The code is simple, and
// as slow as an interpreter of the program: it must be easy to believe.
#include <limits>
#include <span>
#include <vector>

#include "memory/plan.h"

namespace inlay::memory {

/// Limits of a replay, since sizes in a text may be huge. Beyond them a plan is taken for sound: a plan with more bytes
/// is not replayed at all, and a replay ends after this many accesses of elements and points of loops.
struct ReplayLimits {
  int64_t accesses = std::numeric_limits<int64_t>::max();
  int64_t bytes = std::numeric_limits<int64_t>::max();
};

/// Verifies `plan` for these sizes (all symbols, also those found late): returns everything wrong with it, at most ten
/// errors; nothing if it is sound. `layouts` are those of the segments: plan.layouts of a static plan, else made by the
/// planner for these symbols.
std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const Layout> layouts, std::span<const int64_t> symbols,
                               const ReplayLimits& limits = {});

/// Verifies the plan with the layouts that `planner` makes.
std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const int64_t> symbols, Planner planner = Planner::search,
                               const ReplayLimits& limits = {});

}  // namespace inlay::memory
