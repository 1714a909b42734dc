#include "memory/pools/spill.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "memory/pools/pressure.h"

namespace inlay::memory::pools {
namespace {

/// How many tries to take back what was spilled may fail: each is a plan.
constexpr int kMostFailures = 32;

}  // namespace

std::vector<std::size_t> Spilled::groups_in(const Problem& problem, std::size_t pool) const {
  std::vector<std::size_t> out;
  for (std::size_t g = 0; g < choice.size(); ++g) {
    if (problem.groups[g].pools[choice[g]] == pool) out.push_back(g);
  }
  return out;
}

bool Spilled::lay_out(const Problem& problem, const PoolPlanner& planner, std::size_t pool, bool is_trial) {
  const std::vector<Storage> storages = storages_of(problem, groups_in(problem, pool));
  const int64_t enough = std::max<int64_t>(problem.pools[pool].capacity_bytes, 0);
  accept(problem, pool, planner.plan({storages, enough, problem.times, is_trial}));
  return problem.pools[pool].holds(layouts[pool].arena_bytes);
}

void Spilled::accept(const Problem& problem, std::size_t pool, Layout layout) {
  const std::vector<std::size_t> groups = groups_in(problem, pool);
  for (const Diagnostic& wrong : verify(layout, storages_of(problem, groups))) throw Error(wrong);
  for (std::size_t i = 0; i < groups.size(); ++i) offset_bytes[groups[i]] = layout.offset_bytes[i];
  layouts[pool] = std::move(layout);
}

std::vector<Storage> storages_of(const Problem& problem, std::span<const std::size_t> groups) {
  std::vector<Storage> out;
  for (std::size_t g : groups) out.push_back(problem.groups[g].storage);
  return out;
}

namespace {

class Spiller {
 public:
  Spiller(const Problem& problem, const PoolPlanner& planner, Order order)
      : problem_(problem), planner_(planner), order_(order), out_(problem), is_dirty_(problem.pools.size(), true) {}

  Spilled run() {
    for (auto dirty = is_dirty_.begin(); dirty != is_dirty_.end(); dirty = std::ranges::find(is_dirty_, true)) {
      *dirty = false;
      fill(static_cast<std::size_t>(dirty - is_dirty_.begin()));
    }
    return std::move(out_);
  }

 private:
  using Groups = std::vector<std::size_t>;

  std::size_t pool_of(std::size_t group) const { return problem_.groups[group].pools[out_.choice[group]]; }
  int64_t capacity(std::size_t pool) const { return problem_.pools[pool].capacity_bytes; }
  bool fits(std::size_t pool, int64_t bytes) const { return problem_.pools[pool].holds(bytes); }
  const Storage& storage(std::size_t group) const { return problem_.groups[group].storage; }

  Groups groups_in(std::size_t pool) const { return out_.groups_in(problem_, pool); }
  std::vector<Storage> storages(const Groups& groups) const { return storages_of(problem_, groups); }

  void fill(std::size_t pool) {
    spilled_.clear();
    for (std::size_t g : groups_in(pool)) {
      if (!fits(pool, storage(g).size_bytes) && next_choice(g)) spill(g);
    }
    relieve(pool);
    lay_out_or_spill(pool);
    std::ranges::stable_sort(spilled_, std::greater<>(), [&](const Gone& gone) { return cost(gone.group); });
    if (fits(pool, out_.layouts[pool].arena_bytes)) {
      if (planner_.may_fill_gaps) fill_gaps(pool);
      num_failures_ = 0;
      take_back(pool, spilled_);
    }
    for (const Gone& gone : spilled_) {
      if (pool_of(gone.group) != pool) is_dirty_[pool_of(gone.group)] = true;
    }
  }

  double cost(std::size_t group) const { return static_cast<double>(problem_.groups[group].cost); }

  /// The next pool that has so many bytes at all, as a place among those that it may lie in.
  std::optional<std::size_t> next_choice(std::size_t group) const {
    const Group& g = problem_.groups[group];
    if (g.stays()) return {};
    for (std::size_t next = out_.choice[group] + 1; next < g.pools.size(); ++next) {
      if (fits(g.pools[next], g.storage.size_bytes)) return next;
    }
    return {};
  }

  void spill(std::size_t group) {
    spilled_.push_back({group, out_.choice[group]});
    out_.choice[group] = *next_choice(group);
  }

  /// Spills until what lives together is within the capacity.
  void relieve(std::size_t pool) {
    if (capacity(pool) < 0) return;
    const Groups members = groups_in(pool);
    Pressure pressure(storages(members), capacity(pool));
    for (std::size_t g : members) next_choice(g) ? pressure.add(storage(g)) : pressure.add_fixed(storage(g));
    while (!pressure.is_relieved()) {
      const auto next = first_to_go(pool, members, [&](std::size_t g) { return pressure.relief(storage(g)); });
      if (!next) return;
      spill(*next);
      pressure.remove(storage(*next));
    }
  }

  /// More of them at each failure: a plan takes longer than what one of them is worth.
  void lay_out_or_spill(std::size_t pool) {
    const auto bytes = [&](std::size_t g) { return static_cast<double>(storage(g).size_bytes); };
    for (int many = 1;; many *= 2) {
      Groups members = groups_in(pool);
      out_.layouts[pool] = {};
      if (may_fit(pool, members) && lay_out(pool, many > 1)) return;
      if (!may_fit(pool, those_that_stay(members))) return void(lay_out(pool, false));
      Groups above = above_capacity(pool, members);
      bool is_any = false;
      for (int i = 0; i < many; ++i) {
        std::optional<std::size_t> next = first_to_go(pool, above, bytes);
        if (!next) next = first_to_go(pool, members, bytes);  // what ends there must stay: something below gives way
        if (!next) break;
        is_any = true;
        spill(*next);
      }
      if (!is_any) return void(lay_out(pool, false));  // it does not fit
    }
  }

  Groups those_that_stay(const Groups& members) const {
    Groups out;
    std::ranges::copy_if(members, std::back_inserter(out), [&](std::size_t g) { return !next_choice(g); });
    return out;
  }

  bool may_fit(std::size_t pool, const Groups& members) const {
    return fits(pool, lower_bound_bytes(storages(members)));
  }

  bool lay_out(std::size_t pool, bool is_trial) { return out_.lay_out(problem_, planner_, pool, is_trial); }

  Groups above_capacity(std::size_t pool, const Groups& members) const {
    Groups out;
    for (std::size_t i = 0; i < out_.layouts[pool].offset_bytes.size(); ++i) {
      const int64_t end = out_.layouts[pool].offset_bytes[i] + storage(members[i]).size_bytes;
      if (!fits(pool, end)) out.push_back(members[i]);
    }
    return out;
  }

  /// Of those of the pool that may leave it the one that costs least for what `relief_of` says that it makes free.
  template <class Relief>
  std::optional<std::size_t> first_to_go(std::size_t pool, const Groups& groups, Relief relief_of) const {
    std::optional<std::size_t> best;
    double most_room = 0, minimum = 0, most_relief = 0;
    for (std::size_t g : groups) {
      const double relief = pool_of(g) == pool && next_choice(g) ? relief_of(g) : 0;
      if (relief <= 0) continue;
      const double room = room_elsewhere(g), price = cost(g) / relief;
      const bool is_later =
          room < most_room || (room == most_room && (price > minimum || (price == minimum && relief <= most_relief)));
      if (best && is_later) continue;
      best = g, most_room = room, minimum = price, most_relief = relief;
    }
    return best;
  }

  double room_elsewhere(std::size_t group) const {
    if (order_ == Order::cheapest) return 0;
    const int64_t bytes = capacity(problem_.groups[group].pools[*next_choice(group)]);
    return bytes < 0 ? static_cast<double>(INT64_MAX) : static_cast<double>(bytes);
  }

  /// Lays what was spilled into gaps of the layout as it is.
  void fill_gaps(std::size_t pool) {
    Groups members = groups_in(pool);
    const std::size_t before = members.size();
    std::erase_if(spilled_, [&](const Gone& gone) {
      const std::optional<int64_t> offset = gap(pool, members, storage(gone.group));
      if (!offset) return false;
      out_.choice[gone.group] = gone.choice;
      out_.offset_bytes[gone.group] = *offset;
      members.push_back(gone.group);
      return true;
    });
    if (members.size() == before) return;
    members = groups_in(pool);
    Layout layout = out_.layouts[pool];
    layout.offset_bytes.clear();
    for (std::size_t g : members) {
      layout.offset_bytes.push_back(out_.offset_bytes[g]);
      layout.arena_bytes = std::max(layout.arena_bytes, out_.offset_bytes[g] + storage(g).size_bytes);
    }
    layout.lower_bound_bytes = lower_bound_bytes(storages(members));
    out_.accept(problem_, pool, std::move(layout));
  }

  std::optional<int64_t> gap(std::size_t pool, const Groups& members, const Storage& it) const {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (std::size_t g : members) {
      const int64_t begin = out_.offset_bytes[g], size = storage(g).size_bytes;
      if (size > 0 && meet(storage(g).live, it.live)) taken.emplace_back(begin, begin + size);
    }
    std::ranges::sort(taken);
    int64_t end = 0;
    for (const auto& [begin, next] : taken) {
      if (begin >= end && begin - end >= it.size_bytes) return end;
      end = std::max(end, round_up(next, it.alignment_bytes));
    }
    const bool has_room = capacity(pool) < 0 || (end <= capacity(pool) && it.size_bytes <= capacity(pool) - end);
    return has_room ? std::optional(end) : std::nullopt;
  }

  struct Gone {
    std::size_t group = 0, choice = 0;  // where it was
  };

  /// What gave way early may fit once others have gone: all of it, or else the halves, what costs most first.
  void take_back(std::size_t pool, std::span<const Gone> spilled) {
    if (spilled.empty() || num_failures_ == kMostFailures) return;
    const Spilled before = out_;
    for (const Gone& gone : spilled) out_.choice[gone.group] = gone.choice;
    if (may_fit(pool, groups_in(pool))) {
      if (lay_out(pool, true)) return;
      ++num_failures_;
    }
    out_ = before;
    if (spilled.size() == 1) return;
    take_back(pool, spilled.first(spilled.size() / 2));
    take_back(pool, spilled.subspan(spilled.size() / 2));
  }

  const Problem& problem_;
  const PoolPlanner& planner_;
  Order order_;
  Spilled out_;
  std::vector<bool> is_dirty_;  // by pool: something came into it
  std::vector<Gone> spilled_;   // of the pool that is filled
  int num_failures_ = 0;
};

}  // namespace

Spilled spill(const Problem& problem, const PoolPlanner& planner, Order order) {
  return Spiller(problem, planner, order).run();
}

}  // namespace inlay::memory::pools
