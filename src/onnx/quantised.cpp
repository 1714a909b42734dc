#include "onnx/quantised.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/compose_shape.h"
#include "ir/linalg.h"
#include "onnx/importer.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
using Op = ScalarOp;

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

ValueId moved(Call& c, ValueId x, int by, DType dtype) {
  return by == 0 ? x : c.b.cast(c.with(Op::add_, c.b.cast(x, DType::i32), by), dtype);
}

std::optional<ValueId> moved_zero(Call& c, std::optional<ValueId> zero, int by) {
  if (!zero) return by == 0 ? std::nullopt : std::optional(c.literal(DType::i32, by));
  const auto known = c.known_literals(*zero);
  if (known && std::ranges::all_of(*known, [&](const Literal& z) { return z.i == -by; })) return std::nullopt;
  const ValueId wide = c.b.cast(*zero, DType::i32);
  return by == 0 ? wide : c.with(Op::add_, wide, by);
}

namespace {

std::pair<double, double> range_of(Call& c, DType dtype) {
  switch (dtype) {
    case DType::i8: return {-128, 127};
    case DType::u8: return {0, 255};
    case DType::i16: return {-32768, 32767};
    case DType::u16: return {0, 65535};
    default: throw c.unsupported(str("numbers of ", dtype_name(dtype), " as quantised ones"));
  }
}

/// The most that an element is away from its zero point.
double most_of(Call& c, const Integers& integers) {
  const auto [low, high] = range_of(c, c.type(integers.x).dtype);
  if (!integers.zero) return std::max(-low, high);
  const auto zeros = c.known_literals(*integers.zero);
  if (!zeros) return high - low;
  double most = 1;
  for (const Literal& zero : *zeros) {
    most = std::max({most, high - static_cast<double>(zero.i), static_cast<double>(zero.i) - low});
  }
  return most;
}

/// The rows of a matrix on the right, or a vector's elements.
std::size_t row_axis(std::size_t rank) { return rank == 1 ? 0 : rank - 2; }

/// The sums over an axis, which stays as one of length 1 if it is the last.
ValueId summed(Call& c, ValueId x, std::size_t axis) {
  std::vector<Dim> dims = c.type(x).dims;
  const ValueId sums = c.b.reduce(Fold::add, c.b.cast(x, DType::i32), {static_cast<int>(axis)}, DType::i32);
  if (axis + 1 < dims.size()) return sums;
  dims.back() = Dim(1);
  return c.b.reshape(sums, std::move(dims));
}

/// The dot products of the rows of x with the columns. One matrix is the right one of all rows of a batch.
ValueId dots(Call& c, ValueId x, ValueId columns) {
  if (c.type(columns).rank() > 2) {
    std::array<ValueId, 2> operands = {x, columns};
    broadcast(c, operands, 2);
    return c.b.library(LibraryOp::row_dots, {operands[0], operands[1]})[0];
  }
  std::vector<Dim> dims = c.type(x).dims;
  const Dim depth = dims.back();
  dims.pop_back();
  const ValueId flat = c.b.reshape(x, {product(dims), depth});
  dims.push_back(c.type(columns).dims[0]);
  return c.b.reshape(c.b.library(LibraryOp::row_dots, {flat, columns})[0], std::move(dims));
}

/// The sum of (x - z) (y - w) is that of x y, less z times that of y - w, less w times that of x.
ValueId product_of_bytes(Call& c, const Integers& left, const ByteColumns& right) {
  const int by = c.type(left.x).dtype == DType::i8 ? 128 : 0;
  const ValueId x = moved(c, left.x, by, DType::u8);
  const std::optional<ValueId> zero = moved_zero(c, left.zero, by);
  ValueId sums = dots(c, x, right.columns);
  if (zero) {
    std::vector<Dim> of_columns = c.type(right.sums).dims;
    if (of_columns.size() > 1) of_columns.insert(of_columns.end() - 1, Dim(1));
    const ValueId below = c.b.reshape(right.sums, std::move(of_columns));
    sums = c.scalar(Op::sub_, {sums, c.scalar(Op::mul_, {*zero, below})});
  }
  if (!right.zero) return sums;
  const auto last = static_cast<std::size_t>(c.type(x).rank()) - 1;
  return c.scalar(Op::sub_, {sums, c.scalar(Op::mul_, {summed(c, x, last), *right.zero})});
}

}  // namespace

int64_t most_terms(Call& c, const Integers& left, const Integers& right, int64_t sum) {
  return static_cast<int64_t>(static_cast<double>(sum) / (most_of(c, left) * most_of(c, right)));
}

int64_t most_exact_terms(Call& c, const Integers& left, const Integers& right) {
  return most_terms(c, left, right, 1 << 24);  // f32 has all integers up to here
}

bool holds_sums(Call& c, const Dequantised& left, const Dequantised& right, const Dim& depth) {
  if (!depth.is_constant() || !is_byte(c.type(left.x).dtype) || !is_byte(c.type(right.x).dtype)) return false;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return depth.constant() <= most_terms(c, {left.x, left.zero}, {right.x, right.zero}, kMost);
}

ValueId as_floats(Call& c, ValueId sums, ValueId left_scale, ValueId right_scale) {
  return c.scalar(Op::mul_, {c.b.cast(sums, DType::f32), c.scalar(Op::mul_, {left_scale, right_scale})});
}

std::optional<ValueId> dequantised_product(Call& c, ValueId x, ValueId y, bool is_turned) {
  const auto& known = c.scope.frame.dequantised;
  const auto left = known.find(x), right = known.find(y);
  if (left == known.end() || right == known.end() || c.type(left->second.scale).rank() != 0) return std::nullopt;
  const std::vector<Dim> dims = c.type(y).dims;
  if (c.type(x).rank() < 2 || !holds_sums(c, left->second, right->second, c.type(x).dims.back())) return std::nullopt;
  // One number, or one for each column: of the transpose, for each row.
  const auto is_for_columns = [&](ValueId v) {
    const std::vector<Dim> own = c.type(v).dims;
    if (own.empty()) return true;
    return is_turned ? own.size() == 2 && own[0] == dims[0] && own[1].is(1) : own.size() == 1 && own[0] == dims.back();
  };
  const auto for_columns = [&](ValueId v) { return c.type(v).rank() == 2 ? c.b.reshape(v, {dims[0]}) : v; };
  auto [matrix, zero, scale] = right->second;
  if (!is_for_columns(scale) || (zero && !is_for_columns(*zero))) return std::nullopt;
  if (zero) zero = for_columns(*zero);
  const auto columns = byte_columns(c, {is_turned ? linalg::swapped(c.b, matrix) : matrix, zero});
  if (!columns) return std::nullopt;
  const ValueId sums = product_of_bytes(c, {left->second.x, left->second.zero}, *columns);
  return as_floats(c, sums, left->second.scale, for_columns(scale));
}

ValueId sum_of_parts(Call& c, int64_t size, int64_t parts,
                     const std::function<ValueId(int64_t begin, int64_t end)>& make) {
  ValueId sum;
  for (int64_t i = 0; i < parts; ++i) {
    const ValueId part = make(size * i / parts, size * (i + 1) / parts);
    sum = sum.valid() ? c.scalar(Op::add_, {sum, part}) : part;
  }
  return sum;
}

ValueId part_of(Call& c, ValueId x, std::size_t axis, int64_t begin, int64_t end) {
  std::vector<IndexItem> index = whole(c.type(x).dims);
  index[axis] = IndexItem::range(begin, end);
  return c.b.slice(x, std::move(index));
}

std::optional<ByteColumns> byte_columns(Call& c, const Integers& right) {
  const auto [dtype, dims] = c.type(right.x);
  if (!c.importer.stores_windows() || !is_byte(dtype) || dims.size() < 2) return std::nullopt;
  const int by = dtype == DType::u8 ? -128 : 0;
  const ValueId x = moved(c, right.x, by, DType::i8);
  const std::optional<ValueId> zero = moved_zero(c, right.zero, by);
  return ByteColumns{linalg::swapped(c.b, x), zero, summed(c, difference(c, x, zero), dims.size() - 2)};
}

ValueId integer_matmul(Call& c, const Integers& left, const Integers& right) {
  const TensorType& given = c.type(left.x);
  if (is_byte(given.dtype) && given.rank() > 1) {
    if (const auto columns = byte_columns(c, right)) return product_of_bytes(c, left, *columns);
  }
  const ValueId x = difference(c, left.x, left.zero), y = difference(c, right.x, right.zero);
  const std::vector<Dim> dims = c.type(x).dims, others = c.type(y).dims;
  constexpr int64_t kMostParts = 16;
  if (!c.importer.stores_windows() || dims.empty() || others.empty()) return matmul(c, x, y);
  const std::size_t columns = dims.size() - 1, rows = row_axis(others.size());
  const int64_t depth = dims[columns].is_constant() ? dims[columns].constant() : 0;
  const int64_t most = most_exact_terms(c, left, right), parts = most == 0 ? 0 : (depth + most - 1) / most;
  if (parts < 1 || parts > kMostParts || !others[rows].is(depth)) return matmul(c, x, y);
  const auto number = [&](ValueId v) { return c.b.cast(v, DType::f32); };
  return sum_of_parts(c, depth, parts, [&](int64_t begin, int64_t end) {
    const ValueId product =
        parts == 1 ? matmul(c, number(x), number(y))
                   : matmul(c, number(part_of(c, x, columns, begin, end)), number(part_of(c, y, rows, begin, end)));
    return c.b.cast(product, DType::i32);
  });
}

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
  std::vector<IndexItem> index = whole(own);
  index[along] = IndexItem::through(c.with(Op::floor_div_, places(c.b, dims[along], 0), static_cast<double>(block)));
  return c.b.gather(scale, std::move(index));
}

ValueId saturated(Call& c, ValueId quotient, std::optional<ValueId> zero, DType dtype) {
  const auto [low, high] = range_of(c, dtype);
  ValueId y = c.scalar(Op::round_, {quotient});
  if (c.type(y).dtype != DType::f64) y = c.b.cast(y, DType::f32);
  const DType computed = c.type(y).dtype;
  if (zero) y = c.scalar(Op::add_, {y, c.b.cast(*zero, computed)});
  return c.b.cast(c.scalar(Op::clip_, {y, c.literal(computed, low), c.literal(computed, high)}), dtype);
}

ValueId difference(Call& c, ValueId x, std::optional<ValueId> zero) {
  x = c.b.cast(x, DType::i32);
  return zero ? c.scalar(Op::sub_, {x, c.b.cast(*zero, DType::i32)}) : x;
}

ValueId of_columns(Call& c, ValueId scale) {
  const std::vector<Dim> dims = c.type(scale).dims;
  return dims.size() == 1 && dims[0].is(1) ? c.b.reshape(scale, {}) : scale;
}

Quantised dynamically_quantised(Call& c, ValueId x) {
  const auto [dtype, dims] = c.type(x);
  std::vector<int> axes;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) axes.push_back(static_cast<int>(axis));
  const auto extreme = [&](Fold fold, Op op) { return c.with(op, extreme_of(c, fold, x, axes, Keep::no), 0); };
  const ValueId low = extreme(Fold::min, Op::min_), high = extreme(Fold::max, Op::max_);
  const ValueId step = c.with(Op::div_, c.scalar(Op::sub_, {high, low}), 255);
  const ValueId is_flat = c.with(Op::eq_, step, 0);  // all are 0: any scale will do
  const ValueId scale = c.scalar(Op::select_, {is_flat, c.literal(dtype, 1), step});
  const ValueId zero = saturated(c, c.scalar(Op::div_, {c.scalar(Op::neg_, {low}), scale}), {}, DType::u8);
  return {saturated(c, c.scalar(Op::div_, {x, scale}), zero, DType::u8), scale, zero};
}

ValueId dynamically_quantised_product(Call& c, ValueId x, const Integers& matrix, ValueId scale) {
  const Quantised quantised = dynamically_quantised(c, x);
  return as_floats(c, integer_matmul(c, {quantised.x, quantised.zero}, matrix), quantised.scale, scale);
}

ValueId dynamically_quantised_dots(Call& c, ValueId x, const ByteColumns& matrix, ValueId scale) {
  const Quantised quantised = dynamically_quantised(c, x);
  return as_floats(c, product_of_bytes(c, {quantised.x, quantised.zero}, matrix), quantised.scale, scale);
}

}  // namespace inlay::onnx
