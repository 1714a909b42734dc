// The builder's calls for cond and loop.
#include <algorithm>

#include "ir/builder.h"
#include "support/counted.h"

namespace inlay {

GraphBuilder GraphBuilder::body() const {
  GraphBuilder out("body");
  out.share_sizes(graph(), graph().symbols.size());
  return out;
}

namespace {

/// Equal for all sizes that the assumptions leave. A region never compares sizes when it runs: what differs is two
/// types.
bool same_type(const Graph& graph, const TensorType& a, const TensorType& b) {
  const auto same = [&](const Dim& left, const Dim& right) {
    return holds(graph, left, right, DimCheck::Relation::equal);
  };
  return a.dtype == b.dtype && std::ranges::equal(a.dims, b.dims, same);
}

/// dtype, rank or shape: what a user would look for first.
ErrorCode difference_of(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) return ErrorCode::wrong_dtype;
  return a.rank() != b.rank() ? ErrorCode::wrong_rank : ErrorCode::shape_mismatch;
}

void require_captured(const GraphBuilder& b, const char* op, std::span<const ValueId> outside, const Graph& body,
                      std::size_t first_param) {
  if (!body.is_body) throw b.error(ErrorCode::unsupported, str(op, ": @", body.name, " is no body of this graph"));
  if (body.symbols_of != b.graph().symbols_of && body.symbols_of != 0 && b.graph().symbols_of != 0) {
    throw b.error(ErrorCode::unknown_name, str(op, ": @", body.name, " is a body of another builder"));
  }
  if (body.params.size() != first_param + outside.size()) {
    throw b.error(ErrorCode::wrong_arity, str(op, ": gives the body ", counted(first_param + outside.size(), "value"),
                                              ", and it has ", counted(body.params.size(), "parameter")));
  }
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    const TensorType& made = body.type(body.outputs[i].value);
    const auto found = std::ranges::find_if(made.dims, [&](const Dim& dim) { return !body.is_given(dim); });
    if (found == made.dims.end()) continue;
    throw b
        .error(ErrorCode::unsupported, str(op, ": output ", i, " is ", body.type_text(made), ", and ",
                                           found->to_text(body.symbol_names()), " is found in the body"))
        .help("what leaves a body has sizes of the graph around it");
  }
  for (std::size_t i = 0; i < outside.size(); ++i) {
    const ValueId inside = body.params[first_param + i].value;
    const TensorType &wanted = body.type(inside), &given = b.type(outside[i]);
    if (same_type(b.graph(), given, wanted)) continue;
    throw b
        .error(difference_of(given, wanted), str(op, ": ", body.value_text(inside), " is ", body.type_text(wanted),
                                                 ", and what comes in is ", b.graph().type_text(given)))
        .note("operand", b.graph().describe(outside[i]));
  }
}

}  // namespace

std::vector<ValueId> GraphBuilder::cond(ValueId condition, std::vector<ValueId> captured, Graph then, Graph otherwise) {
  if (type(condition) != TensorType{DType::boolean, {}}) {
    throw error(type(condition).rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                str("cond: the condition is ", graph().type_text(type(condition)), ", not a 0-d bool"))
        .note("condition", graph().describe(condition));
  }
  require_captured(*this, "cond", captured, then, 0);
  require_captured(*this, "cond", captured, otherwise, 0);
  if (then.outputs.size() != otherwise.outputs.size()) {
    throw error(ErrorCode::wrong_arity,
                str("cond: ", counted(then.outputs.size(), "result"), " where the condition holds, and ",
                    otherwise.outputs.size(), " where not"));
  }
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < then.outputs.size(); ++i) {
    const TensorType &a = then.type(then.outputs[i].value), &b = otherwise.type(otherwise.outputs[i].value);
    if (!same_type(graph(), a, b)) {
      throw error(difference_of(a, b), str("cond: result ", i, " is ", then.type_text(a),
                                           " where the condition holds, and ", otherwise.type_text(b), " where not"));
    }
    if (a.dtype == DType::opaque) throw error(ErrorCode::unsupported, str("cond: result ", i, " is opaque"));
    types.push_back(a);
  }
  Node node{.op = Op::cond};
  node.operands = {condition};
  node.operands.insert(node.operands.end(), captured.begin(), captured.end());
  node.region.bodies = {std::make_shared<const Graph>(std::move(then)),
                        std::make_shared<const Graph>(std::move(otherwise))};
  return add(std::move(node), std::move(types));
}

std::vector<ValueId> GraphBuilder::loop(Dim count, std::vector<ValueId> initial, std::vector<ValueId> captured,
                                        Graph body, Ends ends) {
  require_own({&count, 1}, "loop");
  std::vector<ValueId> operands = initial;
  operands.insert(operands.end(), captured.begin(), captured.end());
  require_captured(*this, "loop", operands, body, 1);
  const TensorType& step = body.type(body.params[0].value);
  if (step != TensorType{DType::i64, {}}) {
    throw error(ErrorCode::wrong_dtype, str("loop: the number of the step is ", body.type_text(step), ", not i64"));
  }
  const std::size_t num_conditions = ends == Ends::by_condition ? 1 : 0;
  if (body.outputs.size() < initial.size() + num_conditions) {
    throw error(ErrorCode::wrong_arity,
                str("loop: carries ", counted(initial.size(), "value"), ", and the body returns ",
                    body.outputs.size() - std::min(body.outputs.size(), num_conditions)));
  }
  const auto message = [] { return std::string("loop: the number of steps is {1}"); };
  require(0, count, message, {}, ErrorCode::negative_size, DimCheck::Relation::at_most);
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    TensorType of = body.type(body.outputs[i].value);
    if (of.dtype == DType::opaque && i >= initial.size()) {
      throw error(ErrorCode::unsupported, str("loop: output ", i, " is opaque, and is not carried"));
    }
    if (i < initial.size()) {
      const TensorType& carried = type(initial[i]);
      if (!same_type(graph(), carried, of)) {
        throw error(difference_of(carried, of),
                    str("loop: ", body.value_text(body.params[1 + i].value), " begins as ", graph().type_text(carried),
                        ", and the next one is ", body.type_text(of)))
            .note("initial", graph().describe(initial[i]));
      }
      of = carried;
    } else if (i + num_conditions == body.outputs.size() && ends == Ends::by_condition) {
      if (of != TensorType{DType::boolean, {}}) {
        throw error(of.rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                    str("loop: the condition is ", body.type_text(of), ", not a 0-d bool"));
      }
      break;
    } else {
      of.dims.insert(of.dims.begin(), count);
    }
    types.push_back(std::move(of));
  }
  body.params[0].below = count;
  Node node{.op = Op::loop};
  node.operands = std::move(operands);
  node.region = {.bodies = {std::make_shared<const Graph>(std::move(body))},
                 .count = std::move(count),
                 .num_carried = static_cast<int>(initial.size()),
                 .has_condition = ends == Ends::by_condition};
  return add(std::move(node), std::move(types));
}

}  // namespace inlay
