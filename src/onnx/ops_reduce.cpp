// Reductions over axes, and running ones along an axis.
#include <algorithm>

#include "ir/compose_shape.h"
#include "onnx/ops.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;
using AxisList = std::vector<int>;

/// The axes of a Reduce, which are an attribute before version `since` and an input from then on. None are all of
/// them, but with `noop_with_empty_axes` none.
AxisList reduced_axes(Call& c, int64_t since) {
  const int rank = c.rank(0);
  const auto given = c.constants_or_attribute(1, "axes", since);
  if (given && !given->empty()) {
    AxisList axes = c.axes(*given, rank);
    std::ranges::sort(axes);
    if (std::ranges::adjacent_find(axes) != axes.end()) throw c.wrong("it has an axis twice");
    return axes;
  }
  return c.flag("noop_with_empty_axes") ? AxisList() : axes_from(0, rank);
}

Keep keeps(const Call& c) { return c.flag("keepdims", true) ? Keep::yes : Keep::no; }

/// What a Reduce makes of elements that are of the dtype that it computes in.
using Reduction = ValueId (*)(Call& c, ValueId x, const AxisList& axes, Keep keep);

/// The result has the dtype of the operand, whatever dtype it is computed in.
template <Reduction reduction, int64_t axes_input_since, DType (*computed)(DType)>
void reduce_op(Call& c) {
  const DType dtype = c.dtype(0);
  const AxisList axes = reduced_axes(c, axes_input_since);
  c.out(c.b.cast(reduction(c, c.b.cast(c.in(0), computed(dtype)), axes, keeps(c)), dtype));
}

DType as_it_is(DType dtype) { return dtype; }

ValueId sum(Call& c, ValueId x, const AxisList& axes, Keep keep) { return folded(c, Fold::add, x, axes, keep); }
ValueId product_of(Call& c, ValueId x, const AxisList& axes, Keep keep) { return folded(c, Fold::mul, x, axes, keep); }

ValueId sum_of_squares(Call& c, ValueId x, const AxisList& axes, Keep keep) {
  return sum(c, c.scalar(Op::square_, {x}), axes, keep);
}

ValueId absolute(Call& c, ValueId x) { return is_unsigned_integer(c.type(x).dtype) ? x : c.scalar(Op::abs_, {x}); }
ValueId l1(Call& c, ValueId x, const AxisList& axes, Keep keep) { return sum(c, absolute(c, x), axes, keep); }
ValueId l2(Call& c, ValueId x, const AxisList& axes, Keep keep) {
  return c.scalar(Op::sqrt_, {sum_of_squares(c, x, axes, keep)});
}
ValueId log_sum(Call& c, ValueId x, const AxisList& axes, Keep keep) {
  return c.scalar(Op::log_, {sum(c, x, axes, keep)});
}

ValueId log_sum_exp(Call& c, ValueId x, const AxisList& axes, Keep keep) {
  if (axes.empty()) return x;
  const DType dtype = c.type(x).dtype;
  const ValueId maximum = extreme_of(c, Fold::max, x, axes, Keep::yes);
  const ValueId by = c.scalar(Op::select_, {c.scalar(Op::isfinite_, {maximum}), maximum, c.literal(dtype, 0)});
  const ValueId exponentials = c.scalar(Op::exp_, {c.scalar(Op::sub_, {x, by})});
  const ValueId result =
      c.scalar(Op::add_, {c.scalar(Op::log_, {folded(c, Fold::add, exponentials, axes, Keep::yes)}), by});
  return keep == Keep::yes ? result : squeeze(c.b, result, {axes.begin(), axes.end()});
}

/// Of bools: is any (are all) of them true?
template <bool is_max>
ValueId extreme(Call& c, ValueId x, const AxisList& axes, Keep keep) {
  const DType dtype = c.type(x).dtype;
  if (dtype == DType::boolean) return folded(c, is_max ? Fold::or_ : Fold::and_, x, axes, keep);
  return extreme_of(c, is_max ? Fold::max : Fold::min, x, axes, keep);
}

/// Of equals the first, or with `select_last_index` the last: the first of the flipped axis.
template <bool is_max>
void arg_extreme(Call& c) {
  const int axis = c.axis(c.integer("axis", 0), c.rank(0));
  const bool last = c.flag("select_last_index");
  const ValueId x = last ? c.b.flip(c.in(0), {axis}) : c.in(0);
  const ValueId place = is_max ? argmax(c.b, x, {axis}, keeps(c)) : argmin(c.b, x, {axis}, keeps(c));
  if (!last) return c.out(place);
  c.out(c.scalar(Op::sub_, {c.b.size(c.dims(0)[static_cast<std::size_t>(axis)] - 1), place}));
}

/// 1 at the first maximum, else 0. Before version 13 over all axes from `axis` on, as one.
void hardmax(Call& c) {
  const int rank = c.rank(0);
  const int first = c.axis(c.integer("axis", c.version < 13 ? 1 : -1), rank);
  const int end = c.version < 13 ? rank : first + 1;
  const std::vector<Dim> dims = c.dims(0);
  AxisList axes;
  std::vector<Dim> numbered;
  for (int axis = first; axis < rank; ++axis) {
    if (axis < end) axes.push_back(axis);
    numbered.push_back(axis < end ? dims[static_cast<std::size_t>(axis)] : Dim(1));
  }
  const ValueId number = c.b.reshape(c.b.iota(product(numbered), DType::i64), numbered);
  const ValueId x = c.in(0);
  const ValueId is_maximum = c.scalar(Op::eq_, {x, extreme_of(c, Fold::max, x, axes, Keep::yes)});
  const ValueId is_nan = c.scalar(Op::ne_, {x, x});
  const ValueId never = c.b.literal(extreme_literal(DType::i64, true));
  const ValueId found = c.scalar(Op::select_, {c.scalar(Op::or_, {is_maximum, is_nan}), number, never});
  const ValueId is_first = c.scalar(Op::eq_, {number, extreme_of(c, Fold::min, found, axes, Keep::yes)});
  c.out(c.b.cast(is_first, c.dtype(0)));
}

/// `exclusive`: without the element itself, so that the first result is `neutral`.
template <Combine combine, int neutral>
void running(Call& c) {
  ValueId x = c.in(0);
  const TensorType type = c.type(x);
  const DType computed = computed_in(type.dtype);
  const int axis = c.axis(c.constant(1), type.rank());
  const bool goes_back = c.flag("reverse");
  if (goes_back) x = c.b.flip(x, {axis});
  if (c.flag("exclusive")) {
    std::vector<Dim> one = type.dims;
    one[static_cast<std::size_t>(axis)] = 1;
    x = c.b.concat({full(c.b, c.literal(type.dtype, neutral), one), x}, axis);
  }
  ValueId result = c.b.cast(c.b.cumulative(combine, x, axis, computed), type.dtype);
  if (c.flag("exclusive")) {
    std::vector<IndexItem> index = whole(type.dims);
    result = c.b.slice(result, std::move(index));
  }
  c.out(goes_back ? c.b.flip(result, {axis}) : result);
}

constexpr OpRow kOps[] = {
    {"ArgMax", arg_extreme<true>},
    {"ArgMin", arg_extreme<false>},
    {"CumProd", running<Combine::mul, 1>},
    {"CumSum", running<Combine::add, 0>},
    {"Hardmax", hardmax},
    {"ReduceL1", reduce_op<l1, 18, computed_in>},
    {"ReduceL2", reduce_op<l2, 18, real_computed_in>},
    {"ReduceLogSum", reduce_op<log_sum, 18, real_computed_in>},
    {"ReduceLogSumExp", reduce_op<log_sum_exp, 18, real_computed_in>},
    {"ReduceMax", reduce_op<extreme<true>, 18, as_it_is>},
    {"ReduceMean", reduce_op<mean_of, 18, computed_in>},
    {"ReduceMin", reduce_op<extreme<false>, 18, as_it_is>},
    {"ReduceProd", reduce_op<product_of, 18, computed_in>},
    {"ReduceSum", reduce_op<sum, 13, computed_in>},
    {"ReduceSumSquare", reduce_op<sum_of_squares, 18, computed_in>},
};

}  // namespace

std::span<const OpRow> reduce_ops() { return kOps; }

}  // namespace inlay::onnx
