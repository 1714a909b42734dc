#include "onnx/reduce.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/importer.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

std::vector<Dim> with_ones(const std::vector<Dim>& dims, const std::vector<int>& axes) {
  std::vector<Dim> out = dims;
  for (int axis : axes) out[static_cast<std::size_t>(axis)] = 1;
  return out;
}

Dim count_of(const std::vector<Dim>& dims, const std::vector<int>& axes) {
  Dim count = 1;
  for (int axis : axes) count = count * dims[static_cast<std::size_t>(axis)];
  return count;
}

ValueId less_maximum(Call& c, ValueId x, const std::vector<int>& axes) {
  return c.scalar(Op::sub_, {x, extreme_of(c, Fold::max, x, axes, Keep::yes)});
}

}  // namespace

DType computed_in(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

DType float_computed_in(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

DType real_computed_in(DType dtype) { return is_float(dtype) ? computed_in(dtype) : DType::f64; }

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> out(static_cast<std::size_t>(std::max(rank - first, 0)));
  std::iota(out.begin(), out.end(), first);
  return out;
}

ValueId folded(Call& c, Fold fold, ValueId x, const std::vector<int>& axes, Keep keep) {
  if (axes.empty()) return x;
  const TensorType type = c.type(x);
  const ValueId result = c.b.reduce(fold, x, axes, type.dtype);
  return keep == Keep::yes ? c.b.reshape(result, with_ones(type.dims, axes)) : result;
}

ValueId extreme_of(Call& c, Fold fold, ValueId x, const std::vector<int>& axes, Keep keep) {
  const ValueId neutral = c.b.literal(identity_of(combine_of(fold, 0), c.type(x).dtype));
  for (int axis : axes) {
    std::vector<Dim> one = c.type(x).dims;
    Dim& size = one[static_cast<std::size_t>(axis)];
    if (holds(c.b.graph(), 1, size, DimCheck::Relation::at_most)) continue;
    size = 1;
    x = c.b.concat({x, full(c.b, neutral, std::move(one))}, axis);
  }
  return folded(c, fold, x, axes, keep);
}

Literal extreme_literal(DType dtype, bool is_greatest) {
  if (is_float(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Literal::of_float(dtype, is_greatest ? infinity : -infinity);
  }
  if (dtype == DType::boolean) return Literal::of_integer(dtype, is_greatest ? 1 : 0);
  const int bits = static_cast<int>(8 * size_bytes(dtype));
  if (is_unsigned_integer(dtype)) {
    return Literal::of_integer(dtype, !is_greatest ? 0 : bits == 64 ? -1 : (int64_t{1} << bits) - 1);
  }
  const int64_t greatest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return Literal::of_integer(dtype, is_greatest ? greatest : -greatest - 1);
}

namespace {

/// Is it a size, computed of those of the inputs alone, that is not negative unless one of them is 0?
bool is_size(Call& c, ValueId v) {
  const auto elements = c.scope.frame.known.of(v);
  if (!elements || elements->numbers.size() != 1 || !elements->numbers[0]) return false;
  const Dim* const size = std::get_if<Dim>(&*elements->numbers[0]);
  if (!size || size->is_constant()) return false;
  const IdMap<SymbolId, int64_t> ones(size->symbols().back().index + std::size_t{1}, 1);
  return size->lower_bound(ones) >= 0 && c.importer.origins_of(v, c.scope.frame).inputs.empty();
}

}  // namespace

ValueId integer_quotient(Call& c, ValueId x, ValueId y) {
  const DType dtype = c.type(x).dtype;
  const ValueId quotient = c.scalar(Op::floor_div_, {x, y});
  if (is_unsigned_integer(dtype) || is_size(c, quotient)) return quotient;
  const ValueId is_rounded = c.scalar(Op::ne_, {c.scalar(Op::mul_, {quotient, y}), x});
  const ValueId goes_up = c.scalar(Op::and_, {c.with(Op::lt_, quotient, 0), is_rounded});
  return c.scalar(Op::add_, {quotient, c.b.cast(goes_up, dtype)});
}

ValueId mean_of(Call& c, ValueId x, const std::vector<int>& axes, Keep keep) {
  if (axes.empty()) return x;
  const TensorType type = c.type(x);
  const ValueId sum = folded(c, Fold::add, x, axes, keep);
  const ValueId count = c.b.cast(c.b.size(count_of(type.dims, axes)), type.dtype);
  return is_integer(type.dtype) ? integer_quotient(c, sum, count) : c.scalar(Op::div_, {sum, count});
}

ValueId softmax_of(Call& c, ValueId x, const std::vector<int>& axes) {
  const ValueId exponentials = c.scalar(Op::exp_, {less_maximum(c, x, axes)});
  const ValueId sum = folded(c, Fold::add, exponentials, axes, Keep::yes);
  return c.scalar(Op::div_, {exponentials, sum});
}

ValueId log_softmax_of(Call& c, ValueId x, const std::vector<int>& axes) {
  const ValueId moved = less_maximum(c, x, axes);
  const ValueId sum = folded(c, Fold::add, c.scalar(Op::exp_, {moved}), axes, Keep::yes);
  return c.scalar(Op::sub_, {moved, c.scalar(Op::log_, {sum})});
}

}  // namespace inlay::onnx
