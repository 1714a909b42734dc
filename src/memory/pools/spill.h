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
  std::vector<std::size_t> choice;    // by group: the place of its pool among those that it may lie in
  std::vector<int64_t> offset_bytes;  // by group, in its pool
  std::vector<Layout> layouts;        // by pool
};
Spilled spill(const Problem& problem, const PoolPlanner& planner, Order order);

}  // namespace inlay::memory::pools
