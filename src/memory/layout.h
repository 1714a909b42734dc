#pragma once
// Layouts: where and when every storage of a program lives, for one tuple of sizes.
//
// A Layout is plain data: planners make it, `verify` proves it, the runtime reads it. Nothing here allocates, and
// nothing here knows a graph: a planner sees intervals, sizes and alignments.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/planning.h"
#include "support/error.h"
#include "support/id.h"

namespace inlay::memory {

using StorageId = Id<struct StorageTag>;

/// The owner of a storage's bytes. A planner only places those of `arena`.
enum class Owner : uint8_t { arena, output, param };

/// The live range of a storage: the ticks [begin, end) at which it holds a needed byte. Step s reads at tick 2s and
/// writes at 2s + 1. What it reads stays needed until it has written, so it ends at 2s + 2; what it writes begins at 2s
/// + 1. So the two overlap.
struct Lifetime {
  int32_t begin = 0, end = 0;
  bool operator==(const Lifetime&) const = default;
};

/// Do they overlap?
inline bool meet(const Lifetime& a, const Lifetime& b) {
  return (a.begin > b.begin ? a.begin : b.begin) < (a.end < b.end ? a.end : b.end);
}

struct Storage {
  Owner owner = Owner::arena;
  Lifetime live;
  int64_t size_bytes = 0;
  int64_t alignment_bytes = 64;
  int64_t pinned_bytes = -1;  // its fixed offset; -1: the planner chooses it
  std::string name;           // for messages; may be empty
  bool is_pinned() const { return pinned_bytes >= 0; }
};

/// Does it have bytes in the arena?
inline bool is_placed(const Storage& storage) { return storage.owner == Owner::arena && storage.size_bytes > 0; }

struct Layout {
  std::vector<int64_t>
      offset_bytes;  // by StorageId, from the arena's base; 0 for other owners and where there are no bytes
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;  // no layout can need less
  int64_t placements = 0;         // how many the search tried

  bool is_proved() const { return arena_bytes == lower_bound_bytes; }  // no layout is smaller
};

/// naive: one storage after the other, the debug reference. greedy: the best of a few orders. search: greedy, then a
/// complete search for a layout of the lower bound. max: the same with more time, and if that fails, for the smallest
/// layout.
enum class Planner : uint8_t { naive, greedy, search, max };
inline constexpr std::string_view kPlannerNames[] = {"naive", "greedy", "search", "max"};
std::string_view planner_name(Planner planner);
/// Returns the planner of this name. `said_by` is where the name was given: "--planner". Throws Error(unknown-name).
Planner planner_named(std::string_view name, std::string_view said_by);

struct Effort {
  Planner planner = Planner::search;
  /// The budget of a search, in placements that take about this long; below 0: 50 for search, 5000 for max. Counting
  /// placements makes the result the same on every machine.
  int64_t budget_ms = -1;
  int64_t enough_bytes =
      0;  // a layout of at most this is good enough: only a tenth of the remaining budget goes into a better one
};

int64_t milliseconds_of(const Effort& effort);

/// Returns the best layout found. Throws Error: size-overflow, or wrong-plan if pinned storages overlap or are not
/// aligned.
Layout plan(const Effort& effort, std::span<const Storage> storages);
Layout plan(Planner planner, std::span<const Storage> storages);

/// Returns the layout of a custom planner, which gets the storages with bytes in the arena and returns an offset for
/// each. The layout is verified: Error(wrong-plan) names the storages that overlap.
Layout plan_custom(const PlannerFunction& planner, std::span<const Storage> storages);

/// Returns a size that no layout can go below: the largest sum of live bytes at any tick, with alignment, or the end of
/// the pinned storages if that is more.
int64_t lower_bound_bytes(std::span<const Storage> storages);

/// Returns the name for messages: "e (storage 3)".
std::string storage_text(std::span<const Storage> storages, std::size_t at);

// Sums of bytes that throw Error(size-overflow) instead of wrapping around.
int64_t add_bytes(int64_t a, int64_t b);
int64_t round_up(int64_t offset, int64_t alignment);

/// Verifies a layout: returns everything wrong with it, nothing if it is sound. Compares all pairs on purpose: it must
/// be easy to believe.
std::vector<Diagnostic> verify(const Layout& layout, std::span<const Storage> storages);

}  // namespace inlay::memory
