// Convolutions: windows of the data times weights, summed.
#include <algorithm>

#include "ir/compose_shape.h"
#include "ir/linalg.h"
#include "onnx/body.h"
#include "onnx/convolution.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "onnx/quantised.h"
#include "onnx/reduce.h"
#include "onnx/window_lines.h"
#include "onnx/windows.h"

namespace inlay::onnx {
namespace {

/// The operands of a convolution, of one dtype that sums are computed in.
struct Convolution {
  ValueId x, weights;  // [batch, channels, spatial], [out, channels / groups, kernel]
  int64_t groups = 1;
  Windows windows;

  Dim batch, channels, out;  // channels: of one group
};

/// x as [batch, groups, channels of one, ...].
ValueId by_group(Call& c, ValueId x, int64_t groups, const Dim& channels) {
  std::vector<Dim> dims = c.type(x).dims;
  dims[1] = channels;
  dims.insert(dims.begin() + 1, Dim(groups));
  return c.b.reshape(x, std::move(dims));
}

/// The sum over the window of each place, which is read where it lies.
ValueId by_sums(Call& c, const Convolution& conv, ValueId x) {
  const std::size_t rank = conv.windows.size();
  const std::vector<Dim> kernel = kernels_of(conv.windows), counts = counts_of(conv.windows);
  const Dim groups = conv.groups, each = floor_div(conv.out, conv.groups);
  const ValueId windows = gathered(c, by_group(c, x, conv.groups, conv.channels), conv.windows);
  const ValueId beside = c.b.reshape(conv.weights, joined({groups, each, conv.channels}, joined(kernel, ones(rank))));
  const ValueId of_each = c.b.reshape(windows, joined({conv.batch, groups, 1, conv.channels}, joined(kernel, counts)));
  const ValueId terms = c.scalar(ScalarOp::mul_, {of_each, beside});
  const ValueId sums = c.b.reduce(Fold::add, terms, axes_from(3, static_cast<int>(4 + rank)), c.type(terms).dtype);
  return c.b.reshape(sums, joined({conv.batch, conv.out}, counts));
}

/// The sum over a window's places of what `read` says of a place, times the weight there.
template <typename Read>
ValueId sum_of_taps(Call& c, const Convolution& conv, const std::vector<std::vector<int64_t>>& taps, Read read) {
  const std::size_t rank = conv.windows.size();
  const Dim groups = conv.groups, each = floor_div(conv.out, conv.groups);
  const ValueId weights = c.b.reshape(conv.weights, joined({groups, each}, kernels_of(conv.windows)));
  const auto weight_at = [&](const std::vector<int64_t>& place) {
    std::vector<IndexItem> index = {IndexItem::range(0, groups), IndexItem::range(0, each)};
    for (int64_t at : place) index.push_back(IndexItem::at(at));
    return c.b.reshape(c.b.slice(weights, std::move(index)), joined({groups, each}, ones(rank)));
  };
  ValueId sum;
  for (const auto& place : taps) {
    const ValueId term = c.scalar(ScalarOp::mul_, {read(place), weight_at(place)});
    sum = sum.valid() ? c.scalar(ScalarOp::add_, {sum, term}) : term;
  }
  return c.b.reshape(sum, joined({conv.batch, conv.out}, counts_of(conv.windows)));
}

/// One channel in each group: products of what all windows read at a place of theirs where the kernel is small, else a
/// loop over it. No window is stored.
ValueId depthwise(Call& c, const Convolution& conv) {
  const auto taps = few_taps(conv.windows, kFewTaps);
  if (taps && !taps->empty() && WindowLines::fit(conv.windows)) {
    WindowLines lines(c, by_group(c, conv.x, conv.groups, 1), conv.windows);
    return sum_of_taps(c, conv, *taps, [&](const std::vector<int64_t>& place) { return lines.tap(place); });
  }
  const ValueId x = padded(c, conv.x, conv.windows, Literal::of(c.type(conv.x).dtype, 0));
  if (!taps || taps->empty()) return by_sums(c, conv, x);
  const ValueId data = by_group(c, x, conv.groups, 1);
  return sum_of_taps(c, conv, *taps,
                     [&](const std::vector<int64_t>& place) { return tap(c, data, conv.windows, place); });
}

/// The rows of x along axis `at` that `axis`, its windows, read from window `first` on, with zeros beyond x: x with
/// `count` rows.
ValueId rows_read(const Call& c, GraphBuilder& b, ValueId x, std::size_t at, const WindowAxis& axis, ValueId first,
                  const Dim& count) {
  const auto op = [&](ScalarOp op, ValueId left, ValueId right) { return b.scalar(op, {left, right}); };
  const auto number = [&](int64_t value) { return b.literal(Literal::of_integer(DType::i64, value)); };
  const std::vector<Dim> dims = b.type(x).dims;
  const ValueId begin = op(ScalarOp::sub_, op(ScalarOp::mul_, first, number(axis.stride)), b.size(axis.before));
  const ValueId places = op(ScalarOp::add_, b.iota(count, DType::i64), begin);
  const ValueId within = op(ScalarOp::min_, op(ScalarOp::max_, places, number(0)), b.size(dims[at] - 1));
  std::vector<IndexItem> index = whole(dims);
  index[at] = IndexItem::through(within);
  const ValueId rows = b.gather(x, std::move(index), c.node.op);
  if (axis.before.is(0) && axis.behind.is(0)) return rows;
  const ValueId are_there = b.reshape(op(ScalarOp::eq_, places, within), joined({count}, ones(dims.size() - at - 1)));
  return b.scalar(ScalarOp::select_, {are_there, rows, b.literal(Literal::of(b.type(x).dtype, 0))});
}

/// Places of the result that a product has at least where that is known: of fewer, it reads the weights too often.
constexpr int64_t kLong = 64;

/// The axis of the windows whose places are the rows of the result: the first, or the first behind axes of one place,
/// so that an image that is a single frame goes by its own rows. Never the last, whose neighbours lie side by side.
std::size_t rows_axis(const Convolution& conv) {
  const auto is_one = [](const WindowAxis& axis) { return axis.kernel.is(1) && axis.count.is(1); };
  const auto last = conv.windows.end() - 1, found = std::find_if_not(conv.windows.begin(), last, is_one);
  return found == last ? 0 : static_cast<std::size_t>(found - conv.windows.begin());
}

/// How many places a row has.
Dim row_of(const Convolution& conv) {
  Dim row = 1;
  for (std::size_t i = 0; i < conv.windows.size(); ++i) {
    if (i != rows_axis(conv)) row = row * conv.windows[i].count;
  }
  return row;
}

/// Are a few rows of the result a product of their own? Then only their windows are in memory, and lie close together:
/// of 96 channels of 160 x 160 one product of all takes twice as long, of 128 of 20 x 20 a third less.
bool is_by_rows(const Convolution& conv) {
  if (conv.groups != 1 || conv.windows.size() < 2) return false;
  const Dim row = row_of(conv);
  return !row.is_constant() || row.constant() >= kLong;
}

/// The rows of the result in blocks of one size, of which the last one begins where it ends with the last row.
struct RowBlocks {
  Dim rows, size, count;

  explicit RowBlocks(const Convolution& conv) : rows(conv.windows[rows_axis(conv)].count) {
    const Dim row = row_of(conv);
    const bool is_long = row.is_constant() && row.constant() >= kLong;
    size = is_long ? Dim(1) : max(min(floor_div(Dim(kLong - 1), max(row, 1)) + 1, rows), 1);
    count = floor_div(rows + size - 1, size);
  }
  ValueId first(GraphBuilder& b, ValueId block) const {
    if (size.is(1)) return block;
    const ValueId begin = b.scalar(ScalarOp::mul_, {block, b.size(size)});
    return b.scalar(ScalarOp::min_, {begin, b.size(rows - size)});
  }
};

/// made: [blocks, batch, out, ..., rows of a block, ...], with the blocks' rows in axis `at` behind them, as
/// [batch, out, ..., rows, ...].
ValueId rows_of_blocks(Call& c, const RowBlocks& blocks, ValueId made, int at) {
  std::vector<Dim> dims = c.type(made).dims;
  if (blocks.size.is(1)) {
    dims.erase(dims.begin() + at + 1);
    return move_axis(c.b, c.b.reshape(made, std::move(dims)), 0, at);
  }
  const ValueId row = c.b.iota(blocks.rows, DType::i64);
  const ValueId block = c.scalar(ScalarOp::floor_div_, {row, c.b.size(blocks.size)});
  const ValueId within = c.scalar(ScalarOp::sub_, {row, blocks.first(c.b, block)});
  std::vector<IndexItem> index = whole(dims);
  index[0] = IndexItem::through(block);
  index[static_cast<std::size_t>(at) + 1] = IndexItem::through(within);
  return move_axis(c.b, c.b.gather(made, std::move(index), c.node.op), 0, at);
}

/// A loop over blocks of rows of the result.
ValueId by_rows(Call& c, const Convolution& conv) {
  const Dim depth = conv.channels * product(kernels_of(conv.windows));
  const RowBlocks blocks(conv);
  const std::size_t axis = rows_axis(conv), at = 2 + axis;
  Windows windows = conv.windows;
  WindowAxis& along = windows[axis];
  along.count = blocks.size;
  along.size = (blocks.size - 1) * along.stride + along.reach();
  Body body(c.scope);
  Call within(c.importer, body.scope, c.node, c.version);
  const ValueId block = body.b.step("block", blocks.count);
  const ValueId x = body.bring(conv.x), weights = body.bring(conv.weights);
  const ValueId rows = rows_read(c, body.b, x, at, along, blocks.first(body.b, block), along.size);
  along.before = along.after = along.behind = 0;
  const ValueId room = padded(within, rows, windows, Literal::of(body.b.type(x).dtype, 0));
  const std::vector<Dim> counts = counts_of(windows);
  body.b.output(linalg::matmul(body.b, body.b.reshape(weights, {conv.out, depth}),
                               body.b.reshape(gathered(within, room, windows), {conv.batch, depth, product(counts)})));
  const std::vector<ValueId> captured = body.frame.captured();
  const ValueId made = c.b.loop(blocks.count, {}, captured, body.finish())[0];
  const ValueId shaped = c.b.reshape(made, joined({blocks.count, conv.batch, conv.out}, counts));
  return rows_of_blocks(c, blocks, shaped, static_cast<int>(at));
}

/// The windows as a matrix, and one product for each group. Of a kernel of one place it is the data as it lies.
ValueId by_matmul(Call& c, const Convolution& conv) {
  const Dim depth = conv.channels * product(kernels_of(conv.windows)), places = product(counts_of(conv.windows));
  const bool is_data = std::ranges::all_of(conv.windows, &WindowAxis::is_place);
  if (!is_data && c.importer.stores_windows() && is_by_rows(conv)) return by_rows(c, conv);
  const ValueId x = padded(c, conv.x, conv.windows, Literal::of(c.type(conv.x).dtype, 0));
  if (!is_data && !c.importer.stores_windows()) return by_sums(c, conv, x);
  const ValueId windows = is_data ? x : gathered(c, x, conv.windows);
  ValueId product;
  if (conv.groups == 1) {
    product = linalg::matmul(c.b, c.b.reshape(conv.weights, {conv.out, depth}),
                             c.b.reshape(windows, {conv.batch, depth, places}));
  } else {
    const Dim each = floor_div(conv.out, conv.groups);
    product = linalg::matmul(c.b, c.b.reshape(conv.weights, {conv.groups, each, depth}),
                             c.b.reshape(windows, {conv.batch, conv.groups, depth, places}));
  }
  return c.b.reshape(product, joined({conv.batch, conv.out}, counts_of(conv.windows)));
}

Convolution convolution_of(Call& c, ValueId x, ValueId weights) {
  const std::vector<Dim> dims = c.type(weights).dims;
  Convolution conv{x, weights, c.integer("group", 1), {}, c.type(x).dims[0], dims[1], dims[0]};
  c.b.require(conv.channels * conv.groups, c.type(x).dims[1],
              [&] { return str(c.node.op, ": the weights are for {0} channels, and the data has {1}"); },
              {{"data", x}, {"weights", weights}});
  if (conv.out.is_constant() && conv.out.constant() % conv.groups != 0) {
    throw c.wrong(str("the ", conv.out.constant(), " channels of the result do not fill ", conv.groups, " groups"));
  }
  conv.windows = windows_of(c, spatial(c, x), spatial(c, weights));
  return conv;
}

ValueId convolved(Call& c, const Convolution& conv) {
  if (conv.groups == 1 || !conv.channels.is(1)) return by_matmul(c, conv);
  return depthwise(c, conv);
}

void conv(Call& c) {
  check_convolution(c);
  const DType dtype = c.dtype(0), wide = convolved_in(dtype);
  const Convolution conv = convolution_of(c, c.b.cast(c.in(0), wide), c.b.cast(c.in(1), wide));
  c.out(c.b.cast(with_bias(c, convolved(c, conv), 2), dtype));
}

/// x less its zero point: one number, or one for each channel of the result.
ValueId less_zero(Call& c, std::size_t input, std::size_t zero, DType wide) {
  const ValueId x = c.b.cast(c.in(input), wide);
  const auto point = c.maybe(zero);
  if (!point) return x;
  ValueId by = c.b.cast(*point, wide);
  if (c.type(by).rank() == 1) {
    const Dim count = c.type(by).dims[0];
    std::vector<Dim> dims = ones(c.type(x).dims.size());
    if (!count.is(1)) dims[0] = count;
    by = c.b.reshape(by, std::move(dims));
  }
  return c.scalar(ScalarOp::sub_, {x, by});
}

/// In how many parts of a group's channels f32 holds the sums of a convolution of integers exactly; 0: it does not.
int64_t exact_parts(Call& c, const Integers& x, const Integers& weights) {
  constexpr int64_t kMostParts = 8;
  const std::vector<Dim> dims = c.type(weights.x).dims;
  const Dim kernel = product(std::span(dims).subspan(2));
  if (!kernel.is_constant() || !dims[1].is_constant()) return 0;
  const int64_t channels = most_exact_terms(c, x, weights) / std::max<int64_t>(kernel.constant(), 1);
  const int64_t parts = channels == 0 ? 0 : (dims[1].constant() + channels - 1) / channels;
  return parts == 1 || (parts <= kMostParts && c.integer("group", 1) == 1) ? parts : 0;
}

Integers integers_of(Call& c, std::size_t input, std::size_t zero) { return {c.in(input), c.maybe(zero)}; }

/// The sums of a convolution of integers, which floats hold exactly: f32, of parts of the channels where there are
/// many, or f64. Where no product is handed to a BLAS, they are sums of i32.
ValueId integer_sums(Call& c, std::size_t x, std::size_t x_zero, std::size_t w, std::size_t w_zero) {
  const auto sums = [&](ValueId data, ValueId weights) {
    return c.b.cast(convolved(c, convolution_of(c, data, weights)), DType::i32);
  };
  const int64_t parts = exact_parts(c, integers_of(c, x, x_zero), integers_of(c, w, w_zero));
  const DType exact = parts == 0 ? DType::f64 : DType::f32, wide = c.importer.stores_windows() ? exact : DType::i32;
  const ValueId data = less_zero(c, x, x_zero, wide), weights = less_zero(c, w, w_zero, wide);
  if (parts <= 1 || wide != DType::f32) return sums(data, weights);
  return sum_of_parts(c, c.dims(w)[1].constant(), parts, [&](int64_t begin, int64_t end) {
    return sums(part_of(c, data, 1, begin, end), part_of(c, weights, 1, begin, end));
  });
}

void conv_integer(Call& c) {
  check_convolution(c);
  c.out(integer_sums(c, 0, 2, 1, 3));
}

/// Numbers of the result's channels (or one for all), beside its other axes.
ValueId by_channel(Call& c, ValueId v, std::size_t rank) {
  if (c.type(v).rank() == 0) return v;
  std::vector<Dim> dims = ones(rank - 1);
  dims[0] = c.type(v).dims[0];
  return c.b.reshape(v, std::move(dims));
}

/// Sums of integers, scaled and rounded to those of the result.
void qlinear_conv(Call& c) {
  check_convolution(c, 3);
  const auto rank = static_cast<std::size_t>(c.rank(0));
  ValueId sums = integer_sums(c, 0, 2, 3, 5);
  if (const auto bias = c.maybe(8)) sums = c.scalar(ScalarOp::add_, {sums, by_channel(c, *bias, rank)});
  const DType scale = c.dtype(1), dtype = c.dtype(7);
  if (dtype != DType::i8 && dtype != DType::u8) throw c.unsupported("a result of other elements than i8 and u8");
  const ValueId one = c.b.reshape(c.in(1), {}), out = c.b.reshape(c.in(6), {});
  const ValueId factor = c.scalar(ScalarOp::div_, {c.scalar(ScalarOp::mul_, {one, by_channel(c, c.in(4), rank)}), out});
  const ValueId scaled = c.scalar(ScalarOp::round_, {c.scalar(ScalarOp::mul_, {c.b.cast(sums, scale), factor})});
  const ValueId shifted = c.scalar(ScalarOp::add_, {scaled, c.b.cast(c.b.reshape(c.in(7), {}), scale)});
  const double low = dtype == DType::i8 ? -128 : 0;
  c.out(c.b.cast(c.with(ScalarOp::min_, c.with(ScalarOp::max_, shifted, low), low + 255), dtype));
}

/// Each channel by itself over what came before: the elements of a state, or zeros.
void causal_conv(Call& c) {
  const std::vector<Dim> dims = c.dims(0), weights = c.dims(1);
  if (dims.size() != 3 || weights.size() != 3) throw c.wrong("its data or its weights have not 3 axes");
  const DType dtype = c.dtype(0), wide = convolved_in(dtype);
  const Dim kept = weights[2] - 1;
  ValueId x = c.in(0);
  if (const auto past = c.maybe(3)) {
    x = c.b.concat({*past, x}, 2);
  } else {
    x = c.b.concat({full(c.b, c.literal(dtype, 0), {dims[0], dims[1], kept}), x}, 2);
  }
  c.out(1, c.b.slice(x, {IndexItem::range(0, dims[0]), IndexItem::range(0, dims[1]),
                         IndexItem::range(dims[2], dims[2] + kept)}));
  if (!dims[1].is_constant() && !weights[0].is_constant())
    throw c.unsupported("a number of channels that is not known");
  Convolution conv{c.b.cast(x, wide), c.b.cast(c.in(1), wide), 1, {}, dims[0], 1, weights[0]};
  conv.groups = (weights[0].is_constant() ? weights[0] : dims[1]).constant();
  conv.windows = {
      {.size = dims[2] + kept, .kernel = weights[2], .before = 0, .after = 0, .behind = 0, .count = dims[2]}};
  ValueId y = with_bias(c, depthwise(c, conv), 2);
  const std::string activation = c.word("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = c.scalar(ScalarOp::mul_, {y, c.scalar(ScalarOp::sigmoid_, {y})});
  } else if (activation != "none") {
    throw c.wrong(str("`", activation, "` is no activation"));
  }
  c.out(c.b.cast(y, dtype));
}

constexpr OpRow kOps[] = {
    {"CausalConvWithState", causal_conv},
    {"Conv", conv},
    {"ConvInteger", conv_integer},
    {"QLinearConv", qlinear_conv},
};

}  // namespace

std::span<const OpRow> window_ops() { return kOps; }

}  // namespace inlay::onnx
