#include "memory/search/improve.h"

#include <algorithm>
#include <memory>

#include "memory/search/depth_first.h"

namespace inlay::memory::search {
namespace {

/// Searches for a plan within one capacity, one for each order, a while each in turn and then twice as long: which
/// order leads to a plan soon cannot be told before.
class Portfolio {
 public:
  Portfolio(const Problem& problem, int64_t capacity_bytes) : problem_(problem), capacity_bytes_(capacity_bytes) {
    turn_ = std::max<int64_t>(2 * static_cast<int64_t>(problem.items.size()), 1000);
  }

  Outcome advance(int64_t placements, BestPlan& best, Budget& budget) {
    const int64_t until = spent_ + placements;
    while (spent_ < until) {
      if (next_ == std::size(kOrders)) {
        next_ = 0;
        turn_ *= 2;
      }
      if (next_ == searches_.size())
        searches_.push_back(std::make_unique<DepthFirst>(problem_, kOrders[next_], capacity_bytes_));
      DepthFirst& search = *searches_[next_++];
      const int64_t before = search.placements();
      const Outcome outcome = search.advance(std::min({turn_, until - spent_, budget.left()}));
      spent_ += search.placements() - before;
      budget.spend(search.placements() - before);
      if (outcome == Outcome::found) best.consider(search.offsets());
      if (outcome != Outcome::unfinished || budget.left() <= 0) return outcome;
    }
    return Outcome::unfinished;
  }

 private:
  const Problem& problem_;
  const int64_t capacity_bytes_;
  std::vector<std::unique_ptr<DepthFirst>> searches_;
  std::size_t next_ = 0;
  int64_t turn_ = 0, spent_ = 0;
};

/// The smallest arena above `bytes` that any plan could have.
int64_t next_capacity(const Problem& problem, int64_t bytes) {
  int64_t next = INT64_MAX;
  const std::vector<int64_t> highest = problem.highest_offsets(bytes);
  for (std::size_t i = 0; i < highest.size(); ++i)
    next = std::min(next, (highest[i] + 1) * problem.unit_bytes + problem.items[i].size_bytes);
  return next;
}

/// Halves what lies between the lower bound and the best plan, with `placements` for each capacity.
void bisect(BestPlan& best, Budget& budget, int64_t enough_bytes, int64_t placements) {
  int64_t low = best.lower_bound_bytes;  // not reached, or not tried
  while (budget.left() > 0) {
    const int64_t capacity = std::max(low + (best.arena_bytes - low) / 2, next_capacity(best.problem, low));
    if (capacity >= best.arena_bytes) return;
    const bool was_enough = best.arena_bytes <= enough_bytes;
    Portfolio portfolio(best.problem, capacity);
    const Outcome outcome = portfolio.advance(placements, best, budget);
    if (outcome == Outcome::impossible) best.lower_bound_bytes = next_capacity(best.problem, capacity);
    if (outcome != Outcome::found) low = std::max(capacity, best.lower_bound_bytes);
    if (!was_enough && best.arena_bytes <= enough_bytes) budget.keep(0.2);
  }
}

}  // namespace

Budget::Budget(const Problem& problem, int64_t milliseconds) {
  // A placement looks at what it meets; measured with problems of 200 to 5000 items.
  const double microseconds = 0.5 + static_cast<double>(problem.items.size()) / 400;
  placements_ = static_cast<int64_t>(static_cast<double>(milliseconds) * 1000 / microseconds) + 1;
  deadline_ = Clock::now() + std::chrono::milliseconds(milliseconds) * 4 + std::chrono::milliseconds(100);
}

void improve(BestPlan& best, Budget& budget, int64_t enough_bytes) {
  const int64_t total = budget.left();
  if (best.arena_bytes <= enough_bytes) budget.keep(0.2);
  Portfolio at_bound(best.problem, best.lower_bound_bytes);
  bool is_first = true;
  // Half of the budget in four turns for the bound itself, the other half for what lies above it.
  for (int64_t placements = std::max<int64_t>(total / 16, 1); budget.left() > 0; placements *= 2) {
    const int64_t bound = best.lower_bound_bytes;
    if (at_bound.advance(placements, best, budget) == Outcome::impossible)
      best.lower_bound_bytes = next_capacity(best.problem, bound);
    if (best.is_optimal()) return;
    if (is_first) fill_gaps(best);
    is_first = false;
    if (best.is_optimal()) return;
    bisect(best, budget, enough_bytes, std::max<int64_t>(placements / 4, 1));
    if (best.is_optimal()) return;
    if (best.lower_bound_bytes != bound) return improve(best, budget, enough_bytes);
  }
}

}  // namespace inlay::memory::search
