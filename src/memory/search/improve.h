#pragma once
// From a first plan to the best that a budget allows.
#include <chrono>
#include <cstdint>

#include "memory/search/best_plan.h"
#include "support/stop.h"

namespace inlay::memory::search {

/// How much may be tried. Counted in placements, so that a search ends at the same plan on every machine; the clock
/// only stops one on a machine that is far slower than expected. It is the thread's: others on the machine change no
/// plan.
class Budget {
 public:
  Budget(const Problem& problem, int64_t milliseconds);

  int64_t left() const {
    checkpoint();
    return is_late() ? 0 : placements_ - spent_;
  }
  int64_t spent() const { return spent_; }
  void spend(int64_t placements) { spent_ += placements; }
  /// For other work that takes as long as these placements.
  void charge(int64_t placements) { placements_ -= placements; }
  /// What is left becomes at most this share of it.
  void keep(double share) {
    placements_ = spent_ + static_cast<int64_t>(share * static_cast<double>(placements_ - spent_));
  }

 private:
  static std::chrono::nanoseconds now();
  bool is_late() const { return now() >= deadline_; }

  int64_t placements_ = 0, spent_ = 0;
  std::chrono::nanoseconds deadline_;
};

/// Looks for a plan of `best.lower_bound_bytes`; where there is none within the budget, for the smallest. Raises the
/// lower bound where it is proved that no plan reaches it. A plan within `enough_bytes` cuts what is left of the budget
/// short.
void improve(BestPlan& best, Budget& budget, int64_t enough_bytes);

}  // namespace inlay::memory::search
