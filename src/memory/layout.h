#pragma once
// Where every storage of a program lives, and when, for one tuple of sizes.
//
// A Layout is plain data: planners make it, `verify` proves it, the runtime reads it. Nothing here allocates, and
// nothing here knows a graph: a planner sees intervals, sizes and alignments.
#include <cstdint>
#include <span>
#include <vector>

#include "support/error.h"
#include "support/id.h"

namespace inlay::memory {

using StorageId = Id<struct StorageTag>;

/// Whose bytes a storage is made of. Only `arena` is placed by a planner.
enum class Owner : uint8_t { arena, output };

/// Ticks at which a storage holds a needed byte: [begin, end). Step s reads at tick 2s and writes at 2s + 1. What it
/// reads stays needed until it has written, so it ends at 2s + 2; what it writes begins at 2s + 1. So the two overlap.
struct Lifetime {
  int32_t begin = 0, end = 0;
  bool operator==(const Lifetime&) const = default;
};

/// Is there a tick in both?
inline bool meet(const Lifetime& a, const Lifetime& b) {
  return (a.begin > b.begin ? a.begin : b.begin) < (a.end < b.end ? a.end : b.end);
}

struct Storage {
  Owner owner = Owner::arena;
  Lifetime live;
  int64_t size_bytes = 0;
  int64_t alignment_bytes = 64;
};

struct Layout {
  std::vector<int64_t>
      offset_bytes;  // by StorageId, from the arena's base; 0 for other owners and where there are no bytes
  int64_t arena_bytes = 0;
  int64_t lower_bound_bytes = 0;  // no layout can need less
};

enum class Planner : uint8_t { naive, greedy };
Layout plan_naive(std::span<const Storage> storages);   // one after the other: the debug reference
Layout plan_greedy(std::span<const Storage> storages);  // best of a few orders, lowest offset first
Layout plan(Planner planner, std::span<const Storage> storages);

/// The largest sum of live bytes at any tick, alignment included: no layout needs less.
int64_t lower_bound_bytes(std::span<const Storage> storages);

// Sums of bytes that throw Error(size-overflow) instead of wrapping around.
int64_t add_bytes(int64_t a, int64_t b);
int64_t round_up(int64_t offset, int64_t alignment);

/// Everything wrong with `layout`; empty when it is sound. Compares all pairs, on purpose: it must be easy to believe.
std::vector<Diagnostic> verify(const Layout& layout, std::span<const Storage> storages);

}  // namespace inlay::memory
