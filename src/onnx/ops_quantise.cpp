// Numbers as small integers with a scale and a zero point, and products of them.
#include <limits>

#include "onnx/importer.h"
#include "onnx/ops.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

/// A scale or a zero point so that it broadcasts to x: of all elements, of each place of an axis, or of blocks of it.
ValueId beside(Call& c, ValueId scale, ValueId x) {
  const std::vector<Dim> dims = c.type(x).dims, own = c.type(scale).dims;
  if (own.empty() || (own.size() == 1 && own[0].is(1))) return c.b.reshape(scale, {});
  const int axis = c.axis(c.integer("axis", 1), static_cast<int>(dims.size()));
  const auto along = static_cast<std::size_t>(axis);
  if (own.size() == 1) {
    std::vector<Dim> column(dims.size() - along, Dim(1));
    column[0] = own[0];
    return c.b.reshape(scale, std::move(column));
  }
  const int64_t block = c.integer("block_size", 0);
  if (own.size() != dims.size() || block < 1) {
    throw c.wrong(str(c.b.graph().describe(scale), " beside ", c.b.graph().describe(x), ", with blocks of ", block));
  }
  std::vector<IndexItem> index;
  for (const Dim& dim : own) index.push_back(IndexItem::range(0, dim));
  index[along] = IndexItem::through(c.with(Op::floor_div_, places(c.b, dims[along], 0), static_cast<double>(block)));
  return c.b.gather(scale, std::move(index));
}

std::pair<double, double> range_of(Call& c, DType dtype) {
  switch (dtype) {
    case DType::i8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::i16: return {-32768, 32767};
    case DType::u16: return {0, 65535};
    default: throw c.unsupported(str("numbers of ", dtype_name(dtype), " as quantised ones"));
  }
}

/// A rounded quotient plus the zero point, as what `dtype` has that is next to it. Beyond 2^24, where f32 has no longer
/// all integers, every number is out of range.
ValueId saturated(Call& c, ValueId quotient, std::optional<ValueId> zero, DType dtype) {
  const auto [low, high] = range_of(c, dtype);
  ValueId y = c.scalar(Op::round_, {quotient});
  if (c.type(y).dtype != DType::f64) y = c.b.cast(y, DType::f32);
  const DType computed = c.type(y).dtype;
  if (zero) y = c.scalar(Op::add_, {y, c.b.cast(*zero, computed)});
  return c.b.cast(c.scalar(Op::clip_, {y, c.literal(computed, low), c.literal(computed, high)}), dtype);
}

void quantise(Call& c) {
  const ValueId x = c.in(0), given = c.in(1);
  std::optional<ValueId> zero = c.maybe(2);
  const DType dtype = zero ? c.type(*zero).dtype : c.dtype_attribute("output_dtype").value_or(DType::u8);
  const DType computed = c.dtype_attribute("precision").value_or(c.type(given).dtype);
  const ValueId scale = beside(c, c.b.cast(given, computed), x);
  if (zero) zero = beside(c, *zero, x);
  c.out(saturated(c, c.scalar(Op::div_, {c.b.cast(x, computed), scale}), zero, dtype));
}

/// x less its zero point, in i32.
ValueId difference(Call& c, ValueId x, std::optional<ValueId> zero) {
  x = c.b.cast(x, DType::i32);
  return zero ? c.scalar(Op::sub_, {x, c.b.cast(*zero, DType::i32)}) : x;
}

void dequantise(Call& c) {
  const ValueId x = c.in(0), given = c.in(1);
  const DType dtype = c.dtype_attribute("output_dtype").value_or(c.type(given).dtype);
  std::optional<ValueId> zero = c.maybe(2);
  if (zero) zero = beside(c, *zero, x);
  const ValueId scale = beside(c, c.b.cast(given, dtype), x);
  if (is_float(c.dtype(0)) && c.importer.is_narrow(c.node.inputs[0], c.scope)) {  // float8
    const ValueId number = c.b.cast(x, dtype);
    const ValueId moved = zero ? c.scalar(Op::sub_, {number, c.b.cast(*zero, dtype)}) : number;
    c.out(c.scalar(Op::mul_, {moved, scale}));
    return;
  }
  if (!is_integer(c.dtype(0))) throw c.wrong(str("of ", c.b.graph().describe(x), ", which is to be of integers"));
  c.out(c.scalar(Op::mul_, {c.b.cast(difference(c, x, zero), dtype), scale}));
}

/// u8 by a scale and a zero point with which 0 is exact.
void dynamically_quantise(Call& c) {
  const ValueId x = c.in(0);
  const DType dtype = c.dtype(0);
  std::vector<int> axes;
  for (int axis = 0; axis < c.rank(0); ++axis) axes.push_back(axis);
  const auto extreme = [&](Fold fold, Op op) {
    return c.with(op, axes.empty() ? x : c.b.reduce(fold, x, axes, dtype), 0);
  };
  const ValueId low = extreme(Fold::min, Op::min_), high = extreme(Fold::max, Op::max_);
  const ValueId step = c.with(Op::div_, c.scalar(Op::sub_, {high, low}), 255);
  const ValueId is_flat = c.with(Op::eq_, step, 0);  // all are 0: any scale will do
  const ValueId scale = c.scalar(Op::select_, {is_flat, c.literal(dtype, 1), step});
  const ValueId zero = saturated(c, c.scalar(Op::div_, {c.scalar(Op::neg_, {low}), scale}), {}, DType::u8);
  c.out(0, saturated(c, c.scalar(Op::div_, {x, scale}), zero, DType::u8));
  c.out(1, scale);
  c.out(2, zero);
}

/// A scale or a zero point of the right matrix: one, or one for each column.
ValueId of_columns(Call& c, ValueId scale) {
  const std::vector<Dim> dims = c.type(scale).dims;
  return dims.size() == 1 && dims[0].is(1) ? c.b.reshape(scale, {}) : scale;
}

/// One of the left matrix: a vector has one for each row.
ValueId of_rows(Call& c, ValueId scale, ValueId matrix) {
  const std::vector<Dim> dims = c.type(scale).dims;
  if (dims.size() != 1 || dims[0].is(1) || c.type(matrix).rank() < 2) return of_columns(c, scale);
  return c.b.reshape(scale, {dims[0], 1});
}

void matmul_integer(Call& c) {
  const ValueId left = c.in(0), right = c.in(1);
  std::optional<ValueId> left_zero = c.maybe(2), right_zero = c.maybe(3);
  if (left_zero) left_zero = of_rows(c, *left_zero, left);
  if (right_zero) right_zero = of_columns(c, *right_zero);
  c.out(matmul(c, difference(c, left, left_zero), difference(c, right, right_zero)));
}

void quantised_matmul(Call& c) {
  const ValueId left = difference(c, c.in(0), of_rows(c, c.in(2), c.in(0)));
  const ValueId right = difference(c, c.in(3), of_columns(c, c.in(5)));
  const ValueId sums = matmul(c, left, right);
  const auto scale = [&](ValueId v) { return c.b.cast(v, DType::f32); };
  const ValueId scales = c.scalar(Op::mul_, {scale(of_rows(c, c.in(1), left)), scale(of_columns(c, c.in(4)))});
  const ValueId factor = c.scalar(Op::div_, {scales, scale(of_columns(c, c.in(6)))});
  const ValueId zero = c.in(7);
  c.out(
      saturated(c, c.scalar(Op::mul_, {c.b.cast(sums, DType::f32), factor}), of_columns(c, zero), c.type(zero).dtype));
}

constexpr OpRow kOps[] = {
    {.name = "DequantizeLinear", .make = dequantise, .takes_narrow = true},
    {"DynamicQuantizeLinear", dynamically_quantise},
    {"MatMulInteger", matmul_integer},
    {"QLinearMatMul", quantised_matmul},
    {"QuantizeLinear", quantise},
};

}  // namespace

std::span<const OpRow> quantise_ops() { return kOps; }

}  // namespace inlay::onnx
