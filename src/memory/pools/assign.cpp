#include "memory/pools/assign.h"

#include <algorithm>

namespace inlay::memory::pools {
namespace {

constexpr std::size_t kMostGroups = 64, kMostChoices = 1024;
constexpr int kMostFailures = 32;  // each is a plan

class Assigner {
 public:
  Assigner(const Problem& problem, const PoolPlanner& planner) : problem_(problem), planner_(planner), out_(problem) {}

  std::optional<Spilled> run() {
    if (problem_.groups.size() > kMostGroups || !list_choices()) return std::nullopt;
    std::ranges::stable_sort(choices_, {}, &Choice::rank);
    for (const Choice& choice : choices_) {
      if (num_failures_ == kMostFailures) break;
      out_.choice = choice.of_group;
      if (may_fit() && lay_out()) return std::move(out_);
    }
    return std::nullopt;
  }

 private:
  struct Choice {
    std::pair<double, std::size_t> rank;  // what it costs; of those that cost as much the one with the better pools
    std::vector<std::size_t> of_group;
  };

  bool list_choices() {
    choices_ = {{}};
    for (const Group& group : problem_.groups) {
      std::vector<Choice> longer;
      for (std::size_t place = 0; place < (group.stays() ? 1 : group.pools.size()); ++place) {
        if (!problem_.pools[group.pools[place]].holds(group.storage.size_bytes)) continue;
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

  bool may_fit() const {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      const int64_t minimum = lower_bound_bytes(storages_of(problem_, out_.groups_in(problem_, pool)));
      if (!problem_.pools[pool].holds(minimum)) return false;
    }
    return true;
  }

  bool lay_out() {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      if (!out_.lay_out(problem_, planner_, pool, true)) return ++num_failures_, false;
    }
    improve();
    return true;
  }

  /// With all the effort; a layout that does not fit then is not taken.
  void improve() {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      Spilled better = out_;
      if (better.lay_out(problem_, planner_, pool, false)) out_ = std::move(better);
    }
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
