#include "transform/order_axes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <ranges>

namespace inlay::transform {

using kernel::AxisTerm;
using kernel::Kernel;
using kernel::KernelProgram;
using kernel::Stage;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// The places of a stage in memory: how far apart neighbours on each axis lie, in elements, where all sizes are the
/// same.
class AxisStrides {
 public:
  AxisStrides(const KernelProgram& program, const Stage& stage) {
    const std::vector<int64_t> sizes(program.symbols.size(), kAnySize);
    for (const Statement& s : stage.statements) {
      if (!s.has_place()) continue;
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
  int cost_of_vectors(std::size_t axis) const {
    int cost = 0;
    for (const Place& place : places_) cost += place.apart[axis] > 1 ? place.weight : 0;
    return cost;
  }

  /// An axis over which a fold goes whose results lie apart on `axis`, the last one in `order`: where it stands next to
  /// `axis`, a result is scattered once for many rows, elsewhere for each (emit_columns.cpp).
  std::optional<std::size_t> rows_of_columns(std::size_t axis, const std::vector<std::size_t>& order) const {
    for (std::size_t row : order | std::views::reverse) {
      const auto folds = [&](const Place& place) {
        return place.is_folded && place.apart[axis] > 1 && place.apart[row] == 0;
      };
      if (row != axis && std::ranges::any_of(places_, folds)) return row;
    }
    return std::nullopt;
  }

  /// Are neighbours on `a` nearer to each other than those on `b`, in most places?
  bool is_nearer(std::size_t a, std::size_t b) const {
    int votes = 0;
    for (const Place& place : places_) {
      if (place.apart[a] == 0 || place.apart[b] == 0) continue;
      if (place.apart[a] < place.apart[b]) votes += place.weight;
      if (place.apart[b] < place.apart[a]) votes -= place.weight;
    }
    return votes > 0;
  }

 private:
  static constexpr int64_t kAnySize = 1000;
  // Of a vector whose elements lie apart. What stands still on an axis is usually smaller than what else is read, and
  // read, or as a result of a fold written, once for many points of that axis.
  static constexpr int kGathered = 16, kGatheredOnce = 2, kScattered = 64, kScatteredOnce = 1;
  struct Place {
    std::vector<double> apart;
    int weight = 0;
    bool is_folded = false;  // over an axis
  };
  std::vector<Place> places_;
};

/// The axes, outermost first.
std::vector<std::size_t> best_order(const KernelProgram& program, const Stage& stage) {
  const AxisStrides places(program, stage);
  std::vector<std::size_t> order(stage.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto cheapest = std::min_element(order.rbegin(), order.rend(), [&](std::size_t a, std::size_t b) {
    return places.cost_of_vectors(a) < places.cost_of_vectors(b);
  });
  std::rotate(std::prev(cheapest.base()), cheapest.base(), order.end());
  // By insertion: "nearer" is no order where places contradict each other, and then the given one stays.
  for (std::size_t end = 1; end + 1 < order.size(); ++end) {
    for (std::size_t at = end; at > 0 && places.is_nearer(order[at - 1], order[at]); --at) {
      std::swap(order[at - 1], order[at]);
    }
  }
  if (const std::optional<std::size_t> rows = places.rows_of_columns(order.back(), order)) {
    const auto at = std::ranges::find(order, *rows);
    std::rotate(at, at + 1, order.end() - 1);
  }
  return order;
}

void permute(Stage& stage, const std::vector<std::size_t>& order) {
  std::vector<int> place_of(order.size());
  std::vector<Dim> extents;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place_of[order[i]] = static_cast<int>(i);
    extents.push_back(stage.axes[order[i]].extent);
  }
  for (std::size_t i = 0; i < order.size(); ++i) stage.axes[i].extent = extents[i];  // i is the outermost again
  renumber_axes(stage, place_of);
}

bool is_running(const Statement& s) { return s.kind == Statement::Kind::fold && s.result.valid(); }

}  // namespace

void renumber_axes(Stage& stage, std::span<const int> now) {
  for (Statement& s : stage.statements) {
    if (s.kind == Statement::Kind::axis) s.axis = now[static_cast<std::size_t>(s.axis)];
    for (Subscript& subscript : s.map.subscripts) {
      for (AxisTerm& term : subscript.axes) term.axis = now[static_cast<std::size_t>(term.axis)];
      std::ranges::sort(subscript.axes, {}, &AxisTerm::axis);
    }
  }
}

bool order_shows(const Stage& stage) {
  return std::ranges::any_of(stage.statements, [](const Statement& s) {
    const bool through_index = s.is_write() && s.map.has_index();
    return s.can_fail() || (through_index && (!s.accumulates() || is_half(s.dtype)));
  });
}

KernelProgram order_axes(KernelProgram program, LoopPassContext& context) {
  for (kernel::Step& step : program.steps) {
    auto* kernel = std::get_if<Kernel>(&step);
    if (!kernel || !kernel->outer.empty()) continue;
    for (Stage& stage : kernel->stages) {
      if (stage.axes.size() < 2 || order_shows(stage) || std::ranges::any_of(stage.statements, is_running)) continue;
      const std::vector<std::size_t> order = best_order(program, stage);
      if (!std::ranges::is_sorted(order) && context.fires()) permute(stage, order);
    }
  }
  return program;
}

}  // namespace inlay::transform
