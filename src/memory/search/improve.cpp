#include "memory/search/improve.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include "memory/search/depth_first.h"

namespace inlay::memory::search {
namespace {

/// Searches for a plan within one capacity: which order leads to a plan soon cannot be told before. So one search for
/// each order, a while each in turn and then twice as long; and after each such while as many short searches, all from
/// the beginning and with a little noise in the order, as take as long. What a long search misses by an early choice a
/// short one often finds, and the other way round.
class Portfolio {
 public:
  Portfolio(const Problem& problem, int64_t capacity_bytes)
      : problem_(problem),
        capacity_bytes_(capacity_bytes),
        short_turn_(std::max<int64_t>(2 * static_cast<int64_t>(problem.items.size()), 1000)),
        turn_(short_turn_) {}

  Outcome advance(int64_t placements, BestPlan& best, Budget& budget) {
    const int64_t until = budget.spent() + placements;
    while (budget.spent() < until && budget.left() > 0) {
      const int64_t most = std::min(until - budget.spent(), budget.left());
      const Outcome outcome = short_left_ > 0 ? search_anew(most, best, budget) : go_on(most, best, budget);
      if (outcome != Outcome::unfinished) return outcome;
    }
    return Outcome::unfinished;
  }

 private:
  Outcome go_on(int64_t most, BestPlan& best, Budget& budget) {
    if (next_ == std::size(kOrders)) {
      next_ = 0;
      turn_ *= 2;
    }
    if (next_ == searches_.size()) searches_.push_back(begin(kOrders[next_], budget));
    short_left_ = num_searches_ < std::size(kOrders) ? 0 : turn_;
    return search(*searches_[next_++], std::min(turn_, most), best, budget);
  }

  Outcome search_anew(int64_t most, BestPlan& best, Budget& budget) {
    ++seed_;
    Order order = kOrders[seed_ % std::size(kOrders)];
    order.seed = seed_;
    short_left_ -= short_turn_;
    return search(*begin(order, budget), std::min(short_turn_, most), best, budget);
  }

  std::unique_ptr<DepthFirst> begin(const Order& order, Budget& budget) {
    ++num_searches_;
    budget.charge(static_cast<int64_t>(problem_.items.size()) / 4);  // what it takes to begin
    return std::make_unique<DepthFirst>(problem_, order, capacity_bytes_);
  }

  static Outcome search(DepthFirst& search, int64_t most, BestPlan& best, Budget& budget) {
    const int64_t before = search.placements();
    const Outcome outcome = search.advance(most);
    budget.spend(search.placements() - before);
    if (outcome == Outcome::found) best.consider(search.offsets());
    return outcome;
  }

  const Problem& problem_;
  const int64_t capacity_bytes_;
  const int64_t short_turn_;
  int64_t turn_, short_left_ = 0;
  std::vector<std::unique_ptr<DepthFirst>> searches_;  // that go on, by order
  std::size_t next_ = 0, num_searches_ = 0;
  uint32_t seed_ = 0;
};

/// The smallest arena above `bytes` that any plan could have.
int64_t next_capacity(const Problem& problem, int64_t bytes) {
  int64_t next = INT64_MAX;
  const std::vector<int64_t> highest = problem.highest_offsets(bytes);
  for (std::size_t i = 0; i < highest.size(); ++i)
    next = std::min(next, (highest[i] + 1) * problem.unit_bytes + problem.items[i].size_bytes);
  return next;
}

/// Halves what lies between the lower bound and the best plan, with an eighth of `placements` for each capacity.
void bisect(BestPlan& best, Budget& budget, int64_t enough_bytes, int64_t placements) {
  int64_t low = best.lower_bound_bytes;  // not reached, or not tried
  const int64_t until = budget.spent() + placements;
  while (budget.left() > 0 && budget.spent() < until) {
    const int64_t capacity = std::max(low + (best.arena_bytes - low) / 2, next_capacity(best.problem, low));
    if (capacity >= best.arena_bytes) return;
    const bool was_enough = best.arena_bytes <= enough_bytes;
    Portfolio portfolio(best.problem, capacity);
    const Outcome outcome = portfolio.advance(std::max<int64_t>(placements / 8, 1), best, budget);
    if (outcome == Outcome::impossible) best.lower_bound_bytes = next_capacity(best.problem, capacity);
    if (outcome != Outcome::found) low = std::max(capacity, best.lower_bound_bytes);
    if (!was_enough && best.arena_bytes <= enough_bytes) budget.keep(0.1);
  }
}

}  // namespace

Budget::Budget(const Problem& problem, int64_t milliseconds) {
  // A placement looks at what is left and at what it meets; measured with problems of 100 to 10 000 items.
  double lives = 0;
  for (const Item& item : problem.items) lives += item.last - item.first;
  const double microseconds =
      0.4 + static_cast<double>(problem.items.size()) / 1000 + lives / std::max(problem.num_sections, 1) / 80;
  placements_ = static_cast<int64_t>(static_cast<double>(milliseconds) * 1000 / microseconds) + 1;
  deadline_ = now() + std::chrono::milliseconds(milliseconds) * 4 + std::chrono::milliseconds(100);
}

std::chrono::nanoseconds Budget::now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void improve(BestPlan& best, Budget& budget, int64_t enough_bytes) {
  const int64_t total = budget.left();
  if (best.arena_bytes <= enough_bytes) budget.keep(0.1);
  Portfolio at_bound(best.problem, best.lower_bound_bytes);
  bool is_first = true;
  // Most of the budget is for the bound itself, the rest for what lies above it, in turns that grow.
  for (int64_t placements = std::max<int64_t>(total / 4, 1); budget.left() > 0; placements *= 2) {
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
