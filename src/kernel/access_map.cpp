#include "kernel/access_map.h"

#include <algorithm>
#include <numeric>

#include "kernel/dim_proof.h"
#include "support/error.h"

namespace inlay::kernel {
namespace {

bool has_no_points(std::span<const Dim> extents) {
  return std::ranges::any_of(extents, [](const Dim& extent) { return extent.is(0); });
}

/// Does the axis have more than one point? Axes of extent 1 are always at 0.
bool counts(const AxisTerm& term, std::span<const Dim> extents) {
  return !extents[static_cast<std::size_t>(term.axis)].is(1);
}

/// The steps of a subscript in one list: its axes, and its index as if it were an axis.
struct Walk {
  Dim step;
  Dim extent;
};
std::vector<Walk> walks(const Subscript& subscript, std::span<const Dim> extents) {
  std::vector<Walk> out;
  for (const AxisTerm& term : subscript.axes) {
    if (counts(term, extents)) out.push_back({term.step, extents[static_cast<std::size_t>(term.axis)]});
  }
  if (subscript.index && !subscript.index->extent.is(1))
    out.push_back({subscript.index->step, subscript.index->extent});
  return out;
}

/// Minimum and maximum of a subscript, given that there is a point. A step that may have either sign moves both ends.
struct Range {
  Dim min, max;
};
Range range_of(const Subscript& subscript, std::span<const Dim> extents) {
  Range out{subscript.base, subscript.base};
  for (const Walk& walk : walks(subscript, extents)) {
    const Dim reach = walk.step * (walk.extent - 1);
    const bool forward = always_at_least(walk.step, 0), backward = !forward && always_at_least(0, walk.step);
    if (!backward) out.max = out.max + (forward ? reach : max(reach, 0));
    if (!forward) out.min = out.min + (backward ? reach : min(reach, 0));
  }
  return out;
}

/// Returns the largest number that divides the size for all values of its symbols; 0 for size 0.
int64_t divisor(const Dim& size) {
  int64_t out = size.constant_part();
  for (const Dim::Term& term : size.terms()) out = std::gcd(out, term.coefficient);
  return out;
}

/// Are they disjoint because no combination of steps adds up to the difference of the bases? 2*i never meets 2*j + 1.
bool apart_by_step(const Subscript& a, std::span<const Dim> extents_a, const Subscript& b,
                   std::span<const Dim> extents_b) {
  int64_t common = 0;
  for (const Walk& walk : walks(a, extents_a)) common = std::gcd(common, divisor(walk.step));
  for (const Walk& walk : walks(b, extents_b)) common = std::gcd(common, divisor(walk.step));
  if (common <= 1) return false;
  const Dim difference = a.base - b.base;
  const int64_t rest = difference.constant_part();
  return divisor(difference - rest) % common == 0 && rest % common != 0;
}

bool apart_by_range(const Subscript& a, std::span<const Dim> extents_a, const Subscript& b,
                    std::span<const Dim> extents_b, std::span<const Dim> facts) {
  const Range left = range_of(a, extents_a), right = range_of(b, extents_b);
  return always_at_least(right.min, left.max + 1, facts) || always_at_least(left.min, right.max + 1, facts);
}

/// Where a point exists, each axis has at least one point.
void add_facts_of_points(std::span<const Dim> extents, std::vector<Dim>& facts) {
  for (const Dim& extent : extents) {
    if (!extent.is_constant()) facts.push_back(extent - 1);
  }
}

/// Does the subscript take every integer between known ends?
bool is_known_interval(const Subscript& subscript, std::span<const Dim> extents) {
  const std::vector<Walk> all = walks(subscript, extents);
  if (subscript.index || !subscript.base.is_constant() || all.size() > 1) return false;
  return all.empty() || ((all[0].step.is(1) || all[0].step.is(-1)) && all[0].extent.is_constant());
}

bool each_axis_in_one_subscript(const AccessMap& map) {
  std::vector<int> axes;
  for (const Subscript& subscript : map.subscripts) {
    for (const AxisTerm& term : subscript.axes) axes.push_back(term.axis);
  }
  std::ranges::sort(axes);
  return std::ranges::adjacent_find(axes) == axes.end();
}

/// Do they overlap for all sizes at which both have points?
bool surely_meet(const AccessMap& a, std::span<const Dim> extents_a, const AccessMap& b,
                 std::span<const Dim> extents_b) {
  if (a.has_index() || b.has_index()) return false;
  bool same_origin = true, overlap = each_axis_in_one_subscript(a) && each_axis_in_one_subscript(b);
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    const Subscript &left = a.subscripts[d], &right = b.subscripts[d];
    same_origin = same_origin && left.base == right.base;
    if (!overlap) continue;
    overlap = is_known_interval(left, extents_a) && is_known_interval(right, extents_b);
    if (!overlap) continue;
    const Range x = range_of(left, extents_a), y = range_of(right, extents_b);
    overlap = x.min.constant() <= y.max.constant() && y.min.constant() <= x.max.constant();
  }
  return same_origin || overlap;
}

/// The key that sorts steps in ascending order, as far as is known: the number of factors, then the lower bound.
std::pair<std::size_t, int64_t> likely_order(const Dim& step) {
  std::size_t most_factors = 0;
  for (const Dim::Term& term : step.terms()) most_factors = std::max(most_factors, term.factors.size());
  return {most_factors, step.lower_bound({})};
}

/// Does the value of this subscript determine the coordinates of all its axes that are not `known` already? It does if
/// each step is larger than the sum of what the smaller ones reach, as for the digits of a number.
bool tells_axes(const Subscript& subscript, std::span<const Dim> extents, const std::vector<bool>& known) {
  if (subscript.index) return false;
  std::vector<Walk> digits;
  for (const AxisTerm& term : subscript.axes) {
    const auto axis = static_cast<std::size_t>(term.axis);
    if (!known[axis]) digits.push_back({always_at_least(term.step, 0) ? term.step : Dim(0) - term.step, extents[axis]});
  }
  std::ranges::sort(digits, {}, [](const Walk& digit) { return likely_order(digit.step); });
  Dim reach = 0;
  for (const Walk& digit : digits) {
    if (!always_at_least(digit.step, reach + 1)) return false;
    reach = reach + digit.step * (digit.extent - 1);
  }
  return true;
}

/// The subscript without what does not matter: axes of extent 1, and how an index is checked.
Subscript bare(Subscript subscript, std::span<const Dim> extents) {
  erase_if(subscript.axes, [&](const AxisTerm& term) { return !counts(term, extents); });
  if (subscript.index) {
    subscript.index->bounds = Bounds::proved;
    subscript.index->site = {};
  }
  return subscript;
}

void drop_still_axes(Subscript& subscript) {
  erase_if(subscript.axes, [](const AxisTerm& term) { return term.step.is(0); });
}

}  // namespace

AccessMap AccessMap::identity(int rank, int first_axis) {
  AccessMap map;
  for (int d = 0; d < rank; ++d) map.subscripts.push_back({0, {{first_axis + d, 1}}, {}});
  return map;
}

bool AccessMap::uses_axis(int axis) const {
  return std::ranges::any_of(subscripts, [&](const Subscript& subscript) {
    return std::ranges::any_of(subscript.axes, [&](const AxisTerm& term) { return term.axis == axis; });
  });
}

bool AccessMap::has_index() const {
  return std::ranges::any_of(subscripts, [](const Subscript& subscript) { return subscript.index.has_value(); });
}

std::optional<Dim> stretching_step(const Subscript& at) {
  if (at.index || at.axes.size() != 1 || !at.base.is(0)) return std::nullopt;
  const Dim& step = at.axes[0].step;
  return !step.is_constant() && is_zero_or_one(step) ? std::optional(step) : std::nullopt;
}

std::vector<Dim> stretching_sizes(const AccessMap& map) {
  std::vector<Dim> out;
  const auto add = [&](const Dim& factor) {
    if (is_zero_or_one(factor) && std::ranges::find(out, factor) == out.end()) out.push_back(factor);
  };
  for (const Subscript& subscript : map.subscripts) {
    for (const AxisTerm& axis : subscript.axes) {
      for (const Dim::Term& term : axis.step.terms()) {
        for (const Dim::Atom& atom : term.factors) add(Dim::of_atom(atom));
      }
    }
  }
  return out;
}

AccessMap where(AccessMap map, std::span<const Dim> factors, int64_t value) {
  for (Subscript& subscript : map.subscripts) {
    subscript.base = where(subscript.base, factors, value);
    for (AxisTerm& term : subscript.axes) term.step = where(term.step, factors, value);
    drop_still_axes(subscript);
  }
  return map;
}

Dim LinearMap::stride_of(int axis) const {
  for (const auto& [a, stride] : axes) {
    if (a == axis) return stride;
  }
  return 0;
}

LinearMap linearize(const AccessMap& map, std::span<const Dim> buffer_dims) {
  INLAY_CHECK(map.subscripts.size() == buffer_dims.size(), "a map of rank ", map.rank(), " on a buffer of rank ",
              buffer_dims.size());
  LinearMap out;
  Dim stride = 1;
  for (std::size_t d = buffer_dims.size(); d-- > 0;) {
    const Subscript& subscript = map.subscripts[d];
    out.base = out.base + subscript.base * stride;
    for (const AxisTerm& term : subscript.axes) {
      const auto at = std::ranges::find(out.axes, term.axis, [](const auto& entry) { return entry.first; });
      if (at == out.axes.end()) {
        out.axes.emplace_back(term.axis, term.step * stride);
      } else {
        at->second = at->second + term.step * stride;
      }
    }
    if (subscript.index) out.indices.emplace_back(*subscript.index, Dim(subscript.index->step) * stride);
    stride = stride * buffer_dims[d];
  }
  std::erase_if(out.axes, [](const auto& entry) { return entry.second.is(0); });
  std::ranges::sort(out.axes, {}, [](const auto& entry) { return entry.first; });
  std::ranges::reverse(out.indices);  // in the order of the subscripts
  return out;
}

Answer is_injective(const AccessMap& map, std::span<const Dim> axis_extents) {
  if (has_no_points(axis_extents)) return Answer::yes;
  std::vector<bool> known(axis_extents.size());
  for (std::size_t axis = 0; axis < axis_extents.size(); ++axis) known[axis] = axis_extents[axis].is(1);

  // A subscript that determines its axes may let another one determine more: (i + j, j) determines j, then i.
  for (std::size_t round = 0; round <= map.subscripts.size(); ++round) {
    for (const Subscript& subscript : map.subscripts) {
      if (!tells_axes(subscript, axis_extents, known)) continue;
      for (const AxisTerm& term : subscript.axes) known[static_cast<std::size_t>(term.axis)] = true;
    }
  }
  if (std::ranges::all_of(known, std::identity())) return Answer::yes;

  // An axis that occurs nowhere repeats every element, if it and the others have enough points. What an index was
  // loaded from is unknown here: it may depend on any axis.
  if (map.has_index()) return Answer::unknown;
  const bool all_known =
      std::ranges::all_of(axis_extents, [](const Dim& extent) { return always_at_least(extent, 1); });
  for (std::size_t axis = 0; axis < axis_extents.size(); ++axis) {
    const bool repeats = !map.uses_axis(static_cast<int>(axis)) && always_at_least(axis_extents[axis], 2);
    if (all_known && repeats) return Answer::no;
  }
  return Answer::unknown;
}

bool same_element_only(const AccessMap& a, const AccessMap& b, std::span<const Dim> axis_extents) {
  if (a.rank() != b.rank()) return false;
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    if (!(bare(a.subscripts[d], axis_extents) == bare(b.subscripts[d], axis_extents))) return false;
  }
  return is_injective(a, axis_extents) == Answer::yes;
}

bool told_apart_by(const AccessMap& a, const AccessMap& b, int axis) {
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    if (a.subscripts[d].is_told_by(axis) && a.subscripts[d] == b.subscripts[d]) return true;
  }
  return false;
}

bool same_strides(const LinearMap& a, const LinearMap& b, std::span<const Dim> axis_extents) {
  for (int axis = 0; axis < static_cast<int>(axis_extents.size()); ++axis) {
    if (!axis_extents[axis].is(1) && !(a.stride_of(axis) == b.stride_of(axis))) return false;
  }
  return true;
}

Answer regions_overlap(const AccessMap& a, std::span<const Dim> extents_a, const AccessMap& b,
                       std::span<const Dim> extents_b, std::span<const Dim> sizes) {
  INLAY_CHECK(a.rank() == b.rank(), "maps of rank ", a.rank(), " and ", b.rank(), " on one buffer");
  if (has_no_points(extents_a) || has_no_points(extents_b)) return Answer::no;
  std::vector<Dim> facts(sizes.begin(), sizes.end());
  add_facts_of_points(extents_a, facts);
  add_facts_of_points(extents_b, facts);
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    const Subscript &left = a.subscripts[d], &right = b.subscripts[d];
    if (apart_by_range(left, extents_a, right, extents_b, facts)) return Answer::no;
    if (apart_by_step(left, extents_a, right, extents_b)) return Answer::no;
  }
  return surely_meet(a, extents_a, b, extents_b) ? Answer::yes : Answer::unknown;
}

std::optional<std::vector<Dim>> strides_by_dim(const AccessMap& map, std::span<const Dim> axis_extents,
                                               std::span<const Dim> buffer_dims, const LinearMap& to) {
  const LinearMap from = linearize(map, buffer_dims);
  if (!from.indices.empty() || !to.indices.empty() || !from.base.is(0)) return std::nullopt;
  std::vector<int> axes;  // that are left
  for (int axis = 0; axis < static_cast<int>(axis_extents.size()); ++axis) {
    if (!axis_extents[axis].is(1)) axes.push_back(axis);
  }
  std::vector<Dim> out(buffer_dims.size(), 0);
  Dim below = 1;  // how many elements the axes taken so far reach, without gaps
  for (std::size_t d = buffer_dims.size(); d-- > 0;) {
    const Dim begin = below, end = below * buffer_dims[d];
    while (!(below == end)) {
      const auto next = std::ranges::find_if(axes, [&](int axis) { return from.stride_of(axis) == below; });
      if (next == axes.end()) return std::nullopt;
      const Dim stride = to.stride_of(*next);
      if (below == begin) out[d] = stride;
      if (!(stride * begin == out[d] * below)) return std::nullopt;  // it goes on where the axis before it ends
      below = below * axis_extents[*next];
      axes.erase(next);
    }
  }
  return axes.empty() ? std::optional(out) : std::nullopt;
}

std::optional<Region> bounding_region(const AccessMap& map, std::span<const Dim> axis_extents,
                                      std::span<const Dim> buffer_dims) {
  if (map.has_index()) return std::nullopt;
  const LinearMap linear = linearize(map, buffer_dims);
  Region out{linear.base, linear.base + 1};
  for (const auto& [axis, stride] : linear.axes) {
    const Dim& extent = axis_extents[static_cast<std::size_t>(axis)];
    if (extent.is(1)) continue;
    const bool forward = always_at_least(stride, 0);
    if (!forward && !always_at_least(0, stride)) return std::nullopt;
    Dim& end = forward ? out.last : out.first;
    end = end + stride * (extent - 1);
  }
  return out;
}

bool always_disjoint(const Touched& a, const Touched& b) {
  if (std::ranges::equal(a.dims, b.dims)) return regions_overlap(a.map, a.extents, b.map, b.extents) == Answer::no;
  const auto region_a = bounding_region(a.map, a.extents, a.dims), region_b = bounding_region(b.map, b.extents, b.dims);
  return region_a && region_b && always_apart(region_a->first, region_a->last, region_b->first, region_b->last);
}

bool follow_each_other(std::span<const Touched> places) {
  const auto follow_along = [&](std::size_t d) {
    Dim end;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [min, max] = range_of(places[i].map.subscripts[d], places[i].extents);
      if (i > 0 && !always_at_least(min, end)) return false;
      end = max + 1;
      if (!always_at_least(end, min)) return false;  // without points it could let the next one begin before the last
    }
    return true;
  };
  for (int d = 0; !places.empty() && d < places[0].map.rank(); ++d) {
    if (follow_along(static_cast<std::size_t>(d))) return true;
  }
  return places.size() < 2;
}

Answer within_dim(const Subscript& subscript, std::span<const Dim> axis_extents, const Dim& dim) {
  if (has_no_points(axis_extents)) return Answer::yes;
  const Range range = range_of(subscript, axis_extents);
  std::vector<Dim> facts;
  add_facts_of_points(axis_extents, facts);
  Dim point = 1;  // 1 if there is a point, else less
  for (const Dim& extent : axis_extents) point = min(point, extent);
  const auto ends_within = [&] {
    return always_at_least(dim, range.max + 1, facts) || always_at_least(dim, range.max + point);
  };
  if (always_at_least(range.min, 0, facts) && ends_within()) return Answer::yes;
  // `no` must hold for a point that exists: an axis of 0 points, or an index that no point loads, touches nothing.
  const bool has_points =
      std::ranges::all_of(axis_extents, [](const Dim& extent) { return always_at_least(extent, 1); });
  if (subscript.index || !has_points) return Answer::unknown;
  return always_at_least(-1, range.min) || always_at_least(range.max, dim) ? Answer::no : Answer::unknown;
}

Subscript plus(const Subscript& a, const Subscript& b, const Dim& times) {
  std::vector<AxisTerm> terms(a.axes.begin(), a.axes.end());
  for (const AxisTerm& term : b.axes) terms.push_back({term.axis, term.step * times});
  std::ranges::sort(terms, {}, &AxisTerm::axis);
  Subscript out{a.base + b.base * times, {}, {}};
  for (const AxisTerm& term : terms) {
    if (!out.axes.empty() && out.axes.back().axis == term.axis) {
      out.axes.back().step = out.axes.back().step + term.step;
    } else {
      out.axes.push_back(term);
    }
  }
  drop_still_axes(out);
  return out;
}

}  // namespace inlay::kernel
