#include "transform/axis_strides.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

namespace inlay::transform {

using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;

namespace {

constexpr int64_t kAnySize = 1000;
// Of a vector whose elements lie apart. What stands still on an axis is usually smaller than what else is read, and
// read, or as a result of a fold written, once for many points of that axis.
constexpr int kGathered = 16, kGatheredOnce = 2, kScattered = 64, kScatteredOnce = 1;

}  // namespace

AxisStrides::AxisStrides(const KernelProgram& program, const Stage& stage, const Movable& movable)
    : num_axes_(stage.axes.size()) {
  const std::vector<int64_t> sizes(program.symbols.size(), kAnySize);
  for (const Statement& s : stage.statements) {
    if (!s.has_place() || movable.contains(s.buffer)) continue;
    const kernel::LinearMap map = linearize(s.map, program.buffers[s.buffer].dims);
    Place& place = places_.emplace_back();
    for (std::size_t axis = 0; axis < stage.axes.size(); ++axis) {
      place.apart.push_back(std::abs(map.stride_of(static_cast<int>(axis)).estimate(sizes)));
    }
    const bool stands_still = std::ranges::find(place.apart, 0.0) != place.apart.end();
    place.is_folded = s.kind == Statement::Kind::fold && stands_still;
    place.weight = s.kind == Statement::Kind::load ? (stands_still ? kGatheredOnce : kGathered)
                   : place.is_folded               ? kScatteredOnce
                                                   : kScattered;
  }
}

/// What it costs to pass this axis in vectors: nothing where all arrays stand still or have neighbours side by side.
int AxisStrides::cost_of_vectors(std::size_t axis) const {
  int cost = 0;
  for (const Place& place : places_) cost += place.apart[axis] > 1 ? place.weight : 0;
  return cost;
}

/// An axis over which a fold goes whose results lie apart on `axis`, the last one in `order`: where it stands next to
/// `axis`, a result is scattered once for many rows, elsewhere for each (emit_columns.cpp).
std::optional<std::size_t> AxisStrides::rows_of_columns(std::size_t axis, const std::vector<std::size_t>& order) const {
  for (std::size_t row : order | std::views::reverse) {
    const auto folds = [&](const Place& place) {
      return place.is_folded && place.apart[axis] > 1 && place.apart[row] == 0;
    };
    if (row != axis && std::ranges::any_of(places_, folds)) return row;
  }
  return std::nullopt;
}

std::optional<std::size_t> AxisStrides::axis_of_lines(std::size_t axis) const {
  std::optional<std::size_t> best;
  int most = 0;
  for (const Place& place : places_) {
    if (place.apart[axis] <= 1 || place.weight <= most) continue;
    const auto side_by_side = std::ranges::find(place.apart, 1.0);
    if (side_by_side == place.apart.end()) continue;
    best = static_cast<std::size_t>(side_by_side - place.apart.begin());
    most = place.weight;
  }
  const auto keeps_apart = [&](const Place& place) { return place.is_folded && place.apart[*best] != 0; };
  if (best && std::ranges::any_of(places_, keeps_apart)) return std::nullopt;
  return best;
}

/// Are neighbours on `a` nearer to each other than those on `b`, in most places?
bool AxisStrides::is_nearer(std::size_t a, std::size_t b) const {
  int votes = 0;
  for (const Place& place : places_) {
    if (place.apart[a] == 0 || place.apart[b] == 0) continue;
    if (place.apart[a] < place.apart[b]) votes += place.weight;
    if (place.apart[b] < place.apart[a]) votes -= place.weight;
  }
  return votes > 0;
}

std::vector<std::size_t> AxisStrides::best_order() const {
  std::vector<std::size_t> order(num_axes_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto cheapest = std::min_element(order.rbegin(), order.rend(), [&](std::size_t a, std::size_t b) {
    return cost_of_vectors(a) < cost_of_vectors(b);
  });
  std::rotate(std::prev(cheapest.base()), cheapest.base(), order.end());
  // By insertion: "nearer" is no order where places contradict each other, and then the given one stays.
  for (std::size_t end = 1; end + 1 < order.size(); ++end) {
    for (std::size_t at = end; at > 0 && is_nearer(order[at - 1], order[at]); --at) {
      std::swap(order[at - 1], order[at]);
    }
  }
  std::optional<std::size_t> beside_last = rows_of_columns(order.back(), order);
  if (!beside_last) beside_last = axis_of_lines(order.back());
  if (beside_last) {
    const auto at = std::ranges::find(order, *beside_last);
    std::rotate(at, at + 1, order.end() - 1);
  }
  return order;
}

}  // namespace inlay::transform
