#pragma once
// Pools one after the other: what does not fit in one is spilled into the next that it may lie in.
#include "memory/pools/problem.h"

namespace inlay::memory::pools {

/// What goes first.
enum class Order : uint8_t {
  cheapest,             // what costs least for the bytes that it makes free
  most_room_elsewhere,  // of what goes into the largest pool
};

struct Spilled {
  explicit Spilled(const Problem& problem)
      : choice(problem.groups.size()), offset_bytes(problem.groups.size()), layouts(problem.pools.size()) {}

  /// Those that lie in a pool, and them as planners take them.
  std::vector<std::size_t> groups_in(const Problem& problem, std::size_t pool) const;
  /// Lays them out there. Is the layout within the capacity?
  bool lay_out(const Problem& problem, const PoolPlanner& planner, std::size_t pool, bool is_trial);
  /// Takes over a layout of the pool, which is proved.
  void accept(const Problem& problem, std::size_t pool, Layout layout);

  std::vector<std::size_t> choice;    // by group: the place of its pool among those that it may lie in
  std::vector<int64_t> offset_bytes;  // by group, in its pool
  std::vector<Layout> layouts;        // by pool
};

std::vector<Storage> storages_of(const Problem& problem, std::span<const std::size_t> groups);

Spilled spill(const Problem& problem, const PoolPlanner& planner, Order order);

}  // namespace inlay::memory::pools
