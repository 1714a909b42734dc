// Greedy plans: a few orders, two ways to place in an order.
//
// From below places, again and again, what can go lowest (the order decides ties): it is the better way on hard
// packings, and nearly linear. Into gaps places one item after the other at the lowest offset that is free while it
// lives: it is better where a few large items matter most, and quadratic, so it stands back where there are very many.
#include "memory/search/best_plan.h"
#include "memory/search/depth_first.h"
#include "memory/search/first_fit.h"
#include "memory/search/skyline.h"

namespace inlay::memory::search {
namespace {

constexpr Order kFromBelow[] = {
    {{Key::duration, Key::area, Key::crowd}}, {{Key::crowd, Key::area, Key::duration}},
    {{Key::crowd, Key::size, Key::area}},     {{Key::area, Key::crowd, Key::duration}},
    {{Key::size, Key::duration, Key::crowd}},
};
constexpr Order kIntoGaps[] = {
    {{Key::size, Key::duration, Key::crowd}},
    {{Key::area, Key::crowd, Key::duration}},
    {{Key::duration, Key::size, Key::crowd}},
};

}  // namespace

void fill_from_below(BestPlan& best) {
  const Problem& problem = best.problem;
  if (problem.pins.empty()) {
    Skyline skyline(problem);
    for (const Order& order : kFromBelow) {
      best.consider(skyline.place(ranked(problem, order)));
      if (best.is_optimal()) return;
    }
    return;
  }
  if (problem.items.size() > kMostItemsOfSearch) return;
  for (const Order& order : kFromBelow) {  // around what is pinned: the first way down of a search that is never stuck
    DepthFirst search(problem, order, INT64_MAX / 2);
    if (search.advance(static_cast<int64_t>(problem.items.size()) + 1) == Outcome::found)
      best.consider(search.offsets());
    if (best.is_optimal()) return;
  }
}

void fill_gaps(BestPlan& best) {
  constexpr std::size_t kMostItems = 4096;
  if (best.problem.items.size() > kMostItems && best.arena_bytes != INT64_MAX) return;
  for (const Order& order : kIntoGaps) {
    best.consider(first_fit(best.problem, ranked(best.problem, order)));
    if (best.is_optimal()) return;
  }
}

}  // namespace inlay::memory::search
