#include "memory/pools/assign.h"

#include <algorithm>
#include <numeric>

namespace inlay::memory::pools {
namespace {

constexpr std::size_t kMostGroups = 64, kMostChoices = 1024;
constexpr int kMostFailures = 32;  // each is a plan

class Assigner {
 public:
  Assigner(const Problem& problem, const PoolPlanner& planner) : problem_(problem), planner_(planner) {}

  std::optional<Spilled> run() {
    if (problem_.groups.size() > kMostGroups || !list_choices()) return std::nullopt;
    std::ranges::stable_sort(choices_, {}, &Choice::rank);
    for (const Choice& choice : choices_) {
      if (num_failures_ == kMostFailures) break;
      if (may_fit(choice) && lay_out(choice)) return std::move(out_);
    }
    return std::nullopt;
  }

 private:
  struct Choice {
    std::pair<double, std::size_t> rank;  // what it costs; of those that cost as much the one with the better pools
    std::vector<std::size_t> of_group;
  };

  bool fits(std::size_t pool, int64_t bytes) const {
    const int64_t capacity = problem_.pools[pool].capacity_bytes;
    return capacity < 0 || bytes <= capacity;
  }

  bool list_choices() {
    choices_ = {{}};
    for (const Group& group : problem_.groups) {
      std::vector<Choice> longer;
      const bool stays = group.storage.is_pinned() || group.storage.size_bytes == 0;
      for (std::size_t place = 0; place < (stays ? 1 : group.pools.size()); ++place) {
        if (!fits(group.pools[place], group.storage.size_bytes)) continue;
        for (Choice choice : choices_) {
          choice.rank.first += place > 0 ? static_cast<double>(group.cost) : 0;
          choice.rank.second += place;
          choice.of_group.push_back(place);
          longer.push_back(std::move(choice));
        }
        if (longer.size() > kMostChoices) return false;
      }
      choices_ = std::move(longer);
    }
    return true;
  }

  std::vector<std::size_t> members(const Choice& choice, std::size_t pool) const {
    std::vector<std::size_t> out;
    for (std::size_t g = 0; g < problem_.groups.size(); ++g) {
      if (problem_.groups[g].pools[choice.of_group[g]] == pool) out.push_back(g);
    }
    return out;
  }

  std::vector<Storage> storages(const Choice& choice, std::size_t pool) const {
    std::vector<Storage> out;
    for (std::size_t g : members(choice, pool)) out.push_back(problem_.groups[g].storage);
    return out;
  }

  bool may_fit(const Choice& choice) const {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      if (!fits(pool, lower_bound_bytes(storages(choice, pool)))) return false;
    }
    return true;
  }

  bool lay_out(const Choice& choice) {
    out_ = {.choice = choice.of_group,
            .offset_bytes = std::vector<int64_t>(problem_.groups.size()),
            .layouts = std::vector<Layout>(problem_.pools.size())};
    for (bool is_trial : {true, false}) {
      for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
        if (!lay_out(choice, pool, is_trial) && is_trial) return ++num_failures_, false;
      }
    }
    return true;
  }

  /// Keeps a layout that fits.
  bool lay_out(const Choice& choice, std::size_t pool, bool is_trial) {
    const std::vector<Storage> all = storages(choice, pool);
    const int64_t enough = std::max<int64_t>(problem_.pools[pool].capacity_bytes, 0);
    Layout layout = planner_.plan({all, enough, problem_.times, is_trial});
    for (const Diagnostic& wrong : verify(layout, all)) throw Error(wrong);
    if (!fits(pool, layout.arena_bytes)) return false;
    const std::vector<std::size_t> groups = members(choice, pool);
    for (std::size_t i = 0; i < groups.size(); ++i) out_.offset_bytes[groups[i]] = layout.offset_bytes[i];
    out_.layouts[pool] = std::move(layout);
    return true;
  }

  const Problem& problem_;
  const PoolPlanner& planner_;
  std::vector<Choice> choices_;
  Spilled out_;
  int num_failures_ = 0;
};

}  // namespace

std::optional<Spilled> assign(const Problem& problem, const PoolPlanner& planner) {
  return Assigner(problem, planner).run();
}

}  // namespace inlay::memory::pools
