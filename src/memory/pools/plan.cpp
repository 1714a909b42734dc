// Pools one after the other: what does not fit in one is spilled into the next that it may lie in.
#include <algorithm>

#include "memory/pools/problem.h"

namespace inlay::memory::pools {
namespace {

/// How often a group that was spilled is tried again: each try is a plan, and most that fit by the sum of bytes do.
constexpr int kMostReturns = 64;

class Spiller {
 public:
  Spiller(const Problem& problem, const PlanOnePool& plan_one)
      : problem_(problem),
        plan_one_(plan_one),
        choice_(problem.groups.size(), 0),
        layouts_(problem.pools.size()),
        offset_(problem.groups.size(), 0),
        is_dirty_(problem.pools.size(), true) {}

  void run() {
    for (auto dirty = is_dirty_.begin(); dirty != is_dirty_.end(); dirty = std::ranges::find(is_dirty_, true)) {
      *dirty = false;
      fill(static_cast<std::size_t>(dirty - is_dirty_.begin()));
    }
  }

  std::size_t pool_of(std::size_t group) const { return problem_.groups[group].pools[choice_[group]]; }
  bool is_spilled(std::size_t group) const { return choice_[group] > 0; }
  int64_t offset_of(std::size_t group) const { return offset_[group]; }
  const Layout& layout(std::size_t pool) const { return layouts_[pool]; }

 private:
  int64_t capacity(std::size_t pool) const { return problem_.pools[pool].capacity_bytes; }
  bool fits(std::size_t pool, int64_t bytes) const { return capacity(pool) < 0 || bytes <= capacity(pool); }

  std::vector<std::size_t> groups_in(std::size_t pool) const {
    std::vector<std::size_t> out;
    for (std::size_t g = 0; g < choice_.size(); ++g) {
      if (pool_of(g) == pool) out.push_back(g);
    }
    return out;
  }

  std::vector<Storage> storages(std::span<const std::size_t> groups) const {
    std::vector<Storage> out;
    for (std::size_t g : groups) out.push_back(problem_.groups[g].storage);
    return out;
  }

  void fill(std::size_t pool) {
    std::vector<std::size_t> spilled, members = groups_in(pool);
    while (!may_fit(pool, members) || !lay_out(pool, members)) {
      const std::optional<std::size_t> next = cheapest(pool, members);
      if (!next) return void(lay_out(pool, members));  // it does not fit
      spill(*next);
      spilled.push_back(*next);
      layouts_[pool] = {};
      members = groups_in(pool);
    }
    take_back(pool, spilled);
  }

  void spill(std::size_t group) {
    ++choice_[group];
    is_dirty_[pool_of(group)] = true;
  }

  bool may_fit(std::size_t pool, std::span<const std::size_t> members) const {
    return fits(pool, lower_bound_bytes(storages(members)));
  }

  /// Is the layout within the capacity?
  bool lay_out(std::size_t pool, std::span<const std::size_t> members) {
    const std::vector<Storage> all = storages(members);
    Layout& layout = layouts_[pool];
    layout = plan_one_(all, std::max<int64_t>(capacity(pool), 0), problem_.times);
    for (const Diagnostic& wrong : verify(layout, all)) throw Error(wrong);
    for (std::size_t i = 0; i < members.size(); ++i) offset_[members[i]] = layout.offset_bytes[i];
    return fits(pool, layout.arena_bytes);
  }

  bool may_spill(std::size_t group) const {
    const Group& g = problem_.groups[group];
    return !g.storage.is_pinned() && g.storage.size_bytes > 0 && choice_[group] + 1 < g.pools.size();
  }

  /// Of what is in the way the group that costs least for the bytes that it makes free there.
  std::optional<std::size_t> cheapest(std::size_t pool, std::span<const std::size_t> members) const {
    const std::vector<double> relief =
        layouts_[pool].offset_bytes.empty() ? relief_by_sums(pool, members) : relief_by_offsets(pool, members);
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!may_spill(members[i]) || relief[i] <= 0) continue;
      const double price = static_cast<double>(problem_.groups[members[i]].cost) / relief[i];
      if (!best || price < least) best = members[i], least = price;
    }
    return best;
  }

  /// By member: its bytes, for each time at which all bytes are more than the capacity.
  std::vector<double> relief_by_sums(std::size_t pool, std::span<const std::size_t> members) const {
    std::vector<int32_t> times;
    for (std::size_t g : members) {
      times.push_back(problem_.groups[g].storage.live.begin);
      times.push_back(problem_.groups[g].storage.live.end);
    }
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    const auto at = [&](int32_t time) {
      return static_cast<std::size_t>(std::ranges::lower_bound(times, time) - times.begin());
    };
    std::vector<double> bytes(times.size() + 1), full(times.size() + 1);  // from this time to the next
    for (std::size_t g : members) {
      const Storage& s = problem_.groups[g].storage;
      bytes[at(s.live.begin)] += static_cast<double>(s.size_bytes);
      bytes[at(s.live.end)] -= static_cast<double>(s.size_bytes);
    }
    double live = 0;
    for (std::size_t t = 0; t < times.size(); ++t) {  // full[t]: how many times before t are too full
      live += bytes[t];
      full[t + 1] = full[t] + (live > static_cast<double>(capacity(pool)) ? 1 : 0);
    }
    std::vector<double> out;
    for (std::size_t g : members) {
      const Storage& s = problem_.groups[g].storage;
      out.push_back(static_cast<double>(s.size_bytes) * (full[at(s.live.end)] - full[at(s.live.begin)]));
    }
    // Alignment alone may be what is too much.
    const bool none = std::ranges::all_of(out, [](double relief) { return relief <= 0; });
    for (std::size_t i = 0; none && i < members.size(); ++i)
      out[i] = static_cast<double>(problem_.groups[members[i]].storage.size_bytes);
    return out;
  }

  /// By member: its bytes, where it ends above the capacity.
  std::vector<double> relief_by_offsets(std::size_t pool, std::span<const std::size_t> members) const {
    std::vector<double> out;
    for (std::size_t g : members) {
      const int64_t size = problem_.groups[g].storage.size_bytes;
      out.push_back(offset_[g] + size > capacity(pool) ? static_cast<double>(size) : 0.0);
    }
    const bool stays = std::ranges::none_of(members, [&](std::size_t g) {
      return may_spill(g) && offset_[g] + problem_.groups[g].storage.size_bytes > capacity(pool);
    });
    // What ends there must stay in this pool: something below it gives way.
    for (std::size_t i = 0; stays && i < members.size(); ++i)
      out[i] = static_cast<double>(problem_.groups[members[i]].storage.size_bytes);
    return out;
  }

  /// What gave way early may fit once others have gone.
  void take_back(std::size_t pool, std::vector<std::size_t> spilled) {
    std::ranges::stable_sort(spilled, std::greater<>(), [&](std::size_t g) { return problem_.groups[g].cost; });
    int tries = 0;
    for (std::size_t g : spilled) {
      const std::vector<int64_t> offsets = offset_;
      const Layout layout = layouts_[pool];
      --choice_[g];
      const std::vector<std::size_t> members = groups_in(pool);
      if (may_fit(pool, members) && tries++ < kMostReturns && lay_out(pool, members)) continue;
      ++choice_[g];
      offset_ = offsets;
      layouts_[pool] = layout;
    }
  }

  const Problem& problem_;
  const PlanOnePool& plan_one_;
  std::vector<std::size_t> choice_;  // by group: the place of its pool among those that it may lie in
  std::vector<Layout> layouts_;      // by pool
  std::vector<int64_t> offset_;      // by group
  std::vector<bool> is_dirty_;       // by pool: something came into it
};

}  // namespace

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

Plan plan(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools, const PlanOnePool& plan_one) {
  const Problem problem = make_problem(buffers, pools);
  Spiller spiller(problem, plan_one);
  spiller.run();
  Plan out;
  for (std::size_t p = 0; p < problem.pools.size(); ++p) {
    const Layout& layout = spiller.layout(p);
    out.pools.push_back({problem.pools[p], layout.arena_bytes, layout.lower_bound_bytes});
    out.num_placements += layout.placements;
  }
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::size_t group = problem.group_of[b];
    out.buffers.push_back({.pool = spiller.pool_of(group),
                           .offset_bytes = spiller.offset_of(group) + problem.offset_in_group[b],
                           .live = problem.live[b],
                           .is_spilled = spiller.is_spilled(group)});
  }
  return out;
}

}  // namespace inlay::memory::pools
