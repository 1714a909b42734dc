// Reading images at places between their elements: grids, regions of interest, convolutions with offsets.
#include <algorithm>
#include <functional>
#include <limits>

#include "ir/compose_shape.h"
#include "ir/linalg.h"
#include "onnx/convolution.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "onnx/windows.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

enum class Outside : uint8_t { zeros, border, reflection };
enum class Filter : uint8_t { nearest, linear, cubic };

ValueId floats(Call& c, const Dim& length, DType dtype) { return c.b.cast(c.b.iota(length, DType::i64), dtype); }

/// One of the elements that a place is made of: where it stands, its weight, and whether it is there.
struct Tap {
  ValueId index, weight, is_there;  // i64; of the dtype of the places, or invalid: 1; bool, or invalid: it always is
};

/// An axis of the data, and the places that are read along it.
struct Sampled {
  Dim size;
  ValueId places;
  bool aligned = true;  // places are reflected at the first and the last element, else half an element beyond
};

/// x, mirrored at both ends until it lies between them.
ValueId reflected(Call& c, ValueId x, const Sampled& axis) {
  const DType dtype = c.type(x).dtype;
  const double low = axis.aligned ? 0 : -0.5;
  // Of one element that is both ends, any place is that one: the period may not be 0.
  const ValueId span = as_number(c, dtype, axis.aligned ? max(axis.size - 1, 1) : axis.size);
  const ValueId period = c.with(Op::mul_, span, 2);
  const ValueId within = c.scalar(Op::mod_, {c.with(Op::sub_, x, low), period});
  return c.with(Op::add_, c.scalar(Op::min_, {within, c.scalar(Op::sub_, {period, within})}), low);
}

/// The element at a whole number.
Tap element(Call& c, const Sampled& axis, ValueId x, Outside outside) {
  Tap tap;
  if (outside == Outside::zeros) {
    const ValueId last = as_number(c, c.type(x).dtype, axis.size - 1);
    tap.is_there = c.scalar(Op::and_, {c.with(Op::ge_, x, 0), c.scalar(Op::le_, {x, last})});
  } else if (outside == Outside::reflection) {
    x = reflected(c, x, axis);
  }
  tap.index = c.b.cast(clamped(c, x, axis.size), DType::i64);
  return tap;
}

std::vector<ValueId> cubic_weights(Call& c, ValueId ratio) {
  constexpr double a = -0.75;
  const auto near = [&](ValueId d) {
    const ValueId inner = c.with(Op::sub_, c.with(Op::mul_, d, a + 2), a + 3);
    return c.with(Op::add_, c.scalar(Op::mul_, {c.scalar(Op::mul_, {inner, d}), d}), 1);
  };
  const auto far = [&](ValueId d) {
    const ValueId v = c.with(Op::add_, c.scalar(Op::mul_, {c.with(Op::sub_, c.with(Op::mul_, d, a), 5 * a), d}), 8 * a);
    return c.with(Op::sub_, c.scalar(Op::mul_, {v, d}), 4 * a);
  };
  const ValueId rest = c.scalar(Op::sub_, {c.literal(c.type(ratio).dtype, 1), ratio});
  return {far(c.with(Op::add_, ratio, 1)), near(ratio), near(rest), far(c.with(Op::add_, rest, 1))};
}

std::vector<Tap> taps_of(Call& c, const Sampled& axis, Filter filter, Outside outside) {
  if (filter == Filter::nearest) return {element(c, axis, axis.places, outside)};
  const ValueId floor = c.scalar(Op::floor_, {axis.places});
  const ValueId ratio = c.scalar(Op::sub_, {axis.places, floor});
  std::vector<ValueId> weights;
  int first = 0;
  if (filter == Filter::cubic) {
    weights = cubic_weights(c, ratio);
    first = -1;
  } else {
    weights = {c.scalar(Op::sub_, {c.literal(c.type(ratio).dtype, 1), ratio}), ratio};
  }
  std::vector<Tap> taps;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    const double shift = static_cast<double>(t) + first;
    taps.push_back(element(c, axis, shift == 0 ? floor : c.with(Op::add_, floor, shift), outside));
    taps.back().weight = weights[t];
  }
  return taps;
}

/// Calls `use` with one tap for each axis, for all choices of them.
void for_each_choice(const std::vector<std::vector<Tap>>& taps,
                     const std::function<void(const std::vector<Tap>&)>& use) {
  std::vector<Tap> chosen;
  const auto choose = [&](const auto& self) -> void {
    if (chosen.size() == taps.size()) return use(chosen);
    for (const Tap& tap : taps[chosen.size()]) {
      chosen.push_back(tap);
      self(self);
      chosen.pop_back();
    }
  };
  choose(choose);
}

/// x at `leading` places of its first axes and the chosen elements of the others, times their weights.
ValueId weighted(Call& c, ValueId x, const std::vector<ValueId>& leading, const std::vector<Tap>& chosen) {
  std::vector<IndexItem> index;
  for (ValueId places : leading) index.push_back(IndexItem::through(places));
  for (const Tap& tap : chosen) index.push_back(IndexItem::through(tap.index));
  ValueId term = c.b.gather(x, std::move(index), c.node.op);
  ValueId weight, is_there;
  for (const Tap& tap : chosen) {
    if (tap.weight.valid()) weight = weight.valid() ? c.scalar(Op::mul_, {weight, tap.weight}) : tap.weight;
    if (tap.is_there.valid()) is_there = is_there.valid() ? c.scalar(Op::and_, {is_there, tap.is_there}) : tap.is_there;
  }
  if (is_there.valid()) term = c.scalar(Op::select_, {is_there, term, c.literal(c.type(x).dtype, 0)});
  return weight.valid() ? c.scalar(Op::mul_, {term, c.b.cast(weight, c.type(x).dtype)}) : term;
}

/// The sum over all elements that a place is made of. All index arrays and places broadcast together.
ValueId sampled(Call& c, ValueId x, const std::vector<ValueId>& leading, const std::vector<Sampled>& axes,
                Filter filter, Outside outside) {
  std::vector<std::vector<Tap>> taps;
  for (const Sampled& axis : axes) taps.push_back(taps_of(c, axis, filter, outside));
  ValueId sum;
  for_each_choice(taps, [&](const std::vector<Tap>& chosen) {
    const ValueId term = weighted(c, x, leading, chosen);
    sum = sum.valid() ? c.scalar(Op::add_, {sum, term}) : term;
  });
  return sum;
}

/// Places far outside as near ones that read the same: beyond 4 elements from either end all is 0, or the last element.
ValueId brought_near(Call& c, ValueId x, const Sampled& axis, Outside outside) {
  if (outside == Outside::reflection) return reflected(c, x, axis);
  return c.with(Op::max_, c.scalar(Op::min_, {x, as_number(c, c.type(x).dtype, axis.size + 4)}), -4);
}

Filter filter_of(Call& c) {
  const std::string mode = c.word("mode", "linear");
  if (mode == "nearest") return Filter::nearest;
  if (mode == "linear" || mode == "bilinear") return Filter::linear;
  if (mode == "cubic" || mode == "bicubic") return Filter::cubic;
  throw c.wrong(str("`", mode, "` is no mode"));
}

Outside outside_of(Call& c) {
  const std::string mode = c.word("padding_mode", "zeros");
  if (mode == "zeros") return Outside::zeros;
  if (mode == "border") return Outside::border;
  if (mode == "reflection") return Outside::reflection;
  throw c.wrong(str("`", mode, "` is no padding_mode"));
}

/// Batch and channels as index arrays of `rank` axes: what is read stands where they do.
std::vector<ValueId> batch_and_channels(Call& c, const std::vector<Dim>& dims, std::size_t rank) {
  return {along(c, c.b.iota(dims[0], DType::i64), 0, rank), along(c, c.b.iota(dims[1], DType::i64), 1, rank)};
}

/// Places from -1 to 1, of the last axis first.
void grid_sample(Call& c) {
  const std::vector<Dim> dims = c.dims(0), grid = c.dims(1);
  const std::size_t rank = dims.size() - 2;
  if (dims.size() < 3 || grid.size() != dims.size()) throw c.wrong("the data and the grid are not of one rank");
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  const Filter filter = filter_of(c);
  const Outside outside = outside_of(c);
  const bool aligned = c.flag("align_corners");
  std::vector<Sampled> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    std::vector<IndexItem> index;
    for (std::size_t axis = 0; axis + 1 < grid.size(); ++axis) index.push_back(IndexItem::range(0, grid[axis]));
    index.push_back(IndexItem::at(static_cast<int64_t>(rank - 1 - i)));
    const ValueId from_one = c.with(Op::add_, c.b.cast(c.b.slice(c.in(1), std::move(index)), wide), 1);
    const ValueId last = as_number(c, wide, dims[2 + i] - 1), size = as_number(c, wide, dims[2 + i]);
    ValueId place = c.with(Op::mul_, c.scalar(Op::mul_, {from_one, aligned ? last : size}), 0.5);
    if (!aligned) place = c.with(Op::sub_, place, 0.5);
    if (filter == Filter::nearest) place = c.scalar(Op::round_, {place});
    Sampled axis{dims[2 + i], {}, aligned};
    std::vector<Dim> beside = c.type(place).dims;
    beside.insert(beside.begin() + 1, Dim(1));
    axis.places = c.b.reshape(brought_near(c, place, axis, outside), std::move(beside));
    axes.push_back(std::move(axis));
  }
  const ValueId x = filter == Filter::nearest ? c.in(0) : c.b.cast(c.in(0), wide);
  const ValueId y = sampled(c, x, batch_and_channels(c, dims, dims.size()), axes, filter, outside);
  c.out(c.b.cast(y, dtype));
}

/// theta [batch, r, r + 1] applied to the places of a grid from -1 to 1.
void affine_grid(Call& c) {
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  const std::vector<Dim> sizes = c.sizes(1);
  if (sizes.size() < 3) throw c.wrong(str("a size of ", sizes.size(), " numbers"));
  const std::size_t rank = sizes.size() - 2;
  const bool aligned = c.flag("align_corners");
  std::vector<ValueId> places;  // of the axes, the last one first
  for (std::size_t i = rank; i-- > 0;) {
    const Dim& size = sizes[2 + i];
    const ValueId step = c.with(Op::mul_, floats(c, size, wide), 2);
    ValueId place;
    if (aligned) {
      place = c.with(Op::sub_, c.scalar(Op::div_, {step, as_number(c, wide, max(size - 1, 1))}), 1);
    } else {
      place = c.with(Op::sub_, c.scalar(Op::div_, {c.with(Op::add_, step, 1), as_number(c, wide, size)}), 1);
    }
    places.push_back(along(c, place, 1 + i, rank + 2));
  }
  const ValueId theta = c.b.cast(c.in(0), wide);
  const Dim batch = c.dims(0, 3)[0];
  const auto column = [&](std::size_t j) {
    const auto rows = static_cast<int64_t>(rank);
    std::vector<Dim> dims(rank + 2, Dim(1));
    dims[0] = batch;
    dims.back() = rows;
    return c.b.reshape(c.b.slice(theta, {IndexItem::range(0, batch), IndexItem::range(0, rows),
                                         IndexItem::at(static_cast<int64_t>(j))}),
                       std::move(dims));
  };
  ValueId sum;
  for (std::size_t j = 0; j < rank; ++j) {
    const ValueId term = c.scalar(Op::mul_, {column(j), places[j]});
    sum = sum.valid() ? c.scalar(Op::add_, {sum, term}) : term;
  }
  c.out(c.b.cast(c.scalar(Op::add_, {sum, column(rank)}), dtype));
}

/// The places that are read of regions along one axis: [regions, bins, samples], with what of them counts.
struct RegionAxis {
  ValueId places;
  ValueId samples;  // how many of them count, of each region: of the places' dtype, [regions, 1, 1]
  Dim count;        // how many places there are
};

struct RegionOptions {
  double scale = 1, shift = 0;
  int64_t samples = 0;  // 0: as many as a bin has elements
  bool half_pixel = true;
};

/// `first`: the column of the regions' begin; the end is two columns behind it.
RegionAxis region_axis(Call& c, ValueId rois, int64_t first, int64_t bins, const RegionOptions& options) {
  const DType dtype = c.type(rois).dtype;
  const Dim regions = c.type(rois).dims[0];
  const auto edge = [&](int64_t column) {
    const ValueId at = c.b.slice(rois, {IndexItem::range(0, regions), IndexItem::at(column)});
    return c.b.reshape(c.with(Op::sub_, c.with(Op::mul_, at, options.scale), options.shift), {regions, 1, 1});
  };
  const ValueId start = edge(first);
  ValueId length = c.scalar(Op::sub_, {edge(first + 2), start});
  if (!options.half_pixel) length = c.with(Op::max_, length, 1);
  const ValueId bin = c.with(Op::div_, length, static_cast<double>(bins));
  RegionAxis axis;
  if (options.samples > 0) {
    axis.samples = c.literal(dtype, static_cast<double>(options.samples));
    axis.count = options.samples;
  } else {
    axis.samples = c.scalar(Op::ceil_, {bin});
    const ValueId with_one =
        c.b.concat({c.b.reshape(axis.samples, {regions}), c.b.literal({Literal::of(dtype, 1)}, {1})}, 0);
    const ValueId most = c.b.reduce(Fold::max, with_one, {0}, dtype);
    axis.count = late_size(c.b, c.b.cast(most, DType::i64));
  }
  const ValueId sample = c.with(Op::add_, floats(c, axis.count, dtype), 0.5);
  const ValueId within = c.scalar(Op::div_, {c.scalar(Op::mul_, {sample, bin}), axis.samples});
  const ValueId begin = c.scalar(Op::mul_, {c.b.reshape(floats(c, bins, dtype), {bins, 1}), bin});
  axis.places = c.scalar(Op::add_, {c.scalar(Op::add_, {start, begin}), within});
  return axis;
}

/// [regions, bins, samples] of axis `axis` as [regions, 1, bins y, bins x, samples y, samples x].
ValueId placed(Call& c, ValueId v, std::size_t axis) {
  const std::vector<Dim> dims = c.type(v).dims;
  std::vector<Dim> to(6, Dim(1));
  to[0] = dims[0];
  to[2 + axis] = dims[1];
  to[4 + axis] = dims[2];
  return c.b.reshape(v, std::move(to));
}

/// What is read of all samples, and which of them count: arrays of [regions, channels, bins, bins, samples, samples].
struct Samples {
  std::vector<std::vector<Tap>> taps;  // of the two axes
  ValueId is_there, counts;            // is the place one of the data; is it a sample of its region
  ValueId total;                       // how many samples each region has: [regions, 1, 1, 1]
};

Samples samples_of(Call& c, const std::vector<RegionAxis>& regions, bool is_adaptive, DType dtype) {
  Samples out;
  out.is_there = out.counts = c.b.literal(Literal::of_integer(DType::boolean, 1));
  out.total = c.literal(dtype, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    const Sampled axis{c.dims(0)[2 + i], placed(c, regions[i].places, i), true};
    const ValueId inside = c.scalar(
        Op::and_, {c.with(Op::ge_, axis.places, -1), c.scalar(Op::le_, {axis.places, as_number(c, dtype, axis.size)})});
    out.is_there = c.scalar(Op::and_, {out.is_there, inside});
    out.taps.push_back(
        taps_of(c, {axis.size, clamped(c, axis.places, axis.size), true}, Filter::linear, Outside::border));
    if (!is_adaptive) {
      out.total = c.scalar(Op::mul_, {out.total, regions[i].samples});
      continue;
    }
    const ValueId number = along(c, floats(c, regions[i].count, dtype), 4 + i, 6);
    out.counts = c.scalar(Op::and_, {out.counts, c.scalar(Op::lt_, {number, placed(c, regions[i].samples, i)})});
    const ValueId known = c.b.reshape(regions[i].samples, {c.dims(1)[0], 1, 1, 1});
    out.total = c.scalar(Op::mul_, {out.total, c.with(Op::max_, known, 0)});
  }
  return out;
}

/// Each bin of a region: the mean (or the maximum) of samples, each between four elements.
void roi_align(Call& c) {
  const std::string mode = c.word("mode", "avg");
  if (mode != "avg" && mode != "max") throw c.wrong(str("`", mode, "` is no mode"));
  const std::vector<Dim> dims = c.dims(0, 4);
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  RegionOptions options{.scale = c.number("spatial_scale", 1), .samples = c.integer("sampling_ratio", 0)};
  options.half_pixel = c.version >= 16 && c.word("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  options.shift = options.half_pixel ? 0.5 : 0;
  if (options.samples < 0) throw c.wrong(str("a sampling_ratio of ", options.samples));
  const Dim count = c.dims(1, 2)[0];
  const ValueId rois = c.b.cast(with_sizes(c, c.b, c.in(1), {count, 4}, "rois"), wide), x = c.b.cast(c.in(0), wide);
  const Samples samples = samples_of(c,
                                     {region_axis(c, rois, 1, c.integer("output_height", 1), options),
                                      region_axis(c, rois, 0, c.integer("output_width", 1), options)},
                                     options.samples == 0, wide);
  const std::vector<ValueId> leading = {
      along(c, c.b.cast(with_sizes(c, c.b, c.in(2), {count}, "batch_indices"), DType::i64), 0, 6),
      along(c, c.b.iota(dims[1], DType::i64), 1, 6)};
  const bool is_max = mode == "max";
  ValueId value;
  for_each_choice(samples.taps, [&](const std::vector<Tap>& chosen) {
    const ValueId term = weighted(c, x, leading, chosen);
    value = value.valid() ? c.scalar(is_max ? Op::max_ : Op::add_, {value, term}) : term;
  });
  value = c.scalar(Op::select_, {samples.is_there, value, c.literal(wide, 0)});
  if (is_max) {
    value = c.scalar(Op::select_, {samples.counts, value, c.literal(wide, -std::numeric_limits<double>::infinity())});
    const ValueId most = c.b.reduce(Fold::max, value, {4, 5}, wide);  // of no samples 0
    return c.out(c.b.cast(c.scalar(Op::select_, {c.with(Op::gt_, samples.total, 0), most, c.literal(wide, 0)}), dtype));
  }
  value = c.scalar(Op::select_, {samples.counts, value, c.literal(wide, 0)});
  const ValueId sum = c.b.reduce(Fold::add, value, {4, 5}, wide);
  c.out(c.b.cast(c.scalar(Op::div_, {sum, c.with(Op::max_, samples.total, 1)}), dtype));
}

/// The places of all windows of axis `axis`, each moved by its offset: [batch, offset groups, 1, kernel, counts].
Sampled moved_places(Call& c, const Windows& windows, std::size_t axis, ValueId offsets) {
  const std::size_t rank = windows.size();
  const std::vector<Dim> dims = c.type(offsets).dims;  // [batch, offset groups, kernel, axes, counts]
  std::vector<IndexItem> index = whole(dims);
  index[2 + rank] = IndexItem::at(static_cast<int64_t>(axis));
  const std::vector<Dim> read = joined(kernels_of(windows), counts_of(windows));
  const ValueId offset = c.b.reshape(c.b.slice(offsets, std::move(index)), joined({dims[0], dims[1], 1}, read));
  std::vector<Dim> beside = ones(3 + 2 * rank);
  beside[3 + axis] = windows[axis].kernel;
  beside[3 + rank + axis] = windows[axis].count;
  const ValueId places = c.b.reshape(places_read(c, windows[axis]), std::move(beside));
  Sampled out{windows[axis].size, {}, true};
  const ValueId moved = c.scalar(Op::add_, {c.b.cast(places, c.type(offsets).dtype), offset});
  out.places = brought_near(c, moved, out, Outside::zeros);
  return out;
}

/// A convolution whose windows read each place where an offset moves it, between the elements.
void deform_conv(Call& c) {
  check_convolution(c);
  const std::vector<Dim> dims = c.dims(0), weights = c.dims(1);
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  const int64_t groups = c.integer("group", 1), offset_groups = c.integer("offset_group", 1);
  const Windows windows = windows_of(c, spatial(c, c.in(0)), spatial(c, c.in(1)));
  const std::vector<Dim> kernel = kernels_of(windows), counts = counts_of(windows), read = joined(kernel, counts);
  const Dim each = floor_div(dims[1], offset_groups);
  const std::size_t rank = windows.size(), all = 3 + 2 * rank;
  const std::vector<Dim> by_axis = joined(joined({dims[0], offset_groups}, kernel), {static_cast<int64_t>(rank)});
  const ValueId offsets = c.b.reshape(c.b.cast(c.in(2), wide), joined(by_axis, counts));
  std::vector<Sampled> axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(moved_places(c, windows, i, offsets));
  const ValueId x = c.b.reshape(c.b.cast(c.in(0), wide), joined({dims[0], offset_groups, each}, spatial(c, c.in(0))));
  const std::vector<ValueId> leading = {along(c, c.b.iota(dims[0], DType::i64), 0, all),
                                        along(c, c.b.iota(offset_groups, DType::i64), 1, all),
                                        along(c, c.b.iota(each, DType::i64), 2, all)};
  ValueId values = sampled(c, x, leading, axes, Filter::linear, Outside::zeros);
  if (const auto mask = c.maybe(4)) {
    const ValueId share = c.b.reshape(c.b.cast(*mask, wide), joined({dims[0], offset_groups, 1}, read));
    values = c.scalar(Op::mul_, {values, share});
  }
  const Dim depth = weights[1] * product(kernel), places = product(counts), out = floor_div(weights[0], groups);
  const ValueId products = linalg::matmul(c.b, c.b.reshape(c.b.cast(c.in(1), wide), {groups, out, depth}),
                                          c.b.reshape(values, {dims[0], groups, depth, places}));
  const ValueId y = c.b.reshape(products, joined({dims[0], weights[0]}, counts));
  c.out(c.b.cast(with_bias(c, y, 3), dtype));
}

constexpr OpRow kOps[] = {
    {"AffineGrid", affine_grid},
    {"DeformConv", deform_conv},
    {"GridSample", grid_sample},
    {"RoiAlign", roi_align},
};

}  // namespace

std::span<const OpRow> sample_ops() { return kOps; }

}  // namespace inlay::onnx
