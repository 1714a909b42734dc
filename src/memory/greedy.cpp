// The greedy planner: a few orders, two ways to place in an order, the best of all.
//
// Way one places the storages in the order, each at the lowest offset where it meets no placed one. Way two places,
// again and again, the one that can go lowest (the order decides ties); it is better on hard packings, and quadratic,
// so it stands back where there are very many storages.
#include <algorithm>

#include "memory/layout.h"

namespace inlay::memory {
namespace {

constexpr std::size_t kMostForLowestOffset = 1024;
constexpr int64_t kNotPlaced = -1;

int64_t duration(const Storage& s) { return s.live.end - s.live.begin; }
double area(const Storage& s) { return static_cast<double>(s.size_bytes) * static_cast<double>(duration(s)); }

/// Better: comes first.
using Better = bool (*)(const Storage&, const Storage&);
constexpr Better kOrders[] = {
    [](const Storage& a, const Storage& b) { return a.size_bytes > b.size_bytes; },
    [](const Storage& a, const Storage& b) { return area(a) > area(b); },
    [](const Storage& a, const Storage& b) { return duration(a) > duration(b); },
    [](const Storage& a, const Storage& b) { return a.live.begin < b.live.begin; },
    [](const Storage& a, const Storage& b) { return a.live.end > b.live.end; },
};

class Greedy {
 public:
  explicit Greedy(std::span<const Storage> storages) : storages_(storages), neighbours_(storages.size()) {
    for (std::size_t s = 0; s < storages.size(); ++s) {
      if (storages[s].owner == Owner::arena && storages[s].size_bytes > 0) placed_.push_back(s);
    }
    find_neighbours();
  }

  Layout best() {
    Layout best{.offset_bytes = std::vector<int64_t>(storages_.size(), 0)};
    best.lower_bound_bytes = lower_bound_bytes(storages_);
    bool found = false;
    const auto consider = [&](std::vector<int64_t> offsets) {
      const int64_t bytes = end_of(offsets);
      if (found && bytes >= best.arena_bytes) return;
      found = true;
      best.arena_bytes = bytes;
      for (std::size_t s : placed_) best.offset_bytes[s] = offsets[s];
    };
    for (Better better : kOrders) {
      std::vector<std::size_t> order = sorted(better);
      consider(in_order(order));
      if (best.arena_bytes == best.lower_bound_bytes) break;
      if (placed_.size() <= kMostForLowestOffset) consider(lowest_first(order));
      if (best.arena_bytes == best.lower_bound_bytes) break;
    }
    return best;
  }

 private:
  /// Equals in program order: the same input gives the same layout everywhere.
  std::vector<std::size_t> sorted(Better better) const {
    std::vector<std::size_t> out = placed_;
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      if (better(storages_[a], storages_[b])) return true;
      return !better(storages_[b], storages_[a]) && a < b;
    });
    return out;
  }

  /// Storages that live at the same time: a sweep over ticks.
  void find_neighbours() {
    std::vector<std::size_t> live;
    for (std::size_t s : sorted([](const Storage& a, const Storage& b) { return a.live.begin < b.live.begin; })) {
      std::erase_if(live, [&](std::size_t other) { return storages_[other].live.end <= storages_[s].live.begin; });
      if (storages_[s].live.begin >= storages_[s].live.end) continue;
      for (std::size_t other : live) {
        neighbours_[s].push_back(other);
        neighbours_[other].push_back(s);
      }
      live.push_back(s);
    }
  }

  /// The lowest offset where `s` meets no neighbour that is placed.
  int64_t lowest_offset(std::size_t s, const std::vector<int64_t>& offsets) {
    taken_.clear();
    for (std::size_t other : neighbours_[s]) {
      if (offsets[other] != kNotPlaced)
        taken_.emplace_back(offsets[other], offsets[other] + storages_[other].size_bytes);
    }
    std::sort(taken_.begin(), taken_.end());
    int64_t at = 0;
    for (const auto& [begin, end] : taken_) {
      if (add_bytes(at, storages_[s].size_bytes) <= begin) break;
      at = std::max(at, round_up(end, storages_[s].alignment_bytes));
    }
    return at;
  }

  std::vector<int64_t> in_order(const std::vector<std::size_t>& order) {
    std::vector<int64_t> offsets(storages_.size(), kNotPlaced);
    for (std::size_t s : order) offsets[s] = lowest_offset(s, offsets);
    return offsets;
  }

  std::vector<int64_t> lowest_first(std::vector<std::size_t> order) {
    std::vector<int64_t> offsets(storages_.size(), kNotPlaced), lowest(storages_.size(), 0);
    while (!order.empty()) {
      const auto next = std::min_element(order.begin(), order.end(),
                                         [&](std::size_t a, std::size_t b) { return lowest[a] < lowest[b]; });
      const std::size_t s = *next;
      order.erase(next);
      offsets[s] = lowest[s];
      for (std::size_t other : neighbours_[s]) {
        if (offsets[other] == kNotPlaced) lowest[other] = lowest_offset(other, offsets);
      }
    }
    return offsets;
  }

  int64_t end_of(const std::vector<int64_t>& offsets) const {
    int64_t end = 0;
    for (std::size_t s : placed_) end = std::max(end, add_bytes(offsets[s], storages_[s].size_bytes));
    return end;
  }

  std::span<const Storage> storages_;
  std::vector<std::size_t> placed_;
  std::vector<std::vector<std::size_t>> neighbours_;
  std::vector<std::pair<int64_t, int64_t>> taken_;
};

}  // namespace

Layout plan_greedy(std::span<const Storage> storages) { return Greedy(storages).best(); }

}  // namespace inlay::memory
