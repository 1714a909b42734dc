#pragma once
// Proves a MemoryPlan for one tuple of sizes, by another way than the one that made it.
//
// The schedule is replayed on numbered contents. Every write puts a new number into the bytes that it covers; every
// buffer remembers, for each of its elements, the number that it should hold. A read must find exactly that number in
// every byte: so bytes that were overwritten too early, placed twice, or never written are found where they hurt,
// whatever the plan's reasons were. What an elided copy leaves undone moves only what the buffer should hold, not a
// byte. Plain, and as slow as running the program in an interpreter: it must be easy to believe.
#include <limits>
#include <span>
#include <vector>

#include "memory/plan.h"

namespace inlay::memory {

/// Sizes that somebody wrote into a text may be huge. What a replay does not reach is taken for sound: of what has more
/// bytes all, and what comes after so many accesses of elements and points of loops.
struct ReplayLimits {
  int64_t accesses = std::numeric_limits<int64_t>::max();
  int64_t bytes = std::numeric_limits<int64_t>::max();
};

/// Everything wrong with `plan` for these sizes (all symbols, late ones too); empty when it is sound. `layouts` are
/// those of the segments: plan.layouts of a static plan, else made by the planner for these symbols. Stops after the
/// first ten.
std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const Layout> layouts, std::span<const int64_t> symbols,
                               const ReplayLimits& limits = {});

/// The same with the layouts that `planner` makes.
std::vector<Diagnostic> verify(const kernel::KernelProgram& program, const MemoryPlan& plan,
                               std::span<const int64_t> symbols, Planner planner = Planner::search,
                               const ReplayLimits& limits = {});

}  // namespace inlay::memory
