#include "onnx/quantised.h"

#include <algorithm>
#include <utility>

#include "ir/compose_shape.h"
#include "onnx/importer.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

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

}  // namespace

int64_t most_exact_terms(Call& c, const Integers& left, const Integers& right) {
  constexpr double kExact = 1 << 24;  // f32 has all integers up to here
  return static_cast<int64_t>(kExact / (most_of(c, left) * most_of(c, right)));
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

ValueId integer_matmul(Call& c, const Integers& left, const Integers& right) {
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
  const auto extreme = [&](Fold fold, Op op) {
    return c.with(op, axes.empty() ? x : c.b.reduce(fold, x, axes, dtype), 0);
  };
  const ValueId low = extreme(Fold::min, Op::min_), high = extreme(Fold::max, Op::max_);
  const ValueId step = c.with(Op::div_, c.scalar(Op::sub_, {high, low}), 255);
  const ValueId is_flat = c.with(Op::eq_, step, 0);  // all are 0: any scale will do
  const ValueId scale = c.scalar(Op::select_, {is_flat, c.literal(dtype, 1), step});
  const ValueId zero = saturated(c, c.scalar(Op::div_, {c.scalar(Op::neg_, {low}), scale}), {}, DType::u8);
  return {saturated(c, c.scalar(Op::div_, {x, scale}), zero, DType::u8), scale, zero};
}

ValueId dynamically_quantised_product(Call& c, ValueId x, const Integers& matrix, ValueId scale) {
  const Quantised quantised = dynamically_quantised(c, x);
  const ValueId sums = integer_matmul(c, {quantised.x, quantised.zero}, matrix);
  return c.scalar(Op::mul_, {c.b.cast(sums, DType::f32), c.scalar(Op::mul_, {quantised.scale, scale})});
}

}  // namespace inlay::onnx
