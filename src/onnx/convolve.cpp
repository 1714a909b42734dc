#include "onnx/convolve.h"

#include <algorithm>

#include "ir/compose_shape.h"
#include "ir/linalg.h"
#include "onnx/body.h"
#include "onnx/convolution.h"
#include "onnx/importer.h"
#include "onnx/reduce.h"
#include "onnx/window_lines.h"

namespace inlay::onnx {
namespace {

/// Of which weighted_rows makes sums of i32.
bool are_bytes(Call& c, ValueId x, ValueId weights) {
  return c.type(x).dtype == DType::u8 && c.type(weights).dtype == DType::i8;
}

/// x with the number, or 0, in the room around its last axes.
ValueId with_room(Call& c, ValueId x, const Windows& windows, std::optional<ValueId> room) {
  return room ? padded(c, x, windows, *room) : padded(c, x, windows, Literal::of(c.type(x).dtype, 0));
}

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

/// The rows of x along axis `at` that `axis`, its windows, read from window `first` on, with `room` beyond x: x
/// with `count` rows.
ValueId rows_read(const Call& c, GraphBuilder& b, ValueId x, std::size_t at, const WindowAxis& axis, ValueId first,
                  const Dim& count, std::optional<ValueId> room) {
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
  return b.scalar(ScalarOp::select_, {are_there, rows, room ? *room : b.literal(Literal::of(b.type(x).dtype, 0))});
}

/// Places of the result that a product has at least where that is known: of fewer, it reads the weights too often, and
/// one of bytes, which takes a quarter of the time, ends before it is worth a turn of a loop.
int64_t least_places(const Convolution& conv) { return conv.is_of_bytes ? 2048 : 64; }

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
/// of 96 channels of 160 x 160 one product of all takes twice as long, of 128 of 20 x 20 a third less. Windows of bytes
/// are a quarter as large, so the image may be larger.
bool is_by_rows(const Convolution& conv) {
  if (conv.groups != 1 || conv.windows.size() < 2) return false;
  const Dim places = conv.is_of_bytes ? product(counts_of(conv.windows)) : row_of(conv);
  return !places.is_constant() || places.constant() >= least_places(conv) * (conv.is_of_bytes ? 8 : 1);
}

/// The rows of the result in blocks of one size, of which the last one begins where it ends with the last row.
struct RowBlocks {
  Dim rows, size, count;

  explicit RowBlocks(const Convolution& conv) : rows(conv.windows[rows_axis(conv)].count) {
    const Dim row = row_of(conv);
    const int64_t least = least_places(conv);
    const bool is_long = row.is_constant() && row.constant() >= least;
    size = is_long ? Dim(1) : max(min(floor_div(Dim(least - 1), max(row, 1)) + 1, rows), 1);
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

/// Matrices of weights times those of windows. One matrix of weights is that of a whole batch.
ValueId products(Call& c, ValueId weights, ValueId windows) {
  if (!are_bytes(c, windows, weights)) return linalg::matmul(c.b, weights, windows);
  std::array<ValueId, 2> operands = {windows, weights};
  if (c.type(weights).rank() > 2) broadcast(c, operands, 2);
  return c.b.library(LibraryOp::weighted_rows, {operands[0], operands[1]})[0];
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
  std::optional<ValueId> beyond;
  if (conv.room) {
    const auto known = c.known_literals(*conv.room);  // a number that loops know
    beyond = known ? body.b.literal(known->front()) : body.bring(*conv.room);
  }
  const ValueId rows = rows_read(c, body.b, x, at, along, blocks.first(body.b, block), along.size, beyond);
  along.before = along.after = along.behind = 0;
  const ValueId room = with_room(within, rows, windows, beyond);
  const std::vector<Dim> counts = counts_of(windows);
  body.b.output(products(within, body.b.reshape(weights, {conv.out, depth}),
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
  const ValueId x = with_room(c, conv.x, conv.windows, conv.room);
  if (!is_data && !c.importer.stores_windows()) return by_sums(c, conv, x);
  const ValueId windows = is_data ? x : gathered(c, x, conv.windows);
  ValueId product;
  if (conv.groups == 1) {
    product =
        products(c, c.b.reshape(conv.weights, {conv.out, depth}), c.b.reshape(windows, {conv.batch, depth, places}));
  } else {
    const Dim each = floor_div(conv.out, conv.groups);
    product = products(c, c.b.reshape(conv.weights, {conv.groups, each, depth}),
                       c.b.reshape(windows, {conv.batch, conv.groups, depth, places}));
  }
  return c.b.reshape(product, joined({conv.batch, conv.out}, counts_of(conv.windows)));
}

}  // namespace

/// One channel in each group: products of what all windows read at a place of theirs where the kernel is small, else a
/// loop over it. No window is stored.
ValueId depthwise(Call& c, const Convolution& conv) {
  const auto taps = few_taps(conv.windows, kFewTaps);
  if (taps && !taps->empty() && WindowLines::fit(conv.windows)) {
    WindowLines lines(c, by_group(c, conv.x, conv.groups, 1), conv.windows);
    return sum_of_taps(c, conv, *taps, [&](const std::vector<int64_t>& place) { return lines.tap(place); });
  }
  const ValueId x = with_room(c, conv.x, conv.windows, conv.room);
  if (!taps || taps->empty()) return by_sums(c, conv, x);
  const ValueId data = by_group(c, x, conv.groups, 1);
  return sum_of_taps(c, conv, *taps,
                     [&](const std::vector<int64_t>& place) { return tap(c, data, conv.windows, place); });
}

Convolution convolution_of(Call& c, ValueId x, ValueId weights, std::optional<ValueId> room) {
  const std::vector<Dim> dims = c.type(weights).dims;
  Convolution conv{x, weights, c.integer("group", 1), {}, c.type(x).dims[0], dims[1], dims[0], room};
  conv.is_of_bytes = are_bytes(c, x, weights);
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

}  // namespace inlay::onnx
