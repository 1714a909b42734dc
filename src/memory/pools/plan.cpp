#include <algorithm>

#include "memory/pools/assign.h"
#include "memory/pools/spill.h"

namespace inlay::memory::pools {

bool Plan::fits() const { return std::ranges::all_of(pools, &PoolLayout::fits); }

int64_t Plan::peak_bytes() const {
  int64_t out = 0;
  for (const PoolLayout& pool : pools) out = add_bytes(out, pool.peak_bytes);
  return out;
}

int64_t Plan::lower_bound_bytes() const {
  int64_t out = 0;
  for (const PoolLayout& pool : pools) out = add_bytes(out, pool.lower_bound_bytes);
  return out;
}

PoolPlanner planner_of(const Effort& effort) {
  constexpr int64_t kTrialsInOne = 16;
  return {.plan = [effort](const OnePool& pool) {
    Effort part = effort;
    part.enough_bytes = pool.enough_bytes;
    if (pool.is_trial) part.budget_ms = milliseconds_of(effort) / kTrialsInOne;
    return memory::plan(part, pool.storages);
  }};
}

namespace {

Plan plan_of(const std::vector<Buffer>& buffers, const Problem& problem, const Spilled& spilled) {
  Plan out;
  for (std::size_t p = 0; p < problem.pools.size(); ++p) {
    const Layout& layout = spilled.layouts[p];
    out.pools.push_back({problem.pools[p], layout.arena_bytes, layout.lower_bound_bytes});
    out.num_placements += layout.placements;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::size_t group = problem.group_of[b];
    // Planners lay what has no bytes anywhere.
    const Storage& storage = problem.groups[group].storage;
    const int64_t offset = storage.is_pinned() ? storage.pinned_bytes : spilled.offset_bytes[group];
    out.buffers.push_back({.pool = problem.groups[group].pools[spilled.choice[group]],
                           .offset_bytes = offset + problem.offset_in_group[b],
                           .live = problem.live[b],
                           .is_spilled = spilled.choice[group] > 0});
  }
  return out;
}

}  // namespace

Plan plan(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools, const PoolPlanner& planner) {
  const Problem problem = make_problem(buffers, pools);
  Plan out = plan_of(buffers, problem, spill(problem, planner, Order::cheapest));
  if (std::ranges::none_of(out.buffers, &Placement::is_spilled) && out.fits()) return out;
  if (const auto best = assign(problem, planner)) return plan_of(buffers, problem, *best);
  if (out.fits()) return out;
  // What is cheapest may have no room where it goes.
  Plan other = plan_of(buffers, problem, spill(problem, planner, Order::most_room_elsewhere));
  return other.fits() ? other : out;
}

}  // namespace inlay::memory::pools
