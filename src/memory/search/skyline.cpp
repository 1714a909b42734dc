#include "memory/search/skyline.h"

#include <algorithm>
#include <bit>

namespace inlay::memory::search {
namespace {

std::size_t index(int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

ItemTree::ItemTree(const Problem& problem)
    : num_leaves_(std::bit_ceil(std::max<std::size_t>(problem.items.size(), 1))) {
  boxes_.resize(2 * num_leaves_);
  ranks_.resize(2 * num_leaves_, kNone);
  leaves_.resize(problem.items.size());
  std::vector<int32_t> items(problem.items.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int32_t>(i);
  arrange(problem, items, 0, num_leaves_, true);
  for (std::size_t node = num_leaves_ - 1; node > 0; --node) {
    const Box &a = boxes_[2 * node], &b = boxes_[2 * node + 1];
    boxes_[node] = {std::min(a.minimum_first, b.minimum_first), std::max(a.most_first, b.most_first),
                    std::min(a.minimum_last, b.minimum_last), std::max(a.most_last, b.most_last)};
  }
}

/// Halves the items by their first and by their last sections in turn, down to single leaves.
void ItemTree::arrange(const Problem& problem, std::span<int32_t> items, std::size_t leaf, std::size_t num_leaves,
                       bool by_first) {
  if (items.empty()) return;
  if (num_leaves == 1) {
    const Item& item = problem.items[index(items[0])];
    boxes_[num_leaves_ + leaf] = {item.first, item.first, item.last, item.last};
    leaves_[index(items[0])] = num_leaves_ + leaf;
    return;
  }
  const std::size_t half = num_leaves / 2, cut = std::min(items.size(), half);
  const auto key = [&](int32_t i) {
    const Item& item = problem.items[index(i)];
    return std::pair(by_first ? item.first : item.last, i);
  };
  if (cut < items.size()) {
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(cut), items.end(),
                     [&](int32_t a, int32_t b) { return key(a) < key(b); });
  }
  arrange(problem, items.first(cut), leaf, half, !by_first);
  arrange(problem, items.subspan(cut), leaf + half, half, !by_first);
}

void ItemTree::reset(std::span<const Ranked> order) {
  for (const Ranked& one : order) ranks_[leaves_[index(one.item)]] = one.rank;
  for (std::size_t node = num_leaves_ - 1; node > 0; --node)
    ranks_[node] = std::min(ranks_[2 * node], ranks_[2 * node + 1]);
}

void ItemTree::remove(int32_t item) {
  std::size_t node = leaves_[index(item)];
  ranks_[node] = kNone;
  for (node /= 2; node > 0; node /= 2) ranks_[node] = std::min(ranks_[2 * node], ranks_[2 * node + 1]);
}

int32_t ItemTree::first_within(int32_t begin, int32_t end) const {
  int32_t best = kNone;
  search(1, begin, end, best);
  return best;
}

void ItemTree::search(std::size_t node, int32_t begin, int32_t end, int32_t& best) const {
  const Box& box = boxes_[node];
  if (ranks_[node] >= best || box.most_first < begin || box.minimum_last > end) return;
  if (box.minimum_first >= begin && box.most_last <= end) {
    best = ranks_[node];
    return;
  }
  const std::size_t nearer = 2 * node + (ranks_[2 * node + 1] < ranks_[2 * node] ? 1 : 0);
  search(nearer, begin, end, best);
  search(nearer ^ 1, begin, end, best);
}

Skyline::Skyline(const Problem& problem)
    : problem_(problem),
      tree_(problem),
      by_begin_(index(problem.num_sections)),
      begin_by_last_(index(problem.num_sections)) {}

std::vector<int64_t> Skyline::place(std::span<const Ranked> order) {
  std::vector<int64_t> offsets(problem_.items.size(), 0);
  std::vector<int32_t> by_rank(order.size());
  for (const Ranked& one : order) by_rank[index(one.rank)] = one.item;
  tree_.reset(order);
  heap_.clear();
  std::fill(by_begin_.begin(), by_begin_.end(), Stretch{});
  if (problem_.num_sections > 0) add({0, 0, problem_.num_sections});
  for (std::size_t placed = 0; placed < order.size();) {
    const Stretch valley = lowest();
    const int32_t rank = tree_.first_within(valley.begin, valley.end);
    if (rank == ItemTree::kNone) {
      raise(valley);
      continue;
    }
    const int32_t i = by_rank[index(rank)];
    const Item& item = problem_.items[index(i)];
    offsets[index(i)] = aligned(valley.height, item.alignment);
    fill(valley, item, offsets[index(i)] + item.size);
    tree_.remove(i);
    ++placed;
  }
  return offsets;
}

bool Skyline::is_higher(const Stretch& a, const Stretch& b) {
  return a.height != b.height ? a.height > b.height : a.begin > b.begin;
}

/// The lowest stretch; of those as low the first.
Skyline::Stretch Skyline::lowest() {
  while (true) {
    std::pop_heap(heap_.begin(), heap_.end(), is_higher);
    const Stretch top = heap_.back();
    heap_.pop_back();
    const Stretch& now = by_begin_[index(top.begin)];
    if (now.height == top.height && now.end == top.end) return top;
  }
}

/// Joins the stretch with neighbours of its height.
void Skyline::add(Stretch stretch) {
  if (stretch.begin > 0) {
    const Stretch& before = by_begin_[index(begin_by_last_[index(stretch.begin) - 1])];
    if (before.height == stretch.height) stretch.begin = before.begin;
  }
  if (stretch.end < problem_.num_sections) {
    Stretch& after = by_begin_[index(stretch.end)];
    if (after.height == stretch.height) {
      stretch.end = after.end;
      after.end = 0;
    }
  }
  store(stretch);
}

void Skyline::store(const Stretch& stretch) {
  by_begin_[index(stretch.begin)] = stretch;
  begin_by_last_[index(stretch.end) - 1] = stretch.begin;
  heap_.push_back(stretch);
  std::push_heap(heap_.begin(), heap_.end(), is_higher);
}

void Skyline::raise(Stretch valley) {
  int64_t bank = INT64_MAX;
  if (valley.begin > 0) bank = by_begin_[index(begin_by_last_[index(valley.begin) - 1])].height;
  if (valley.end < problem_.num_sections) bank = std::min(bank, by_begin_[index(valley.end)].height);
  by_begin_[index(valley.begin)].end = 0;
  add({bank, valley.begin, valley.end});
}

/// The item's sections rise to `top`; what is left of the valley on both sides stays.
void Skyline::fill(const Stretch& valley, const Item& item, int64_t top) {
  by_begin_[index(valley.begin)].end = 0;
  // The sides first, as stretches of their own: nothing beside them is of their height.
  for (const Stretch side :
       {Stretch{valley.height, valley.begin, item.first}, Stretch{valley.height, item.last, valley.end}}) {
    if (side.begin < side.end) store(side);
  }
  add({top, item.first, item.last});
}

}  // namespace inlay::memory::search
