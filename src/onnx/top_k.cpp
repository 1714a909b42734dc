#include "onnx/top_k.h"

#include <limits>

#include "ir/compose_fill.h"
#include "ir/compose_shape.h"
#include "onnx/reduce.h"

namespace inlay::onnx {
namespace {

using Op = ScalarOp;

constexpr int64_t kMostSteps = 128;  // a sort takes about as long as so many readings or more

/// A step of the loop: of rows [..., n] the element that follows `value` at `place` in the order, each [...]. NaN
/// counts as greater than all else, and of equals the first comes first.
class Next {
 public:
  Next(GraphBuilder& b, ValueId x, Extreme extreme)
      : b_(b), x_(x), largest_(extreme == Extreme::largest), type_(b.type(x)) {}

  struct Found {
    ValueId value, place;
  };
  Found after(ValueId value, ValueId place) {
    const ValueId at = places(b_, type_.dims.back(), 0);
    const ValueId follows = either(comes_after(value), both(same(x_, value), op(Op::gt_, at, column(place))));
    if (largest_ || !is_float(type_.dtype)) {
      const ValueId best = extreme_of(follows);
      return {best, first(select(both(follows, same(x_, best)), at, never()))};
    }
    // The smallest are numbers as long as there are any; then come those that are NaN, as if they stood further behind.
    const ValueId best = extreme_of(both(follows, b_.scalar(Op::not_, {nan(x_)})));
    const ValueId behind = op(Op::add_, at, length());
    const ValueId of_nan = select(both(follows, nan(x_)), behind, never());
    const ValueId found = first(select(both(follows, op(Op::eq_, x_, column(best))), at, of_nan));
    const ValueId is_nan = op(Op::ge_, found, length());
    return {select(is_nan, constant(b_, type_.dtype, std::numeric_limits<double>::quiet_NaN()), best),
            select(is_nan, op(Op::sub_, found, length()), found)};
  }

 private:
  ValueId op(Op op, ValueId x, ValueId y) { return b_.scalar(op, {x, y}); }
  ValueId both(ValueId x, ValueId y) { return op(Op::and_, x, y); }
  ValueId either(ValueId x, ValueId y) { return op(Op::or_, x, y); }
  ValueId nan(ValueId x) { return b_.scalar(Op::isnan_, {x}); }
  ValueId select(ValueId condition, ValueId yes, ValueId no) { return b_.scalar(Op::select_, {condition, yes, no}); }
  ValueId column(ValueId x) { return expand_dims(b_, x, {-1}); }
  ValueId length() { return b_.size(type_.dims.back()); }
  ValueId never() { return b_.literal(Literal::of_integer(DType::i64, std::numeric_limits<int64_t>::max())); }
  ValueId first(ValueId numbers) { return b_.reduce(Fold::min, numbers, {type_.rank() - 1}, DType::i64); }

  ValueId same(ValueId x, ValueId value) {
    const ValueId equal = op(Op::eq_, x, column(value));
    return is_float(type_.dtype) ? either(equal, both(nan(x), column(nan(value)))) : equal;
  }

  ValueId comes_after(ValueId value) {
    const ValueId beyond = op(largest_ ? Op::lt_ : Op::gt_, x_, column(value));
    if (!is_float(type_.dtype)) return beyond;
    const ValueId is_nan = nan(x_), was_nan = column(nan(value));
    return either(
        beyond, largest_ ? both(was_nan, b_.scalar(Op::not_, {is_nan})) : both(is_nan, b_.scalar(Op::not_, {was_nan})));
  }

  ValueId extreme_of(ValueId among) {
    const ValueId otherwise = b_.literal(extreme_literal(type_.dtype, !largest_));
    return b_.reduce(largest_ ? Fold::max : Fold::min, select(among, x_, otherwise), {type_.rank() - 1}, type_.dtype);
  }

  GraphBuilder& b_;
  ValueId x_;
  bool largest_;
  TensorType type_;
};

/// What every element follows.
Literal before_all(DType dtype, Extreme extreme) {
  if (extreme == Extreme::smallest) return extreme_literal(dtype, false);
  if (!is_float(dtype)) return extreme_literal(dtype, true);
  return Literal::of_float(dtype, std::numeric_limits<double>::quiet_NaN());
}

/// Values and places [count, ...] of the rows.
ValuesAndPlaces in_steps(GraphBuilder& b, ValueId rows, int64_t count, Extreme extreme) {
  const TensorType type = b.type(rows);
  const std::vector<Dim> outer(type.dims.begin(), type.dims.end() - 1);
  GraphBuilder body = b.body();
  body.step("i", count);
  const ValueId value = body.param("value", {type.dtype, outer});
  const ValueId place = body.param("place", {DType::i64, outer});
  const ValueId inside = body.param("rows", type);
  const auto next = Next(body, inside, extreme).after(value, place);
  for (int i = 0; i < 2; ++i) {  // to be carried, and as results
    body.output(next.value);
    body.output(next.place);
  }
  const ValueId before = b.literal(Literal::of_integer(DType::i64, -1));
  const std::vector<ValueId> initial = {full(b, b.literal(before_all(type.dtype, extreme)), outer),
                                        full(b, before, outer)};
  const std::vector<ValueId> made = b.loop(count, initial, {rows}, std::move(body).finish());
  return {made[2], made[3]};
}

}  // namespace

ValuesAndPlaces first_in_order(GraphBuilder& b, ValueId x, const Dim& count, int axis, Extreme extreme) {
  const Dim dim = b.type(x).dims[static_cast<std::size_t>(axis)];
  if (!count.is_constant() || count.constant() < 1 || count.constant() > kMostSteps) {
    return top_k(b, x, count, axis, extreme);
  }
  b.require(DimCheck::Relation::at_most, count, dim, ErrorCode::slice_out_of_range,
            str("top_k: {0} of axis ", axis, ", which has {1} elements"), x);
  const ValuesAndPlaces found = in_steps(b, move_axis(b, x, axis, -1), count.constant(), extreme);
  return {move_axis(b, found.values, 0, axis), move_axis(b, found.places, 0, axis)};
}

}  // namespace inlay::onnx
