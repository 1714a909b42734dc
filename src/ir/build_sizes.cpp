// The builder's calls for what runs along an axis and for sizes that are values.
#include "ir/builder.h"

namespace inlay {

ValueId GraphBuilder::cumulative(Combine combine, ValueId x, int axis, DType accumulator) {
  if (axis < 0 || axis >= type(x).rank()) {
    throw error(ErrorCode::axis_out_of_range, str("cumulative: axis ", axis, " of a rank ", type(x).rank(), " value"))
        .note("operand", graph().describe(x));
  }
  const bool runs =
      combine == Combine::add || combine == Combine::mul || combine == Combine::max || combine == Combine::min;
  if (!runs) {
    throw error(ErrorCode::unsupported, str("cumulative ", combine_name(combine), ": add, mul, max and min run along"));
  }
  if (!accepts(combine_op(combine), accumulator)) {
    throw error(ErrorCode::wrong_dtype,
                str("cumulative ", combine_name(combine), ": does not take ", dtype_name(accumulator)))
        .note("operand", graph().describe(x));
  }
  x = cast(x, accumulator);
  if (type(x).dims[axis].is(1)) return x;
  Node node{.op = Op::cumulative, .combine = combine};
  node.operands = {x};
  node.axes = {axis};
  return add(std::move(node), type(x));
}

ValueId GraphBuilder::as_size(ValueId n, const Dim& symbol) {
  require_own({&symbol, 1}, "as_size");
  if (type(n).rank() != 0 || !is_integer(type(n).dtype)) {
    throw error(type(n).rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                str("as_size: a size is a 0-d integer, not ", graph().type_text(type(n))))
        .note("operand", graph().describe(n));
  }
  Node node{.op = Op::as_size};
  node.operands = {cast(n, DType::i64)};
  node.size = symbol;
  const ValueId v = add(std::move(node), {DType::i64, {}});
  bind_to_value(symbol, v, "as_size");
  return v;
}

std::vector<ValueId> GraphBuilder::compress(ValueId mask, std::vector<ValueId> xs, const Dim& symbol) {
  require_own({&symbol, 1}, "compress");
  if (type(mask).rank() != 1 || type(mask).dtype != DType::boolean) {
    throw error(type(mask).rank() == 1 ? ErrorCode::wrong_dtype : ErrorCode::wrong_rank,
                str("compress: the mask is ", graph().type_text(type(mask)), ", not a vector of bool"))
        .note("mask", graph().describe(mask));
  }
  for (ValueId x : xs) {
    if (type(x).rank() != 1) {
      throw error(ErrorCode::wrong_rank, str("compress: an operand of rank ", type(x).rank(), ", not a vector"))
          .note("operand", graph().describe(x));
    }
    const auto message = [] { return std::string("compress: the mask has {0} elements, the operand {1}"); };
    require(type(mask).dims[0], type(x).dims[0], message, {{"mask", mask}, {"operand", x}});
  }
  Node node{.op = Op::compress};
  node.operands = {mask};
  node.operands.insert(node.operands.end(), xs.begin(), xs.end());
  node.size = symbol;
  std::vector<TensorType> types = {{DType::i64, {}}};
  for (ValueId x : xs) types.push_back({type(x).dtype, {symbol}});
  std::vector<ValueId> results = add(std::move(node), std::move(types));
  bind_to_value(symbol, results[0], "compress");
  return results;
}

}  // namespace inlay
