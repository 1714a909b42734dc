#pragma once
// Planning by itself: the buffers of a program that somebody else compiles, in one pool of bytes or in several.
//
// A planner sees storages, each by itself, on one line of time. Here they are made of what a compiler has: buffers that
// lie in others (aliases, views, results in place), entry points that share states, memories of different speed.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/layout.h"

namespace inlay::memory::pools {

/// `size` bytes that are needed at the times [lower, upper).
struct Buffer {
  std::string name;
  int64_t lower = 0, upper = 0, size = 0;
  int64_t alignment = 1;
  std::optional<int64_t> offset = {};  // where it must lie, in its base or else in its pool; none: anywhere there
  std::string base;  // the buffer in whose bytes it lies (at the beginning, where no offset says); "": none
  std::vector<std::string> pools;    // where it may lie, the best first; empty: in any that there is, in their order
  std::optional<int64_t> cost = {};  // of lying in another pool than the first of these; none: as many as its bytes
  std::string entry;  // the entry point that needs it; "": all, from the first time to the last, if there are some

  bool operator==(const Buffer&) const = default;
};

struct Pool {
  std::string name;
  int64_t capacity_bytes = -1;  // -1: no limit

  bool holds(int64_t bytes) const { return capacity_bytes < 0 || bytes <= capacity_bytes; }
};

struct PoolLayout {
  Pool pool;
  int64_t peak_bytes = 0, lower_bound_bytes = 0;

  bool fits() const { return pool.holds(peak_bytes); }
  bool is_proved() const { return peak_bytes == lower_bound_bytes; }
};

struct Placement {
  std::size_t pool = 0;
  int64_t offset_bytes = 0;  // in the pool
  Lifetime live;             // on the line of time that all entry points share
  bool is_spilled = false;   // into another pool than the first that it may lie in
};

struct Plan {
  std::vector<PoolLayout> pools;   // those that were given, then those that only buffers name
  std::vector<Placement> buffers;  // in the order given
  int64_t num_placements = 0;      // that were tried in searching

  bool fits() const;
  int64_t peak_bytes() const;  // of all pools
  int64_t lower_bound_bytes() const;
};

/// What is wrong with one of the buffers.
struct Mistake {
  std::size_t buffer = 0;
  std::string message;
};
std::optional<Mistake> find_mistake(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools);

/// What is to be laid out in one pool; a layout within `enough_bytes` is as good as a smaller one.
struct OnePool {
  std::span<const Storage> storages;
  int64_t enough_bytes = 0;
  const std::vector<int64_t>& times;  // what the ticks stand for
  bool is_trial = false;              // one of many, each with a part of the effort
};

struct PoolPlanner {
  std::function<Layout(const OnePool&)> plan;
  bool may_fill_gaps = true;  // no: each offset is the planner's
};
PoolPlanner planner_of(const Effort& effort);

/// Each buffer in the best pool that it may lie in; where a pool is too small, what costs least goes to its next one.
/// Where that does not help, the plan does not fit. Every layout is proved. No mistake may be there.
Plan plan(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools, const PoolPlanner& planner);

}  // namespace inlay::memory::pools
