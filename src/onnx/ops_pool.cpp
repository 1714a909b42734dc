// Pools: windows of the data, folded.
#include <cmath>
#include <limits>

#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "onnx/windows.h"

namespace inlay::onnx {
namespace {

constexpr std::size_t kSpatial = 2;  // the axes before are the batch and the channels

std::vector<Dim> pooled_dims(Call& c) {
  std::vector<Dim> dims = c.dims(0);
  if (dims.size() <= kSpatial) throw c.wrong(str("its data has ", dims.size(), " axes, and no place for a window"));
  return dims;
}

Windows pool_windows(Call& c) {
  const std::vector<Dim> dims = pooled_dims(c);
  const auto kernel = c.integers("kernel_shape");
  if (!kernel) throw c.wrong("it has no kernel_shape");
  const std::vector<Dim> sizes(kernel->begin(), kernel->end());
  return windows_of(c, {dims.begin() + kSpatial, dims.end()}, sizes, c.flag("ceil_mode"));
}

std::vector<int64_t> spatial_axes(Call& c) {
  std::vector<int64_t> axes;
  for (int axis = kSpatial; axis < c.rank(0); ++axis) axes.push_back(axis);
  return axes;
}

/// What no element of the dtype is below.
Literal lowest(Call& c, DType dtype) {
  if (is_float(dtype)) return Literal::of(dtype, -std::numeric_limits<double>::infinity());
  if (dtype == DType::i8) return Literal::of(dtype, std::numeric_limits<int8_t>::lowest());
  if (dtype == DType::u8) return Literal::of(dtype, 0);
  throw c.unsupported("a maximum of other elements than floats, i8 and u8");
}

ValueId i64(Call& c, int64_t number) { return c.b.literal(Literal::of_integer(DType::i64, number)); }

/// `vector` [kernel, count] of spatial axis `axis` as [kernels..., counts...], with ones elsewhere.
ValueId by_tap(Call& c, ValueId vector, std::size_t axis, std::size_t rank) {
  std::vector<Dim> dims(2 * rank, Dim(1));
  dims[axis] = c.type(vector).dims[0];
  dims[rank + axis] = c.type(vector).dims[1];
  return c.b.reshape(vector, std::move(dims));
}

/// The numbers of what windows read, row-major within one channel: i64[kernels..., counts...]. Padding has the largest.
ValueId numbers_read(Call& c, const Windows& windows) {
  ValueId number = i64(c, 0), is_within = c.b.literal(Literal::of_integer(DType::boolean, 1));
  for (std::size_t axis = 0; axis < windows.size(); ++axis) {
    const ValueId place = by_tap(c, places_read(c, windows[axis]), axis, windows.size());
    const ValueId size = c.b.size(windows[axis].size);
    number = c.scalar(ScalarOp::add_, {c.scalar(ScalarOp::mul_, {number, size}), place});
    const ValueId here =
        c.scalar(ScalarOp::and_, {c.with(ScalarOp::ge_, place, 0), c.scalar(ScalarOp::lt_, {place, size})});
    is_within = c.scalar(ScalarOp::and_, {is_within, here});
  }
  return c.scalar(ScalarOp::select_, {is_within, number, i64(c, std::numeric_limits<int64_t>::max())});
}

/// The row-major number of an element within its channel as the column-major one.
ValueId column_major(Call& c, ValueId number, const Windows& windows) {
  ValueId result = i64(c, 0), factor = i64(c, 1), left = number;
  std::vector<ValueId> places(windows.size());
  for (std::size_t axis = windows.size(); axis-- > 0;) {
    const ValueId size = c.b.size(windows[axis].size);
    places[axis] = c.scalar(ScalarOp::mod_, {left, size});
    left = c.scalar(ScalarOp::floor_div_, {left, size});
  }
  for (std::size_t axis = 0; axis < windows.size(); ++axis) {
    result = c.scalar(ScalarOp::add_, {result, c.scalar(ScalarOp::mul_, {places[axis], factor})});
    factor = c.scalar(ScalarOp::mul_, {factor, c.b.size(windows[axis].size)});
  }
  return result;
}

/// The maximum of each window, and its number in the whole array.
void max_and_places(Call& c, ValueId x, const Windows& windows) {
  const std::vector<Dim> dims = c.dims(0);
  const ValueId read = gathered(c, x, windows);
  std::vector<int> axes;
  for (std::size_t i = 0; i < windows.size(); ++i) axes.push_back(static_cast<int>(kSpatial + i));
  const ValueId numbers = c.b.broadcast(numbers_read(c, windows), c.type(read).dims);
  const std::vector<ValueId> found = c.b.reduce(Fold::argmax, {numbers, read}, axes, DType::i64);
  ValueId number = c.integer("storage_order", 0) == 0 ? found[0] : column_major(c, found[0], windows);
  Dim channel_size = 1;
  for (const WindowAxis& axis : windows) channel_size = channel_size * axis.size;
  std::vector<Dim> per_channel = {dims[0], dims[1]};
  per_channel.resize(dims.size(), Dim(1));
  const ValueId channel = c.b.reshape(c.b.iota(dims[0] * dims[1], DType::i64), std::move(per_channel));
  number = c.scalar(ScalarOp::add_, {number, c.scalar(ScalarOp::mul_, {channel, c.b.size(channel_size)})});
  c.out(0, found[1]);
  c.out(1, number);
}

void max_pool(Call& c) {
  const Windows windows = pool_windows(c);
  const ValueId x = padded(c, c.in(0), windows, lowest(c, c.dtype(0)));
  if (c.wants(1)) return max_and_places(c, x, windows);
  c.out(folded(c, x, windows, Fold::max, ScalarOp::max_));
}

DType summed_in(DType dtype) { return is_float(dtype) ? accumulator_of(dtype) : dtype; }

/// How many elements each window has: the product over its axes.
ValueId counts(Call& c, const Windows& windows, DType dtype, bool with_padding) {
  ValueId product = c.literal(dtype, 1);
  for (std::size_t axis = 0; axis < windows.size(); ++axis) {
    const WindowAxis& window = windows[axis];
    const Dim given = with_padding ? window.after : Dim(0);
    const bool all_within = window.behind == given && (with_padding || window.before.is(0));
    ValueId count = all_within ? c.b.size(window.kernel) : places_within(c, window, with_padding);
    if (!all_within) {
      std::vector<Dim> dims(windows.size(), Dim(1));
      dims[axis] = window.count;
      count = c.b.reshape(count, std::move(dims));
    }
    product = c.scalar(ScalarOp::mul_, {product, c.b.cast(count, dtype)});
  }
  return product;
}

void average_pool(Call& c) {
  const DType dtype = c.dtype(0), wide = summed_in(dtype);
  const Windows windows = pool_windows(c);
  const ValueId x = padded(c, c.b.cast(c.in(0), wide), windows, Literal::of(wide, 0));
  const ValueId sum = folded(c, x, windows, Fold::add, ScalarOp::add_);
  const ValueId count = counts(c, windows, wide, c.flag("count_include_pad"));
  c.out(c.b.cast(c.scalar(ScalarOp::div_, {sum, count}), dtype));
}

/// |x| ** p, and the root of a sum of them.
ValueId power(Call& c, ValueId x, int64_t p) {
  if (p == 1) return c.scalar(ScalarOp::abs_, {x});
  if (p == 2) return c.scalar(ScalarOp::square_, {x});
  return c.with(ScalarOp::pow_, c.scalar(ScalarOp::abs_, {x}), static_cast<double>(p));
}
ValueId root(Call& c, ValueId x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return c.scalar(ScalarOp::sqrt_, {x});
  return c.with(ScalarOp::pow_, x, 1.0 / static_cast<double>(p));
}

int64_t norm_order(Call& c) {
  const int64_t p = c.integer("p", 2);
  if (p < 1) throw c.wrong(str("a norm of order ", p));
  return p;
}

void lp_pool(Call& c) {
  const DType dtype = c.dtype(0), wide = summed_in(dtype);
  const Windows windows = pool_windows(c);
  const int64_t p = norm_order(c);
  const ValueId x = padded(c, power(c, c.b.cast(c.in(0), wide), p), windows, Literal::of(wide, 0));
  c.out(c.b.cast(root(c, folded(c, x, windows, Fold::add, ScalarOp::add_), p), dtype));
}

void global_average_pool(Call& c) {
  const DType dtype = c.dtype(0);
  const ValueId x = c.b.cast(c.in(0), computed_in(dtype));
  c.out(c.b.cast(mean_of(c, x, axes_from(kSpatial, c.rank(0)), Keep::yes), dtype));
}

void global_max_pool(Call& c) {
  c.out(reduce(c.b, Fold::max, c.in(0), spatial_axes(c), c.dtype(0), Keep::yes, c.node.op));
}

void global_lp_pool(Call& c) {
  const DType dtype = c.dtype(0), wide = summed_in(dtype);
  const int64_t p = norm_order(c);
  const ValueId total = sum(c.b, power(c, c.b.cast(c.in(0), wide), p), spatial_axes(c), Keep::yes);
  c.out(c.b.cast(root(c, total, p), dtype));
}

/// The shape before the pool; where it is given, the elements stand in its first corner.
void max_unpool(Call& c) {
  const std::vector<Dim> dims = pooled_dims(c);
  const std::size_t rank = dims.size() - kSpatial;
  const auto kernel = numbers_of_axes(c, "kernel_shape", rank, 1), strides = numbers_of_axes(c, "strides", rank, 1),
             pads = numbers_of_axes(c, "pads", 2 * rank, 0);
  std::vector<Dim> shape = {dims[0], dims[1]};
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back((dims[kSpatial + i] - 1) * strides[i] - (pads[i] + pads[rank + i]) + kernel[i]);
  }
  const ValueId zero = c.literal(c.dtype(0), 0);
  const Dim count = product(dims);
  const ValueId places = c.b.reshape(c.in(1), {count});
  ValueId y = c.b.scatter(Combine::set, full(c.b, zero, {product(shape)}), {IndexItem::through(places)},
                          c.b.reshape(c.in(0), {count}));
  y = c.b.reshape(y, shape);
  if (c.has(2)) {
    std::vector<Dim> behind;
    const std::vector<Dim> wanted = c.sizes(2);
    if (wanted.size() != shape.size()) throw c.wrong("its output_shape is not of the rank of the data");
    for (std::size_t i = 0; i < shape.size(); ++i) behind.push_back(wanted[i] - shape[i]);
    y = pad(c.b, y, std::vector<Dim>(shape.size(), Dim(0)), behind, PadMode::constant, zero);
  }
  c.out(y);
}

constexpr OpRow kOps[] = {
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalLpPool", global_lp_pool},
    {"GlobalMaxPool", global_max_pool},
    {"LpPool", lp_pool},
    {"MaxPool", max_pool},
    {"MaxUnpool", max_unpool},
};

}  // namespace

std::span<const OpRow> pool_ops() { return kOps; }

}  // namespace inlay::onnx
