#include "memory/search/first_fit.h"

#include <algorithm>

namespace inlay::memory::search {

std::vector<int64_t> first_fit(const Problem& problem, std::span<const Ranked> order) {
  std::vector<int32_t> by_rank(order.size());
  for (const Ranked& one : order) by_rank[static_cast<std::size_t>(one.rank)] = one.item;
  std::vector<int64_t> offsets(problem.items.size(), 0);
  std::vector<Pin> placed = problem.pins;  // by offset
  for (int32_t i : by_rank) {
    const Item& item = problem.items[static_cast<std::size_t>(i)];
    int64_t at = 0;
    for (const Pin& other : placed) {
      if (other.first >= item.last || other.last <= item.first) continue;
      if (at + item.size <= other.begin) break;
      at = std::max(at, aligned(other.end, item.alignment));
    }
    offsets[static_cast<std::size_t>(i)] = at;
    const auto after = std::upper_bound(placed.begin(), placed.end(), at,
                                        [](int64_t offset, const Pin& other) { return offset < other.begin; });
    placed.insert(after, {item.first, item.last, at, at + item.size});
  }
  return offsets;
}

}  // namespace inlay::memory::search
