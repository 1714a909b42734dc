// The planners: plans of greedy first, then a complete search at the lower bound.
#include <algorithm>
#include <iterator>

#include "memory/layout.h"
#include "memory/search/best_plan.h"
#include "memory/search/depth_first.h"
#include "memory/search/improve.h"

namespace inlay::memory {
namespace {

std::string pin_text(const Storage& storage) {
  return str("[", storage.pinned_bytes, ", ", storage.pinned_bytes + storage.size_bytes, ") from tick ",
             storage.live.begin, " to ", storage.live.end);
}

/// Checks the pinned storages, which no planner can move.
void check_pins(std::span<const Storage> storages) {
  std::vector<std::size_t> pinned;
  for (std::size_t s = 0; s < storages.size(); ++s) {
    const Storage& storage = storages[s];
    if (!is_placed(storage) || !storage.is_pinned()) continue;
    if (storage.pinned_bytes % storage.alignment_bytes != 0) {
      throw Error(ErrorCode::wrong_plan, {},
                  str("storage ", s, " is pinned to ", storage.pinned_bytes, ", which is not aligned to ",
                      storage.alignment_bytes));
    }
    const int64_t end = add_bytes(storage.pinned_bytes, storage.size_bytes);
    for (std::size_t other : pinned) {
      const Storage& it = storages[other];
      if (!meet(it.live, storage.live) || it.pinned_bytes >= end ||
          storage.pinned_bytes >= it.pinned_bytes + it.size_bytes)
        continue;
      throw Error(ErrorCode::wrong_plan, {}, str("storages ", other, " and ", s, " are pinned to bytes that overlap"))
          .note(str("storage ", other), pin_text(it))
          .note(str("storage ", s), pin_text(storage));
    }
    pinned.push_back(s);
  }
}

/// Places one after the other, above all that is pinned.
Layout plan_naive(std::span<const Storage> storages) {
  Layout layout{.offset_bytes = std::vector<int64_t>(storages.size(), 0)};
  for (const Storage& storage : storages) {
    if (is_placed(storage) && storage.is_pinned())
      layout.arena_bytes = std::max(layout.arena_bytes, storage.pinned_bytes + storage.size_bytes);
  }
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (!is_placed(storages[s])) continue;
    layout.offset_bytes[s] =
        storages[s].is_pinned() ? storages[s].pinned_bytes : round_up(layout.arena_bytes, storages[s].alignment_bytes);
    layout.arena_bytes = std::max(layout.arena_bytes, add_bytes(layout.offset_bytes[s], storages[s].size_bytes));
  }
  layout.lower_bound_bytes = lower_bound_bytes(storages);
  return layout;
}

Error wrong_custom_plan(const std::vector<Diagnostic>& wrong) {
  Error out(ErrorCode::wrong_plan, {}, str("the custom plan is wrong: ", wrong.front().message));
  for (std::size_t i = 1; i < std::min<std::size_t>(wrong.size(), 4); ++i)
    out = std::move(out).note("and", wrong[i].message);
  return out;
}

Layout plan_searching(std::span<const Storage> storages, const Effort& effort) {
  const search::Problem problem = search::make_problem(storages);
  search::BestPlan best(problem, lower_bound_bytes(storages));
  search::Budget budget(problem, effort.planner == Planner::greedy ? 0 : milliseconds_of(effort));
  search::fill_from_below(best);
  if (effort.planner == Planner::greedy || problem.items.size() > search::kMostItemsOfSearch) {
    if (!best.is_optimal()) search::fill_gaps(best);
  } else if (!best.is_optimal()) {
    search::improve(best, budget, effort.enough_bytes);
  }
  Layout out = problem.layout(best.offsets, storages);
  // With few storages of odd alignments or pins, the given order may be better than all orders of greedy.
  if (!best.is_optimal()) {
    if (Layout naive = plan_naive(storages); naive.arena_bytes < out.arena_bytes) out = std::move(naive);
  }
  out.lower_bound_bytes = best.lower_bound_bytes;
  out.placements = budget.spent();
  return out;
}

}  // namespace

int64_t milliseconds_of(const Effort& effort) {
  if (effort.budget_ms >= 0) return effort.budget_ms;
  return effort.planner == Planner::max ? 5000 : 50;
}

Layout plan(const Effort& effort, std::span<const Storage> storages) {
  check_pins(storages);
  return effort.planner == Planner::naive ? plan_naive(storages) : plan_searching(storages, effort);
}

Layout plan(Planner planner, std::span<const Storage> storages) { return plan(Effort{.planner = planner}, storages); }

Layout plan_custom(const PlannerFunction& planner, std::span<const Storage> storages) {
  check_pins(storages);
  std::vector<Storage> placed;
  std::ranges::copy_if(storages, std::back_inserter(placed), is_placed);
  std::vector<StorageToPlace> to_place;
  for (const Storage& s : placed)
    to_place.push_back({s.name, s.size_bytes, s.alignment_bytes, s.live.begin, s.live.end});
  Layout found{.offset_bytes = planner(to_place), .lower_bound_bytes = lower_bound_bytes(placed)};
  for (std::size_t s = 0; s < std::min(placed.size(), found.offset_bytes.size()); ++s) {
    const int64_t begin = found.offset_bytes[s];
    if (begin < 0)
      throw Error(ErrorCode::wrong_plan, {}, str(storage_text(placed, s), " begins before the arena, at ", begin));
    found.arena_bytes = std::max(found.arena_bytes, add_bytes(begin, placed[s].size_bytes));
  }
  if (const auto wrong = verify(found, placed); !wrong.empty()) throw wrong_custom_plan(wrong);
  Layout out = found;
  out.offset_bytes.assign(storages.size(), 0);
  auto next = found.offset_bytes.begin();
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (is_placed(storages[s])) out.offset_bytes[s] = *next++;
  }
  return out;
}

}  // namespace inlay::memory
