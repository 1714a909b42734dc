#include "ir/compose_sizes.h"

#include "ir/compose_shape.h"

namespace inlay {
namespace {

ValueId integer(GraphBuilder& b, int64_t value) { return b.literal(Literal::of_integer(DType::i64, value)); }

ValueId number(GraphBuilder& b, DType dtype, double value) { return b.literal(Literal::of(dtype, value)); }

Dim new_symbol(GraphBuilder& b) { return b.symbol(str("k", b.graph().symbols.size())); }

Error error(ErrorCode code, std::string message) { return Error(code, {}, std::move(message)); }

void require_number(GraphBuilder& b, ValueId v, const char* what) {
  const TensorType& type = b.type(v);
  if (type.rank() == 0 && (is_integer(type.dtype) || is_float(type.dtype))) return;
  throw error(type.rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
              str("arange: the ", what, " is ", b.graph().type_text(type), ", not a 0-d number"))
      .note("operand", b.graph().describe(v));
}

/// All of `x` as one line.
ValueId flat(GraphBuilder& b, ValueId x) { return b.reshape(x, {product(b.type(x).dims)}); }

/// Positions in the row-major line of `dims` where the mask holds.
ValueId positions(GraphBuilder& b, ValueId mask) {
  const ValueId line = flat(b, mask);
  return b.compress(line, {b.iota(b.type(line).dims[0], DType::i64)}, new_symbol(b))[1];
}

/// How many steps reach from start to stop, before it is known to be no less than 0.
ValueId steps_of_integers(GraphBuilder& b, ValueId start, ValueId stop, ValueId step) {
  const ValueId zero = integer(b, 0);
  const ValueId moves = b.scalar(ScalarOp::ne_, {step, zero});
  step = b.assert_that(step, moves, "arange: the step is 0", ErrorCode::zero_step);
  const ValueId back = b.scalar(ScalarOp::sub_, {start, stop});
  return b.scalar(ScalarOp::neg_, {b.scalar(ScalarOp::floor_div_, {back, step})});
}

ValueId steps_of_floats(GraphBuilder& b, ValueId start, ValueId stop, ValueId step) {
  const ValueId moves = b.scalar(ScalarOp::ne_, {step, number(b, DType::f64, 0)});
  step = b.assert_that(step, moves, "arange: the step is 0", ErrorCode::zero_step);
  const ValueId distance = b.scalar(ScalarOp::sub_, {stop, start});
  return b.scalar(ScalarOp::ceil_, {b.scalar(ScalarOp::div_, {distance, step})});
}

/// The mask over the leading axes of x, whose dims must be its own: none of its 1s stretches.
ValueId fitting_mask(GraphBuilder& b, ValueId x, ValueId mask) {
  const TensorType type = b.type(mask);
  if (type.dtype != DType::boolean || type.rank() < 1 || type.rank() > b.type(x).rank()) {
    throw error(type.dtype == DType::boolean ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                str("a mask ", b.graph().type_text(type), " of ", b.graph().type_text(b.type(x))))
        .note("array", b.graph().describe(x))
        .note("mask", b.graph().describe(mask))
        .help("a mask is bool and of rank 1 up to that of the array");
  }
  const std::vector<Dim> dims(b.type(x).dims.begin(), b.type(x).dims.begin() + type.rank());
  std::vector<Dim> wide = dims;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (type.dims[i].is(1)) wide[i] = 1;
  }
  return b.reshape(b.broadcast(mask, wide), dims);
}

/// The dims of x behind those of the mask.
std::vector<Dim> rest_of(GraphBuilder& b, ValueId x, ValueId mask) {
  return {b.type(x).dims.begin() + b.type(mask).rank(), b.type(x).dims.end()};
}

/// x with the axes of the mask as one.
ValueId by_rows(GraphBuilder& b, ValueId x, ValueId mask) {
  std::vector<Dim> dims = rest_of(b, x, mask);
  dims.insert(dims.begin(), product(b.type(mask).dims));
  return b.reshape(x, std::move(dims));
}

std::vector<IndexItem> rows_at(ValueId rows, std::span<const Dim> rest) {
  std::vector<IndexItem> index = whole(rest);
  index.insert(index.begin(), IndexItem::through(rows));
  return index;
}

void require_axis(GraphBuilder& b, ValueId x, int axis) {
  if (axis >= 0 && axis < b.type(x).rank()) return;
  throw error(ErrorCode::axis_out_of_range, str("repeat: axis ", axis, " of a rank ", b.type(x).rank(), " value"))
      .note("operand", b.graph().describe(x));
}

ValueId take(GraphBuilder& b, ValueId x, ValueId places, int axis) {
  std::vector<IndexItem> index = whole(b.type(x).dims);
  index[static_cast<std::size_t>(axis)] = IndexItem::through(places);
  return b.gather(x, std::move(index));
}

}  // namespace

Dim late_size(GraphBuilder& b, ValueId n) {
  const Dim symbol = new_symbol(b);
  b.as_size(n, symbol);
  return symbol;
}

ValueId arange(GraphBuilder& b, ValueId start, ValueId stop, ValueId step, DType dtype) {
  require_number(b, start, "start");
  require_number(b, stop, "stop");
  require_number(b, step, "step");
  bool integers = true;
  for (ValueId v : {start, stop, step}) integers = integers && is_integer(b.type(v).dtype);
  const DType computed = integers ? DType::i64 : DType::f64;
  start = b.cast(start, computed);
  stop = b.cast(stop, computed);
  step = b.cast(step, computed);
  const ValueId steps = integers ? steps_of_integers(b, start, stop, step) : steps_of_floats(b, start, stop, step);
  const ValueId length = b.cast(b.scalar(ScalarOp::max_, {steps, number(b, computed, 0)}), DType::i64);

  const ValueId first = b.cast(start, dtype);
  const ValueId second = b.cast(b.scalar(ScalarOp::add_, {start, step}), dtype);
  const ValueId delta = b.scalar(ScalarOp::sub_, {second, first});
  const ValueId count = b.iota(late_size(b, length), dtype);
  return b.scalar(ScalarOp::add_, {first, b.scalar(ScalarOp::mul_, {count, delta})});
}

std::vector<ValueId> nonzero(GraphBuilder& b, ValueId x) {
  const TensorType type = b.type(x);
  if (type.rank() == 0) {
    throw error(ErrorCode::wrong_rank, "nonzero: of a 0-d value").note("operand", b.graph().describe(x));
  }
  if (type.dtype != DType::boolean) x = b.scalar(ScalarOp::ne_, {x, number(b, type.dtype, 0)});
  const ValueId places = positions(b, x);
  if (type.rank() == 1) return {places};
  std::vector<ValueId> coordinates;
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    const std::span<const Dim> below = std::span(type.dims).subspan(axis + 1);
    ValueId at = places;
    if (!below.empty()) at = b.scalar(ScalarOp::floor_div_, {at, b.size(product(below))});
    if (axis > 0) at = b.scalar(ScalarOp::mod_, {at, b.size(type.dims[axis])});
    coordinates.push_back(at);
  }
  return coordinates;
}

ValueId read_where(GraphBuilder& b, ValueId x, ValueId mask) {
  mask = fitting_mask(b, x, mask);
  if (b.type(mask).rank() == b.type(x).rank()) return b.compress(flat(b, mask), {flat(b, x)}, new_symbol(b))[1];
  const std::vector<Dim> rest = rest_of(b, x, mask);
  return b.gather(by_rows(b, x, mask), rows_at(positions(b, mask), rest));
}

ValueId write_where(GraphBuilder& b, Combine combine, ValueId x, ValueId mask, ValueId v) {
  mask = fitting_mask(b, x, mask);
  const std::vector<Dim> rest = rest_of(b, x, mask), dims = b.type(x).dims;
  if (b.type(v).rank() > static_cast<int>(rest.size())) {
    const ValueId rows = by_rows(b, x, mask);
    return b.reshape(b.scatter(combine, rows, rows_at(positions(b, mask), rest), v), dims);
  }
  std::vector<Dim> mask_dims = b.type(mask).dims;
  mask_dims.insert(mask_dims.end(), rest.size(), Dim(1));
  const ValueId wide = b.broadcast(v, dims);
  const ValueId written = combine == Combine::set ? wide : b.scalar(combine_op(combine), {x, wide});
  return b.scalar(ScalarOp::select_, {b.reshape(mask, std::move(mask_dims)), written, x});
}

ValueId repeat(GraphBuilder& b, ValueId x, ValueId count, int axis) {
  require_axis(b, x, axis);
  const Dim times = late_size(b, count);
  const Dim length = b.type(x).dims[static_cast<std::size_t>(axis)] * times;
  return take(b, x, b.scalar(ScalarOp::floor_div_, {b.iota(length, DType::i64), b.size(times)}), axis);
}

ValueId repeat_each(GraphBuilder& b, ValueId x, ValueId counts, int axis) {
  require_axis(b, x, axis);
  if (b.type(counts).rank() != 1) {
    throw error(ErrorCode::wrong_rank, str("repeat: counts of rank ", b.type(counts).rank(), ", not a vector"))
        .note("counts", b.graph().describe(counts));
  }
  counts = b.broadcast(b.cast(counts, DType::i64), {b.type(x).dims[static_cast<std::size_t>(axis)]});
  const ValueId zero = integer(b, 0);
  const ValueId right = b.reduce(Fold::and_, b.scalar(ScalarOp::ge_, {counts, zero}), {0}, DType::boolean);
  counts = b.assert_that(counts, right, "repeat: a count is negative", ErrorCode::negative_size);
  // Where one slice ends and the next begins the source moves on by one.
  const ValueId ends = b.cumulative(Combine::add, counts, 0, DType::i64);
  const Dim length = late_size(b, b.reduce(Fold::add, counts, {0}, DType::i64));
  const ValueId none = b.broadcast(zero, {length + 1});
  const ValueId moves = b.scatter(Combine::add, none, {IndexItem::through(ends)}, integer(b, 1));
  const ValueId places = b.cumulative(Combine::add, b.slice(moves, {IndexItem::range(0, length)}), 0, DType::i64);
  return take(b, x, places, axis);
}

Unique unique(GraphBuilder& b, ValueId x) {
  x = flat(b, x);
  const TensorType type = b.type(x);
  const Dim length = type.dims[0];
  const ValueId order = b.library(LibraryOp::argsort, {x})[0], zero = integer(b, 0), one = integer(b, 1);
  const ValueId at = b.iota(length, DType::i64);
  const ValueId before = b.scalar(ScalarOp::max_, {b.scalar(ScalarOp::sub_, {at, one}), zero});
  const ValueId sorted = b.gather(x, {IndexItem::through(order)});
  const ValueId previous = b.gather(sorted, {IndexItem::through(before)});
  ValueId differs = b.scalar(ScalarOp::ne_, {sorted, previous});
  if (is_float(type.dtype) || is_complex(type.dtype)) {  // behind a NaN stand only NaNs
    differs = b.scalar(ScalarOp::and_, {differs, b.scalar(ScalarOp::eq_, {previous, previous})});
  }
  const ValueId is_new = b.scalar(ScalarOp::or_, {differs, b.scalar(ScalarOp::eq_, {at, zero})});
  const std::vector<ValueId> found = b.compress(is_new, {sorted, order}, new_symbol(b));
  const ValueId number = b.scalar(ScalarOp::sub_, {b.cumulative(Combine::add, is_new, 0, DType::i64), one});
  const ValueId places = b.broadcast(zero, {length}), none = b.broadcast(zero, b.type(found[1]).dims);
  return {found[1], found[2], b.scatter(Combine::set, places, {IndexItem::through(order)}, number),
          b.scatter(Combine::add, none, {IndexItem::through(number)}, one)};
}

}  // namespace inlay
