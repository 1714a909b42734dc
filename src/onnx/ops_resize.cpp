// Resizing: each axis by itself, as sums of the data at places that arithmetic on the result's places gives.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

enum class Filter : uint8_t { nearest, linear, cubic };

/// The attributes.
struct How {
  Filter filter = Filter::nearest;
  std::string transform = "asymmetric", nearest;  // `nearest` is empty before version 11
  double cubic_a = -0.75, extrapolation = 0;
  bool antialias = false, excludes_outside = false;
  bool crops() const { return transform == "tf_crop_and_resize"; }
};

struct ResizedAxis {
  int axis = 0;
  Dim from, to;
  std::optional<double> factor;  // of the result's size to the data's, if it is known
  ValueId scale;                 // the same, f64
  ValueId width;                 // the result's size before it is rounded, f64
  ValueId start, end;            // of the part that is taken, f64; invalid: all of it
  bool has_given_scale = false;  // else it is the quotient of the sizes
};

ValueId real(Call& c, double number) { return c.literal(DType::f64, number); }
ValueId real(Call& c, const Dim& size) { return as_number(c, DType::f64, size); }
ValueId i64(Call& c, int64_t number) { return c.b.literal(Literal::of_integer(DType::i64, number)); }

/// The simplest fraction that is the factor as an f32: 7 / 10 for 0.7, which as an f32 is less than that.
std::optional<std::pair<int64_t, int64_t>> fraction(double factor) {
  constexpr int64_t kMost = 1 << 24;
  int64_t above = 1, below = 0, last_above = 0, last_below = 1;
  double rest = factor;
  for (int step = 0; step < 24; ++step) {
    const auto whole = static_cast<int64_t>(std::floor(rest));
    if (whole > kMost) return {};
    last_above = std::exchange(above, whole * above + last_above);
    last_below = std::exchange(below, whole * below + last_below);
    if (above > kMost || below > kMost) return {};
    const double found = static_cast<double>(above) / static_cast<double>(below);
    if (static_cast<float>(found) == static_cast<float>(factor)) return std::pair(above, below);
    rest = 1 / (rest - static_cast<double>(whole));
  }
  return {};
}

/// floor(size * factor), as it is of f32.
std::optional<Dim> scaled(const Dim& size, double factor) {
  if (size.is_constant()) {
    return Dim(static_cast<int64_t>(std::floor(static_cast<float>(size.constant()) * static_cast<float>(factor))));
  }
  const auto share = fraction(factor);
  if (!share) return {};
  return share->second == 1 ? size * share->first : floor_div(size * share->first, share->second);
}

Dim late(Call& c, ValueId number) { return late_size(c.b, c.b.cast(c.scalar(Op::floor_, {number}), DType::i64)); }

bool is_given(Call& c, std::size_t input) { return c.has(input) && !product(c.dims(input)).is(0); }

/// Element `place` of a vector of numbers as f64.
ValueId number_at(Call& c, std::size_t input, std::size_t place) {
  const auto at = static_cast<int64_t>(place);
  return c.b.cast(c.b.slice(c.in(input), {IndexItem::at(at)}), DType::f64);
}

std::vector<int> resized_axes(Call& c) {
  const auto given = c.integers("axes");
  if (given && c.version >= 18) return c.axes(*given, c.rank(0));
  std::vector<int> axes;
  for (int axis = 0; axis < c.rank(0); ++axis) axes.push_back(axis);
  return axes;
}

/// By factors, which the attribute or input `scales` has.
std::vector<ResizedAxis> by_scales(Call& c, const std::vector<int>& axes, std::size_t input) {
  std::optional<std::vector<double>> known;
  if (c.version < 9) {
    known.emplace();
    for (float x : c.numbers("scales").value_or(std::vector<float>())) known->push_back(static_cast<double>(x));
  } else if (const auto literals = c.known_literals(c.in(input))) {
    known.emplace();
    for (const Literal& x : *literals) known->push_back(x.f);
  }
  const Dim count = known ? Dim(static_cast<int64_t>(known->size())) : product(c.dims(input));
  if (count != Dim(static_cast<int64_t>(axes.size())))
    throw c.wrong(str("not one scale for each of ", axes.size(), " axes"));
  std::vector<ResizedAxis> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis axis{axes[i], c.dims(0)[static_cast<std::size_t>(axes[i])], {}, {}, {}, {}, {}, {}};
    axis.has_given_scale = true;
    if (known) axis.factor = (*known)[i];
    if (axis.factor && !(*axis.factor > 0)) throw c.wrong(str("a scale of ", *axis.factor));
    axis.scale = known ? real(c, *axis.factor) : number_at(c, input, i);
    axis.width = c.scalar(Op::mul_, {real(c, axis.from), axis.scale});
    const std::optional<Dim> to = axis.factor ? scaled(axis.from, *axis.factor) : std::nullopt;
    axis.to = to ? *to : late(c, c.b.cast(axis.width, DType::f32));
    out.push_back(std::move(axis));
  }
  return out;
}

/// The smallest or the largest of the factors for all axes.
void keep_ratio(Call& c, std::vector<ResizedAxis>& axes, Op smaller_or_larger) {
  const bool is_known = std::ranges::all_of(axes, [](const ResizedAxis& axis) { return axis.factor.has_value(); });
  ValueId scale = axes[0].scale;
  std::optional<double> factor = axes[0].factor;
  for (const ResizedAxis& axis : axes) {
    scale = c.scalar(smaller_or_larger, {scale, axis.scale});
    if (is_known)
      factor = smaller_or_larger == Op::min_ ? std::min(*factor, *axis.factor) : std::max(*factor, *axis.factor);
  }
  for (ResizedAxis& axis : axes) {
    axis.factor = is_known ? factor : std::nullopt;
    axis.scale = is_known ? real(c, *factor) : scale;
    axis.width = c.scalar(Op::mul_, {real(c, axis.from), axis.scale});
    if (is_known && axis.from.is_constant()) {
      axis.to = static_cast<int64_t>(std::floor(static_cast<double>(axis.from.constant()) * *factor + 0.5));
    } else {
      axis.to = late(c, c.with(Op::add_, axis.width, 0.5));
    }
  }
}

std::vector<ResizedAxis> by_sizes(Call& c, const std::vector<int>& axes, std::size_t input) {
  const std::vector<Dim> sizes = c.sizes(input);
  if (sizes.size() != axes.size()) throw c.wrong(str(sizes.size(), " sizes for ", axes.size(), " axes"));
  std::vector<ResizedAxis> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis axis{axes[i], c.dims(0)[static_cast<std::size_t>(axes[i])], sizes[i], {}, {}, {}, {}, {}};
    if (axis.from == axis.to) {
      axis.factor = 1;
    } else if (axis.from.is_constant() && axis.to.is_constant() && axis.from.constant() > 0) {
      axis.factor = static_cast<double>(axis.to.constant()) / static_cast<double>(axis.from.constant());
    }
    axis.scale = axis.factor ? real(c, *axis.factor) : c.scalar(Op::div_, {real(c, axis.to), real(c, axis.from)});
    axis.width = real(c, axis.to);
    out.push_back(std::move(axis));
  }
  const std::string policy = c.word("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger") {
    keep_ratio(c, out, Op::min_);
  } else if (policy == "not_smaller") {
    keep_ratio(c, out, Op::max_);
  } else if (policy != "stretch") {
    throw c.wrong(str("`", policy, "` is no keep_aspect_ratio_policy"));
  }
  return out;
}

/// The part of each axis that is taken, as shares of it.
void crop(Call& c, std::vector<ResizedAxis>& axes) {
  if (!is_given(c, 1)) throw c.wrong("it has no roi");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].start = number_at(c, 1, i);
    axes[i].end = number_at(c, 1, axes.size() + i);
  }
}

/// a where the size is more than 1, else b.
ValueId if_several(Call& c, const Dim& size, const std::function<ValueId()>& several,
                   const std::function<ValueId()>& one) {
  if (size.is_constant()) return size.constant() > 1 ? several() : one();
  return c.scalar(Op::select_, {c.with(Op::gt_, c.b.size(size), 1), several(), one()});
}

/// x / scale. A scale that is given is an f32, and the quotient is one: 17 / 1.7f is 10 as an f32, and less as an f64.
ValueId unscaled(Call& c, const ResizedAxis& axis, ValueId x) {
  if (!axis.has_given_scale) return c.scalar(Op::div_, {x, axis.scale});
  const ValueId quotient = c.scalar(Op::div_, {c.b.cast(x, DType::f32), c.b.cast(axis.scale, DType::f32)});
  return c.b.cast(quotient, DType::f64);
}

/// The place in the data of each place of the result: f64[to].
ValueId coordinates(Call& c, const How& how, const ResizedAxis& axis) {
  const ValueId y = c.b.cast(c.b.iota(axis.to, DType::i64), DType::f64);
  const std::string& transform = how.transform;
  const auto centers = [&] { return unscaled(c, axis, c.with(Op::add_, y, 0.5)); };
  const auto half_pixel = [&] { return c.with(Op::sub_, centers(), 0.5); };
  const ValueId last = real(c, axis.from - 1);
  if (transform == "half_pixel") return half_pixel();
  if (transform == "asymmetric") return unscaled(c, axis, y);
  if (transform == "tf_half_pixel_for_nn") return centers();
  if (transform == "pytorch_half_pixel") {
    return if_several(c, axis.to, half_pixel, [&] { return c.with(Op::mul_, y, 0); });
  }
  if (transform == "half_pixel_symmetric") {
    const ValueId share = c.scalar(Op::div_, {real(c, axis.to), axis.width});
    const ValueId center = c.with(Op::mul_, real(c, axis.from), 0.5);
    const ValueId offset = c.scalar(Op::mul_, {center, c.scalar(Op::sub_, {real(c, 1.0), share})});
    return c.scalar(Op::add_, {offset, half_pixel()});
  }
  const auto steps = [&] { return c.with(Op::sub_, axis.width, 1); };
  if (transform == "align_corners") {
    return if_several(
        c, axis.to, [&] { return c.scalar(Op::div_, {c.scalar(Op::mul_, {y, last}), steps()}); },
        [&] { return c.with(Op::mul_, y, 0); });
  }
  if (!how.crops()) throw c.wrong(str("`", transform, "` is no coordinate_transformation_mode"));
  const ValueId length = c.scalar(Op::mul_, {c.scalar(Op::sub_, {axis.end, axis.start}), last});
  const ValueId begin = c.scalar(Op::mul_, {axis.start, last});
  const ValueId within = if_several(
      c, axis.to, [&] { return c.scalar(Op::div_, {c.scalar(Op::mul_, {y, length}), steps()}); },
      [&] { return c.scalar(Op::add_, {c.with(Op::mul_, y, 0), c.with(Op::mul_, length, 0.5)}); });
  return c.scalar(Op::add_, {begin, within});
}

/// x at these places of an axis; the axes of `places` stand where it stood.
ValueId at_places(Call& c, ValueId x, int axis, ValueId places) {
  std::vector<IndexItem> index = whole(c.type(x).dims);
  index[static_cast<std::size_t>(axis)] = IndexItem::through(places);
  return c.b.gather(x, std::move(index), c.node.op);
}

/// A vector, or what has more axes, with ones for the axes behind axis `axis` of x.
ValueId along(Call& c, ValueId v, ValueId x, int axis) {
  std::vector<Dim> dims = c.type(v).dims;
  dims.resize(dims.size() + c.type(x).dims.size() - static_cast<std::size_t>(axis) - 1, Dim(1));
  return c.b.reshape(v, std::move(dims));
}

ValueId rounded(Call& c, const std::string& mode, ValueId x) {
  if (mode == "round_prefer_floor") return c.scalar(Op::ceil_, {c.with(Op::sub_, x, 0.5)});
  if (mode == "round_prefer_ceil") return c.scalar(Op::floor_, {c.with(Op::add_, x, 0.5)});
  if (mode == "floor") return c.scalar(Op::floor_, {x});
  if (mode == "ceil") return c.scalar(Op::ceil_, {x});
  throw c.wrong(str("`", mode, "` is no nearest_mode"));
}

/// Before version 11: the place below, and where the axis shrinks that above.
std::string nearest_mode(const How& how, const ResizedAxis& axis) {
  if (!how.nearest.empty()) return how.nearest;
  return axis.factor.value_or(1) < 1 ? "ceil" : "floor";
}

/// k, where element y of the result is element floor(y / k) of the data.
std::optional<int64_t> repeats(const How& how, const ResizedAxis& axis) {
  if (how.transform != "asymmetric" && how.transform != "half_pixel" && how.transform != "pytorch_half_pixel")
    return {};
  constexpr int64_t kMost = 64;
  const std::string mode = nearest_mode(how, axis);
  const auto nearest = [&](double x) {
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    return mode == "floor" ? std::floor(x) : std::ceil(x);
  };
  for (int64_t k = 2; k <= kMost; ++k) {
    if (axis.to != axis.from * k) continue;
    for (int64_t r = 0; r < k; ++r) {
      const auto y = static_cast<double>(r), factor = static_cast<double>(k);
      const double x = how.transform == "asymmetric" ? y / factor : (y + 0.5) / factor - 0.5;
      if (nearest(x) != 0) return {};
    }
    return k;
  }
  return {};
}

ValueId nearest_along(Call& c, const How& how, const ResizedAxis& axis, ValueId x, ValueId place) {
  ValueId number;
  if (how.nearest.empty() && !axis.factor) {
    number =
        c.scalar(Op::select_, {c.with(Op::lt_, axis.scale, 1), rounded(c, "ceil", place), rounded(c, "floor", place)});
  } else {
    number = rounded(c, nearest_mode(how, axis), place);
  }
  return at_places(c, x, axis.axis, clamped(c, c.b.cast(number, DType::i64), axis.from));
}

/// The cubic filter at a distance of at most 1, and at one from 1 to 2.
ValueId near_cubic(Call& c, ValueId d, double a) {
  const ValueId inner = c.with(Op::sub_, c.with(Op::mul_, d, a + 2), a + 3);
  return c.with(Op::add_, c.scalar(Op::mul_, {c.scalar(Op::mul_, {inner, d}), d}), 1);
}
ValueId far_cubic(Call& c, ValueId d, double a) {
  ValueId v = c.with(Op::sub_, c.with(Op::mul_, d, a), 5 * a);
  v = c.with(Op::add_, c.scalar(Op::mul_, {v, d}), 8 * a);
  return c.with(Op::sub_, c.scalar(Op::mul_, {v, d}), 4 * a);
}

/// The filter at any distance.
ValueId filter_at(Call& c, const How& how, ValueId x) {
  const ValueId d = c.scalar(Op::abs_, {x});
  if (how.filter == Filter::linear) return c.with(Op::max_, c.scalar(Op::sub_, {real(c, 1.0), d}), 0);
  const ValueId outer = c.scalar(Op::select_, {c.with(Op::lt_, d, 2), far_cubic(c, d, how.cubic_a), real(c, 0.0)});
  return c.scalar(Op::select_, {c.with(Op::le_, d, 1), near_cubic(c, d, how.cubic_a), outer});
}

/// What is summed for each place of the result: f64[to, k] weights of i64[to, k] places.
struct Taps {
  ValueId places, weights;
};

/// The filter is as many times wider as the data is longer than the result.
Taps wide_taps(Call& c, const How& how, const ResizedAxis& axis, ValueId place) {
  const double support = how.filter == Filter::linear ? 1 : 2;
  ValueId first, narrow;  // how far before the place it begins, i64; and the factor of distances
  Dim count;
  if (axis.factor) {
    const double share = std::min(*axis.factor, 1.0);
    const auto start = static_cast<int64_t>(std::floor(-support / share)) + 1;
    first = i64(c, start);
    narrow = real(c, share);
    count = 2 - 2 * start;
  } else {
    narrow = c.with(Op::min_, axis.scale, 1);
    const ValueId begin = c.scalar(Op::floor_, {c.scalar(Op::div_, {real(c, -support), narrow})});
    first = c.b.cast(c.with(Op::add_, begin, 1), DType::i64);
    count = late_size(c.b, c.scalar(Op::sub_, {i64(c, 2), c.with(Op::mul_, first, 2)}));
  }
  const ValueId floor = c.scalar(Op::floor_, {place});
  const ValueId ratio = c.b.reshape(c.scalar(Op::sub_, {place, floor}), {axis.to, 1});
  const ValueId steps = c.scalar(Op::add_, {c.b.iota(count, DType::i64), first});
  const ValueId distance = c.scalar(Op::mul_, {c.scalar(Op::sub_, {c.b.cast(steps, DType::f64), ratio}), narrow});
  const ValueId weights = filter_at(c, how, distance);
  const ValueId total = reduce(c.b, Fold::add, weights, {1}, DType::f64, Keep::yes, c.node.op);
  const ValueId begins = c.b.reshape(c.b.cast(floor, DType::i64), {axis.to, 1});
  return {c.scalar(Op::add_, {begins, steps}), c.scalar(Op::div_, {weights, total})};
}

ValueId is_inside(Call& c, ValueId places, const Dim& size) {
  return c.scalar(Op::and_, {c.with(Op::ge_, places, 0), c.scalar(Op::lt_, {places, c.b.size(size)})});
}

ValueId by_wide_taps(Call& c, const How& how, const ResizedAxis& axis, ValueId x, ValueId place) {
  Taps taps = wide_taps(c, how, axis, place);
  if (how.excludes_outside) {
    const ValueId inside = is_inside(c, taps.places, axis.from);
    const ValueId weights = c.scalar(Op::select_, {inside, taps.weights, real(c, 0.0)});
    const ValueId total = reduce(c.b, Fold::add, weights, {1}, DType::f64, Keep::yes, c.node.op);
    taps.weights = c.scalar(Op::div_, {weights, total});
  }
  const DType dtype = c.type(x).dtype;
  const ValueId read = at_places(c, x, axis.axis, clamped(c, taps.places, axis.from));
  const ValueId terms = c.scalar(Op::mul_, {read, along(c, c.b.cast(taps.weights, dtype), x, axis.axis)});
  return c.b.reduce(Fold::add, terms, {axis.axis + 1}, dtype);
}

/// Two places, or four, one after the other.
ValueId by_few_taps(Call& c, const How& how, const ResizedAxis& axis, ValueId x, ValueId place) {
  const ValueId floor = c.scalar(Op::floor_, {place});
  const ValueId ratio = c.scalar(Op::sub_, {place, floor}), rest = c.scalar(Op::sub_, {real(c, 1.0), ratio});
  std::vector<ValueId> weights = {rest, ratio};
  int64_t first = 0;
  if (how.filter == Filter::cubic) {
    first = -1;
    weights = {far_cubic(c, c.with(Op::add_, ratio, 1), how.cubic_a), near_cubic(c, ratio, how.cubic_a),
               near_cubic(c, rest, how.cubic_a), far_cubic(c, c.with(Op::add_, rest, 1), how.cubic_a)};
  }
  const ValueId begin = c.b.cast(floor, DType::i64);
  std::vector<ValueId> places;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    places.push_back(c.scalar(Op::add_, {begin, i64(c, first + static_cast<int64_t>(t))}));
  }
  if (how.excludes_outside) {
    ValueId total = real(c, 0.0);
    for (std::size_t t = 0; t < weights.size(); ++t) {
      weights[t] = c.scalar(Op::select_, {is_inside(c, places[t], axis.from), weights[t], real(c, 0.0)});
      total = c.scalar(Op::add_, {total, weights[t]});
    }
    for (ValueId& weight : weights) weight = c.scalar(Op::div_, {weight, total});
  }
  ValueId sum;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    const ValueId weight = along(c, c.b.cast(weights[t], c.type(x).dtype), x, axis.axis);
    const ValueId term = c.scalar(Op::mul_, {at_places(c, x, axis.axis, clamped(c, places[t], axis.from)), weight});
    sum = sum.valid() ? c.scalar(Op::add_, {sum, term}) : term;
  }
  return sum;
}

/// Of what is computed in floats, integers are the nearest of their dtype.
ValueId back(Call& c, ValueId x, DType dtype) {
  if (!is_integer(dtype)) return c.b.cast(x, dtype);
  const int bits = 8 * static_cast<int>(size_bytes(dtype));
  const bool is_signed = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
  if (bits > 16) throw c.unsupported("linear and cubic filters of integers of more than 16 bits");
  const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1, least = is_signed ? -most - 1 : 0;
  return c.b.cast(c.with(Op::min_, c.with(Op::max_, c.scalar(Op::round_, {x}), least), most), dtype);
}

/// What lies outside of the data is a number of the node.
ValueId extrapolated(Call& c, const How& how, const ResizedAxis& axis, ValueId x, ValueId place) {
  const ValueId outside =
      c.scalar(Op::or_, {c.with(Op::lt_, place, 0), c.scalar(Op::gt_, {place, real(c, axis.from - 1)})});
  return c.scalar(Op::select_, {along(c, outside, x, axis.axis), c.literal(c.type(x).dtype, how.extrapolation), x});
}

ValueId resized_along(Call& c, const How& how, const ResizedAxis& axis, ValueId x) {
  if (how.filter == Filter::nearest && !how.crops()) {
    // One copy for each axis: a single one would write two or three elements at a time.
    if (const auto count = repeats(how, axis)) return repeat(c.b, x, Dim(*count), axis.axis);
  }
  const ValueId place = coordinates(c, how, axis);
  ValueId y;
  if (how.filter == Filter::nearest) {
    y = nearest_along(c, how, axis, x, place);
  } else {
    y = how.antialias ? by_wide_taps(c, how, axis, x, place) : by_few_taps(c, how, axis, x, place);
  }
  return how.crops() ? extrapolated(c, how, axis, y, place) : y;
}

void resized(Call& c, const How& how, std::vector<ResizedAxis> axes) {
  const DType dtype = c.dtype(0);
  const bool is_moved = how.filter == Filter::nearest;
  ValueId x = is_moved ? c.in(0) : c.b.cast(c.in(0), float_computed_in(dtype));
  // The last axis first: what is read through an index there is then read of fewer rows.
  std::ranges::sort(axes, std::greater<>(), &ResizedAxis::axis);
  for (const ResizedAxis& axis : axes) {
    const bool is_whole = axis.from == axis.to && axis.factor == 1.0 && !axis.start.valid();
    if (!is_whole) x = resized_along(c, how, axis, x);
  }
  c.out(is_moved ? x : back(c, x, dtype));
}

Filter filter_of(Call& c) {
  const std::string mode = c.word("mode", "nearest");
  if (mode == "nearest") return Filter::nearest;
  if (mode == "linear" || mode == "bilinear") return Filter::linear;
  if (mode == "cubic") return Filter::cubic;
  throw c.wrong(str("`", mode, "` is no mode"));
}

void resize(Call& c) {
  How how{.filter = filter_of(c),
          .transform = c.word("coordinate_transformation_mode", "half_pixel"),
          .nearest = c.word("nearest_mode", "round_prefer_floor"),
          .cubic_a = c.number("cubic_coeff_a", -0.75),
          .extrapolation = c.number("extrapolation_value", 0),
          .antialias = c.flag("antialias"),
          .excludes_outside = c.flag("exclude_outside")};
  const std::vector<int> axes = resized_axes(c);
  if (axes.empty()) return c.out(c.in(0));
  std::vector<ResizedAxis> resized_ones;
  if (is_given(c, 3)) {
    resized_ones = by_sizes(c, axes, 3);
  } else if (is_given(c, 2)) {
    resized_ones = by_scales(c, axes, 2);
  } else {
    throw c.wrong("it has neither scales nor sizes");
  }
  if (how.crops()) crop(c, resized_ones);
  resized(c, how, std::move(resized_ones));
}

/// Resize before version 11, and Upsample: a place of the result is divided by the scale.
void resize_by_division(Call& c) {
  const How how{.filter = filter_of(c)};
  if (how.filter == Filter::cubic) throw c.wrong("`cubic` is no mode before version 11");
  resized(c, how, by_scales(c, resized_axes(c), 1));
}

constexpr OpRow kOps[] = {
    {"Resize", resize_by_division, 10},
    {"Resize", resize, 11},
    {"Upsample", resize_by_division, 7},
};

}  // namespace

std::span<const OpRow> resize_ops() { return kOps; }

}  // namespace inlay::onnx
