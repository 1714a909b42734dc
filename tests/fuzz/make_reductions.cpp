// Reductions and running ones.
#include "graph_maker.h"

namespace inlay::fuzz {

void GraphMaker::reduced() {
  const bool arg = chance(40);
  const auto x = pick([&](const Entry& e) {
    const DType dtype = type(e.v).dtype;
    return type(e.v).rank() >= 1 && (arg ? e.exact && computes(dtype) && !is_complex(dtype) : dtype == DType::f64) &&
           size_of(product(type(e.v).dims)) > 0;
  });
  if (!x) return;
  NamedArguments named;
  const int rank = type(pool_[*x].v).rank();
  std::vector<int> axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  if (chance(70)) {
    const int64_t axis = draw(-rank, rank - 1);
    named["axes"] = list({axis});
    axes = {static_cast<int>((axis + rank) % rank)};
  }
  const bool nasty = options_.elements == tool::Elements::nasty;
  if (arg) {
    // Beside its place the extreme itself is asked now and then: one fold gives both.
    const bool maximum = chance(50);
    const ValueId v = use(*x);
    if (chance(50)) add(builder_.reduce(maximum ? Fold::max : Fold::min, v, axes, type(v).dtype), true);
    return add(composed(maximum ? "argmax" : "argmin", *x, {}, named), true);
  }
  if (pool_[*x].exact && chance(30)) return add(composed(chance(50) ? "all" : "any", *x, {}, named), true);
  if (nasty) return;
  if (chance(15)) return add(sum_of_exponentials(use(*x)), false);
  if (chance(15)) return add(less_its_mean(use(*x)), false);
  constexpr const char* kNames[] = {"mean", "var", "logsumexp", "softmax", "log_softmax"};
  add(composed(of(kNames), *x, {}, named), false);
}

/// sum(exp(x - max(x))) over all of x: a fold of two states.
ValueId GraphMaker::sum_of_exponentials(ValueId x) {
  std::vector<int> axes;
  for (int axis = 0; axis < type(x).rank(); ++axis) axes.push_back(axis);
  const ValueId maximum = builder_.reduce(Fold::max, x, axes, type(x).dtype);
  const ValueId power = builder_.scalar(ScalarOp::exp_, {builder_.scalar(ScalarOp::sub_, {x, maximum})});
  return builder_.reduce(Fold::add, power, axes, type(x).dtype);
}

/// x less its mean, over the root of 1 and what that differs by: squares are folded with the sum. Now and then they are
/// squares of something else.
ValueId GraphMaker::less_its_mean(ValueId x) {
  const auto scalar = [&](ScalarOp op, ValueId a, ValueId b) { return builder_.scalar(op, {a, b}); };
  std::vector<int> axes;
  for (int axis = 0; axis < type(x).rank(); ++axis) axes.push_back(axis);
  const auto sum = [&](ValueId v) { return builder_.reduce(Fold::add, v, axes, type(v).dtype); };
  const DType dtype = type(x).dtype;
  const Dim points = product(type(x).dims);
  const ValueId count = builder_.cast(builder_.size(chance(80) ? points : points + 1), dtype);
  const ValueId difference = scalar(ScalarOp::sub_, x, scalar(ScalarOp::div_, sum(x), count));
  const ValueId squares = sum(scalar(ScalarOp::mul_, difference, difference));
  if (chance(30)) return squares;
  const ValueId one = builder_.literal(Literal::of(dtype, 1));
  const ValueId root = builder_.scalar(ScalarOp::sqrt_, {scalar(ScalarOp::add_, one, squares)});
  return scalar(ScalarOp::div_, difference, root);
}

ValueId GraphMaker::rows_less_their_sums(ValueId x) {
  const TensorType rows = type(x);
  std::vector<Dim> column = rows.dims;
  column.back() = 1;
  const ValueId sums = builder_.reduce(Fold::add, x, {rows.rank() - 1}, rows.dtype);
  return builder_.scalar(ScalarOp::sub_, {x, builder_.reshape(sums, column)});
}

void GraphMaker::reduce() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
  if (!x) return;
  const TensorType from = type(pool_[*x].v);
  std::vector<int> axes;
  int64_t count = 1;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from.rank() > 1 && chance(40)) continue;
    axes.push_back(axis);
    count *= size_of(from.dims[axis]);
  }
  const auto fold = of(std::vector<Fold>{Fold::add, Fold::add, Fold::add, Fold::mul, Fold::max, Fold::min, Fold::and_,
                                         Fold::or_, Fold::xor_});
  const bool extreme = facts(fold).needs_a_point();
  const bool never_any = std::ranges::any_of(axes, [&](int axis) { return from.dims[axis].is(0); });
  if (extreme && (never_any || (count == 0 && !may_fail()))) return;
  DType accumulator = from.dtype;
  if (fold == Fold::add && !is_inexact(from.dtype)) accumulator = DType::i64;
  if (fold == Fold::add && from.dtype == DType::f32 && chance(50)) accumulator = DType::f64;
  if (!accepts(facts(fold).states[0].dtype, accumulator) || order_shows(combine_of(fold, 0), accumulator)) return;
  ValueId v = builder_.reduce(fold, use(*x), axes, accumulator);
  if (chance(30)) {
    std::vector<Dim> kept = from.dims;
    for (int axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
    v = builder_.reshape(v, kept);
  }
  add(v, pool_[*x].exact && (extreme || !is_inexact(accumulator)));
}

void GraphMaker::fold() {
  const Fold fold = of(all_folds());
  if (facts(fold).has_one_state()) return reduce();
  const bool has_place = facts(fold).states[0].dtype == FoldState::Class::place;
  const auto x = pick([&](const Entry& e) {
    const TensorType& t = type(e.v);
    const bool fits = has_place ? e.exact && computes(t.dtype) && accepts(ScalarOp::gt_, t.dtype)
                                : t.dtype == DType::f32 || t.dtype == DType::f64;
    return t.rank() >= 1 && fits && size_of(product(t.dims)) > 0;
  });
  if (!x) return;
  const std::vector<Dim> dims = type(pool_[*x].v).dims;
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (dims.size() == 1 || facts(fold).has_hidden() || chance(60)) axes.push_back(axis);
  }
  ValueId folded = use(*x);
  std::vector<ValueId> operands;
  if (has_place) {
    operands.push_back(builder_.broadcast(builder_.iota(dims.back(), DType::i64), dims));
  } else {
    folded = builder_.scalar(ScalarOp::tanh_, {folded});  // what is not finite is not said
  }
  operands.resize(facts(fold).num_operands(), folded);
  // (The sum of an f32 in f64 is as good as exp in f32, which the comparison does not know.)
  const DType first = has_place ? DType::i64 : type(folded).dtype;
  for (ValueId state : builder_.reduce(fold, std::move(operands), std::move(axes), first)) add(state, has_place);
}

void GraphMaker::cumulative() {
  const auto x = pick([&](const Entry& e) { return type(e.v).rank() >= 1 && computes(type(e.v).dtype); });
  if (!x) return;
  const TensorType from = type(pool_[*x].v);
  const auto axis = static_cast<int>(draw(0, from.rank() - 1));
  const auto combine = of(std::vector<Combine>{Combine::add, Combine::add, Combine::mul, Combine::max, Combine::min});
  const bool extreme = combine == Combine::max || combine == Combine::min;
  const DType accumulator = combine == Combine::add && !is_inexact(from.dtype) ? DType::i64 : from.dtype;
  if (!accepts(combine_op(combine), accumulator) || order_shows(combine, accumulator)) return;
  add(builder_.cumulative(combine, use(*x), axis, accumulator),
      pool_[*x].exact && (extreme || !is_inexact(accumulator)));
}

}  // namespace inlay::fuzz
