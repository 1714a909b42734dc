// Reductions, by the rows of ops/folds.def.
#include <algorithm>

#include "ir/build.h"
#include "ir/builder.h"
#include "ops/fold.h"

namespace inlay {

namespace {

/// The dims that are left. No element, no maximum: that is an error of the node that is made next.
std::vector<Dim> dims_without(GraphBuilder& b, ValueId x, const std::vector<int>& axes, Fold fold) {
  std::vector<Dim> out;
  Dim count = 1;
  for (int axis = 0; axis < b.type(x).rank(); ++axis) {
    if (std::binary_search(axes.begin(), axes.end(), axis)) {
      count = count * b.type(x).dims[axis];
    } else {
      out.push_back(b.type(x).dims[axis]);
    }
  }
  const FoldFacts& row = facts(fold);
  if (!row.needs_a_point()) return out;
  const auto message = [&] { return str("reduce ", row.name, ": of no elements"); };
  const Dim rest = product(out);
  if (count.is(0) && !rest.is(0)) {
    throw b.error(ErrorCode::empty_reduction, message()).note("operand", b.graph().describe(x));
  }
  b.require(min(rest, 1), count, message, {{"operand", x}}, ErrorCode::empty_reduction, DimCheck::Relation::at_most);
  return out;
}

Error wrong_dtype(const GraphBuilder& b, Fold fold, std::size_t state, DType dtype, ValueId x) {
  const std::string name = state_name(fold, static_cast<int>(state));
  return b.error(ErrorCode::wrong_dtype, str("reduce ", name, ": does not take ", dtype_name(dtype)))
      .note("operand", b.graph().describe(x));
}

}  // namespace

std::vector<ValueId> GraphBuilder::reduce(Fold fold, std::vector<ValueId> operands, std::vector<int> axes,
                                          DType dtype) {
  const FoldFacts& row = facts(fold);
  if (operands.size() != row.num_operands()) {
    throw error(ErrorCode::wrong_arity,
                str("reduce ", row.name, ": takes ", row.num_operands(), " operands, not ", operands.size()));
  }
  require_axes(*this, "reduce", operands.back(), axes);
  const FoldState& first = row.states[0];
  if (!accepts(first.dtype, dtype)) throw wrong_dtype(*this, fold, 0, dtype, operands[0]);
  if (is_half(dtype) && first.dtype == FoldState::Class::number) {
    std::vector<ValueId> wide = reduce(fold, std::move(operands), std::move(axes), DType::f32);
    wide[0] = cast(wide[0], dtype);  // rounded once, not at every element
    return wide;
  }
  if (!first.counts_points()) operands[0] = cast(operands[0], dtype);
  if (axes.empty() && row.has_one_state()) return operands;  // an element is its state
  const ValueId last = operands.back();
  if (row.has_hidden() && static_cast<int>(axes.size()) != type(last).rank()) {
    throw error(ErrorCode::unsupported, str("reduce ", row.name, ": is folded over all axes"))
        .note("operand", graph().describe(last))
        .help("along some axes its states would have to be stored: write the reductions out");
  }
  for (ValueId v : operands) {
    if (v == last || type(v).dims == type(last).dims) continue;
    throw error(ErrorCode::shape_mismatch, str("reduce ", row.name, ": operands of several shapes"))
        .note("operand", graph().describe(v))
        .note("operand", graph().describe(last))
        .help("broadcast the smaller one");
  }
  std::vector<TensorType> types;  // where there are several
  auto operand = operands.begin() + (first.counts_points() ? 0 : 1);
  for (std::size_t k = 1; k < row.num_stored; ++k) {
    const bool counts = row.states[k].counts_points();
    const ValueId x = counts ? last : *operand++;
    types.push_back({counts ? dtype : type(x).dtype, {}});
    if (!accepts(row.states[k].dtype, types.back().dtype)) throw wrong_dtype(*this, fold, k, types.back().dtype, x);
  }
  std::vector<Dim> dims = dims_without(*this, last, axes, fold);
  Node node{.op = Op::reduce, .fold = fold};
  node.operands = std::move(operands);
  node.axes = std::move(axes);
  if (types.empty()) return {add(std::move(node), TensorType{dtype, std::move(dims)})};
  for (TensorType& type : types) type.dims = dims;
  types.insert(types.begin(), {dtype, std::move(dims)});
  return add(std::move(node), std::move(types));
}

ValueId GraphBuilder::reduce(Fold fold, ValueId x, std::vector<int> axes, DType dtype) {
  return reduce(fold, std::vector{x}, std::move(axes), dtype)[0];
}

}  // namespace inlay
