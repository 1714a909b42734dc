// Reductions: of one state, and folds of several.
#include <algorithm>

#include "ir/builder.h"
#include "ops/fold.h"

namespace inlay {

namespace {

/// Ascending, each once.
void require_axes(const GraphBuilder& b, const char* op, ValueId x, std::vector<int>& axes) {
  std::sort(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] >= 0 && axes[i] < b.type(x).rank() && (i == 0 || axes[i] != axes[i - 1])) continue;
    throw b.error(ErrorCode::axis_out_of_range, str(op, ": axis ", axes[i], " of a rank ", b.type(x).rank(), " value"))
        .note("operand", b.graph().describe(x));
  }
}

/// The dims that are left. No element, no greatest one: that is an error of the node that is made next.
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
  const auto message = [&] {
    return str("reduce ", combine_name(row.states[row.num_stored - 1].combine), ": of no elements");
  };
  const Dim rest = product(out);
  if (count.is(0) && !rest.is(0)) {
    throw b.error(ErrorCode::empty_reduction, message()).note("operand", b.graph().describe(x));
  }
  b.require(min(rest, 1), count, message, {{"operand", x}}, ErrorCode::empty_reduction, DimCheck::Relation::at_most);
  return out;
}

}  // namespace

ValueId GraphBuilder::reduce(Combine combine, ValueId x, std::vector<int> axes, DType accumulator) {
  require_axes(*this, "reduce", x, axes);
  if (combine == Combine::set) throw error(ErrorCode::unsupported, "reduce: `set` is for updates");
  if (!accepts(combine_op(combine), accumulator)) {
    throw error(ErrorCode::wrong_dtype,
                str("reduce ", combine_name(combine), ": does not take ", dtype_name(accumulator)))
        .note("operand", graph().describe(x));
  }
  if (is_half(accumulator) && (combine == Combine::add || combine == Combine::mul)) {
    return cast(reduce(combine, x, std::move(axes), DType::f32), accumulator);  // rounded once, not at every element
  }
  x = cast(x, accumulator);
  if (axes.empty()) return x;
  TensorType result{accumulator, dims_without(*this, x, axes, fold_by(combine))};
  Node node{.op = Op::reduce, .combine = combine};
  node.operands = {x};
  node.axes = std::move(axes);
  return add(std::move(node), std::move(result));
}

std::vector<ValueId> GraphBuilder::fold(Fold fold, std::vector<ValueId> operands, std::vector<int> axes, DType real) {
  const FoldFacts& row = facts(fold);
  const std::string name = str("fold ", row.name);
  if (operands.size() != row.num_operands()) {
    throw error(ErrorCode::wrong_arity, str(name, ": takes ", row.num_operands(), " operands, not ", operands.size()));
  }
  if (row.has_one_state()) return {reduce(row.states[0].combine, operands[0], std::move(axes), real)};
  const ValueId last = operands.back();
  require_axes(*this, name.c_str(), last, axes);
  if (row.has_hidden() && static_cast<int>(axes.size()) != type(last).rank()) {
    throw error(ErrorCode::unsupported, str(name, ": is folded over all axes"))
        .note("operand", graph().describe(last))
        .help("along some axes its states would have to be stored: write the reductions out");
  }
  for (ValueId v : operands) {
    if (type(v).dims == type(last).dims) continue;
    throw error(ErrorCode::shape_mismatch, str(name, ": operands of several shapes"))
        .note("operand", graph().describe(v))
        .note("operand", graph().describe(last))
        .help("broadcast the smaller one");
  }
  Node node{.op = Op::fold, .fold = fold};
  std::vector<TensorType> types;
  auto operand = operands.begin();
  for (const FoldState& state : std::span(row.states).first(row.num_stored)) {
    const ValueId x = state.counts_points() ? last : *operand++;
    const DType dtype = state.counts_points() ? real : type(x).dtype;
    if (!accepts(state.dtype, dtype)) {
      throw error(ErrorCode::wrong_dtype, str(name, ": ", state.name, " cannot be ", dtype_name(dtype)))
          .note("operand", graph().describe(x));
    }
    types.push_back({dtype, {}});
  }
  const std::vector<Dim> dims = dims_without(*this, last, axes, fold);
  node.operands = {operands.begin(), operands.end()};
  node.axes = std::move(axes);
  for (TensorType& type : types) type.dims = dims;
  return add(std::move(node), std::move(types));
}

}  // namespace inlay
