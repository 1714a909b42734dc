#pragma once
// The best plan so far, and what is known of the best there can be.
#include <cstdint>
#include <span>
#include <vector>

#include "memory/search/problem.h"

namespace inlay::memory::search {

struct BestPlan {
  explicit BestPlan(const Problem& problem, int64_t lower_bound_bytes)
      : problem(problem), lower_bound_bytes(lower_bound_bytes) {}

  const Problem& problem;
  int64_t lower_bound_bytes = 0;    // no plan can need less
  int64_t arena_bytes = INT64_MAX;  // what this one needs
  std::vector<int64_t> offsets;     // units, by item

  bool is_optimal() const { return arena_bytes <= lower_bound_bytes; }
  void consider(std::span<const int64_t> candidate) {
    const int64_t bytes = problem.arena_bytes(candidate);
    if (bytes >= arena_bytes) return;
    arena_bytes = bytes;
    offsets.assign(candidate.begin(), candidate.end());
  }
};

/// Items from below, by a few orders; stops at the lower bound. Nearly linear; where something is pinned quadratic, and
/// without a plan where there are very many items.
void fill_from_below(BestPlan& best);

/// Items into the lowest gaps, by a few orders; stops at the lower bound. Quadratic: where there are very many items,
/// only if there is no plan yet.
void fill_gaps(BestPlan& best);

}  // namespace inlay::memory::search
