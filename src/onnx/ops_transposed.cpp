// Transposed convolutions: each element of the data adds a kernel to the result. Each element of the result gathers
// what is added to it, so that nothing is scattered.
#include <algorithm>
#include <functional>

#include "ir/linalg.h"
#include "onnx/convolution.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"
#include "onnx/windows.h"

namespace inlay::onnx {
namespace {

/// An axis of a transposed convolution: element o of the result is of f = o + before, and takes place i of the data
/// times place t of the kernel where i * stride + t * dilation = f.
struct SpreadAxis {
  /// Elements q * stride + r of the result, from <= r < to, that take the same places of the data: for each of `taps`
  /// place q + shift, times place kernel + r - from of the kernel.
  struct Part {
    struct Tap {
      int64_t kernel = 0, shift = 0;
    };
    int64_t from = 0, to = 0;
    std::vector<Tap> taps;

    bool goes_on_as(const Part& next) const {
      if (taps.size() != next.taps.size()) return false;
      for (std::size_t i = 0; i < taps.size(); ++i) {
        if (taps[i].shift != next.taps[i].shift || taps[i].kernel + (to - from) != next.taps[i].kernel) return false;
      }
      return true;
    }
  };
  Dim size;
  int64_t kernel = 1, stride = 1, dilation = 1;
  Dim out, skipped;  // elements of the result, and those before it that are computed and cut off
  int64_t before = 0;
  std::vector<Part> parts;
  Dim steps;        // of q
  int64_t low = 0;  // how many zeros the data needs before it
  Dim high;         // and behind it
};

void find_parts(Call& c, SpreadAxis& axis) {
  using Part = SpreadAxis::Part;
  constexpr int64_t kMostSteps = 1 << 20;  // each place of the kernel is looked at for each place of a stride
  if (axis.kernel < 1) throw c.wrong(str("a kernel of ", axis.kernel, " places"));
  if (axis.kernel > kMostSteps || axis.stride > kMostSteps / axis.kernel) {
    throw c.unsupported(str("a kernel of ", axis.kernel, " places at a stride of ", axis.stride));
  }
  int64_t most = 0;
  for (int64_t r = 0; r < axis.stride; ++r) {
    Part part{r, r + 1, {}};
    for (int64_t t = 0; t < axis.kernel; ++t) {
      const int64_t place = r + axis.before - t * axis.dilation;
      if (place % axis.stride == 0) part.taps.push_back({t, place / axis.stride});
    }
    for (const Part::Tap& tap : part.taps) {
      axis.low = std::max(axis.low, -tap.shift);
      most = std::max(most, tap.shift);
    }
    if (!axis.parts.empty() && axis.parts.back().goes_on_as(part)) {
      axis.parts.back().to = part.to;
    } else {
      axis.parts.push_back(std::move(part));
    }
  }
  axis.steps = ceil_div(axis.skipped + axis.out, axis.stride);
  axis.high = max(axis.steps + most - axis.size, 0);
}

/// The padding is what the attributes say, or what makes the result as long as they say.
std::vector<SpreadAxis> spread_axes(Call& c, const std::vector<Dim>& dims, const std::vector<Dim>& kernel) {
  const std::size_t rank = dims.size();
  const auto strides = numbers_of_axes(c, "strides", rank, 1), dilations = numbers_of_axes(c, "dilations", rank, 1),
             more = numbers_of_axes(c, "output_padding", rank, 0), shape = numbers_of_axes(c, "output_shape", rank, -1);
  const AutoPad how = auto_pad(c);
  const auto pads = how.is_same ? std::vector<int64_t>(2 * rank, 0) : numbers_of_axes(c, "pads", 2 * rank, 0);
  std::vector<SpreadAxis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!kernel[i].is_constant()) throw c.unsupported("a kernel whose size is known only when the network runs");
    if (strides[i] < 1 || dilations[i] < 1) throw c.wrong("a stride or a dilation below 1");
    SpreadAxis axis;
    axis.size = dims[i];
    axis.kernel = kernel[i].constant();
    axis.stride = strides[i];
    axis.dilation = dilations[i];
    const Dim full = (dims[i] - 1) * strides[i] + more[i] + (axis.kernel - 1) * axis.dilation + 1;
    Dim before = pads[i];
    if (shape[i] < 0 && !how.is_same) {
      axis.out = full - (pads[i] + pads[rank + i]);
    } else {
      axis.out = shape[i] >= 0 ? Dim(shape[i]) : dims[i] * strides[i];
      const Dim total = max(full - axis.out, 0), less = floor_div(total, 2);
      before = how.is_same && !how.more_before ? less : total - less;
    }
    if (before.is_constant()) {
      axis.before = before.constant();
    } else {
      axis.skipped = before;
    }
    c.b.require(
        0, axis.out, [&] { return str(c.node.op, ": axis ", i, " of the result has {1} elements, less than {0}"); },
        {{"data", c.in(0)}}, ErrorCode::slice_out_of_range, DimCheck::Relation::at_most);
    find_parts(c, axis);
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// One value for each choice of one of `counts[i]` for each axis, in row-major order, joined by `join(values, axis)`.
ValueId joined_choices(const std::vector<std::size_t>& counts, std::vector<std::size_t>& chosen,
                       const std::function<ValueId(const std::vector<std::size_t>&)>& make,
                       const std::function<ValueId(std::vector<ValueId>, std::size_t)>& join) {
  const std::size_t axis = chosen.size();
  if (axis == counts.size()) return make(chosen);
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < counts[axis]; ++i) {
    chosen.push_back(i);
    values.push_back(joined_choices(counts, chosen, make, join));
    chosen.pop_back();
  }
  return join(std::move(values), axis);
}

/// The data times the kernel, not added up yet: [batch, groups, out of a group, kernel, places].
ValueId spread_products(Call& c, ValueId x, ValueId weights, int64_t groups, const std::vector<SpreadAxis>& axes) {
  const std::size_t rank = axes.size();
  const std::vector<Dim> dims = c.type(x).dims, kernel = spatial(c, weights), places = spatial(c, x);
  const Dim& batch = dims[0];
  const Dim each = c.type(weights).dims[1], channels = floor_div(c.type(weights).dims[0], groups);
  if (channels.is(1) && groups > 1) {
    const ValueId data = c.b.reshape(x, joined(joined({batch, groups, 1}, ones(rank)), places));
    return c.scalar(ScalarOp::mul_, {data, c.b.reshape(weights, joined(joined({groups, each}, kernel), ones(rank)))});
  }
  ValueId data = x, by_channel = weights;
  if (groups == 1) {
    data = c.b.reshape(x, {batch, channels, product(places)});
    by_channel = c.b.reshape(weights, {channels, each * product(kernel)});
  } else {
    data = c.b.reshape(x, {batch, groups, channels, product(places)});
    by_channel = c.b.reshape(weights, {groups, channels, each * product(kernel)});
  }
  const ValueId products = linalg::matmul(c.b, linalg::swapped(c.b, by_channel), data);
  return c.b.reshape(products, joined(joined({batch, groups, each}, kernel), places));
}

/// What one choice of parts takes of the products, summed: [batch, groups, out of a group, q, r, q, r, ...].
ValueId sum_of_taps(Call& c, ValueId products, const std::vector<SpreadAxis>& axes,
                    const std::vector<std::size_t>& chosen) {
  const std::vector<Dim> dims = c.type(products).dims;
  const std::size_t rank = axes.size();
  std::vector<IndexItem> index;
  for (std::size_t i = 0; i < 3; ++i) index.push_back(IndexItem::range(0, dims[i]));
  index.resize(3 + 2 * rank);
  ValueId sum;
  const auto add = [&](const auto& self, std::size_t axis) -> void {
    if (axis == rank) {
      const ValueId term = c.b.slice(products, index);
      sum = sum.valid() ? c.scalar(ScalarOp::add_, {sum, term}) : term;
      return;
    }
    const SpreadAxis::Part& part = axes[axis].parts[chosen[axis]];
    for (const SpreadAxis::Part::Tap& tap : part.taps) {
      const Dim start = tap.shift + axes[axis].low;
      index[3 + axis] = IndexItem::range(tap.kernel, tap.kernel + part.to - part.from);
      index[3 + rank + axis] = IndexItem::range(start, start + axes[axis].steps);
      self(self, axis + 1);
    }
  };
  add(add, 0);
  std::vector<Dim> shape(dims.begin(), dims.begin() + 3);
  std::vector<int> order = {0, 1, 2};
  for (std::size_t i = 0; i < rank; ++i) {
    const SpreadAxis::Part& part = axes[i].parts[chosen[i]];
    shape.insert(shape.end(), {axes[i].steps, Dim(part.to - part.from)});
    order.insert(order.end(), {static_cast<int>(3 + rank + i), static_cast<int>(3 + i)});
  }
  if (!sum.valid()) return full(c.b, c.literal(c.type(products).dtype, 0), std::move(shape));
  return c.b.transpose(sum, std::move(order));
}

constexpr int64_t kMostTaps = 4096;

void check_taps(Call& c, const std::vector<SpreadAxis>& axes) {
  int64_t count = 1;
  for (const SpreadAxis& axis : axes) {
    std::size_t here = 0;
    for (const SpreadAxis::Part& part : axis.parts) here += std::max<std::size_t>(part.taps.size(), 1);
    count *= static_cast<int64_t>(here);
    if (count > kMostTaps) throw c.unsupported("a kernel with more than 4096 places that overlap in different ways");
  }
}

/// The zeros that the data needs around it.
Windows room_of(const std::vector<SpreadAxis>& axes) {
  Windows room;
  for (const SpreadAxis& axis : axes) {
    room.push_back({.size = axis.size, .kernel = 1, .before = axis.low, .after = 0, .behind = axis.high, .count = 1});
  }
  return room;
}

/// The result of the products: [batch, groups * out of a group, places].
ValueId spread(Call& c, ValueId products, const std::vector<SpreadAxis>& axes) {
  const std::vector<Dim> dims = c.type(products).dims;
  std::vector<std::size_t> counts, chosen;
  std::vector<Dim> shape = {dims[0], dims[1] * dims[2]};
  std::vector<IndexItem> kept = {IndexItem::range(0, shape[0]), IndexItem::range(0, shape[1])};
  for (const SpreadAxis& axis : axes) {
    counts.push_back(axis.parts.size());
    shape.push_back(axis.steps * axis.stride);
    kept.push_back(IndexItem::range(axis.skipped, axis.skipped + axis.out));
  }
  const ValueId parts = joined_choices(
      counts, chosen, [&](const auto& choice) { return sum_of_taps(c, products, axes, choice); },
      [&](std::vector<ValueId> values, std::size_t axis) {
        return values.size() == 1 ? values[0] : c.b.concat(std::move(values), static_cast<int>(4 + 2 * axis));
      });
  return c.b.slice(c.b.reshape(parts, std::move(shape)), std::move(kept));
}

/// One product of all data and weights; each element of the result is a sum of a few of its elements. Nothing is
/// scattered, and no zeros stand between the data.
void conv_transpose(Call& c) {
  check_convolution(c);
  const DType dtype = c.dtype(0), wide = computed_in(dtype);
  const ValueId x = c.b.cast(c.in(0), wide), weights = c.b.cast(c.in(1), wide);
  const std::vector<Dim> dims = c.type(x).dims;
  const int64_t groups = c.integer("group", 1);
  const std::vector<SpreadAxis> axes = spread_axes(c, spatial(c, x), spatial(c, weights));
  check_taps(c, axes);
  c.b.require(c.type(weights).dims[0], dims[1],
              [&] { return str(c.node.op, ": the weights are for {0} channels, and the data has {1}"); },
              {{"data", x}, {"weights", weights}});
  const ValueId room = padded(c, x, room_of(axes), Literal::of(wide, 0));
  const ValueId y = spread(c, spread_products(c, room, weights, groups, axes), axes);
  c.out(c.b.cast(with_bias(c, y, 2), dtype));
}

/// Blocks [batch, channels * block, blocks] added up where they lie in an image: what a transposed convolution does
/// with its products.
void col2im(Call& c) {
  const std::vector<Dim> image = c.sizes(1), dims = c.dims(0, 3);
  const std::vector<int64_t> block = c.constants(2);
  const std::size_t rank = block.size();
  if (image.size() != rank) throw c.wrong("the image and the block are not of one rank");
  const std::vector<Dim> kernel(block.begin(), block.end());
  const Windows windows = windows_of(c, image, kernel);
  std::vector<SpreadAxis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    SpreadAxis axis;
    axis.size = windows[i].count;
    axis.kernel = block[i];
    axis.stride = windows[i].stride;
    axis.dilation = windows[i].dilation;
    axis.before = windows[i].before.constant();
    axis.out = image[i];
    find_parts(c, axis);
    axes.push_back(std::move(axis));
  }
  check_taps(c, axes);
  const Dim channels = floor_div(dims[1], product(kernel));
  const ValueId blocks = c.b.reshape(c.in(0), joined(joined({dims[0], 1, channels}, kernel), counts_of(windows)));
  c.out(spread(c, padded(c, blocks, room_of(axes), Literal::of(c.dtype(0), 0)), axes));
}

constexpr OpRow kOps[] = {
    {"Col2Im", col2im},
    {"ConvTranspose", conv_transpose},
};

}  // namespace

std::span<const OpRow> transposed_ops() { return kOps; }

}  // namespace inlay::onnx
