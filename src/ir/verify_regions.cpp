#include <algorithm>

#include "ir/verifier.h"

namespace inlay::verifier {

void Verifier::region(const Node& node) {
  const std::string name(op_name(node.op));
  const Region& region = node.region;
  if (region.bodies.size() != (node.op == Op::cond ? 2 : 1)) {
    return fail(name, node.location, str("has ", region.bodies.size(), " bodies"));
  }
  for (const auto& body : region.bodies) {
    if (!body->is_body || body->symbols.size() > graph_.symbols.size()) {
      return fail(name, node.location, "its body is no body of this graph");
    }
    std::vector<Diagnostic> inside = verify(*body);
    diagnostics_.insert(diagnostics_.end(), inside.begin(), inside.end());
  }
  node.op == Op::cond ? cond(node) : loop(node);
}

void Verifier::expect_params(const Node& node, const Graph& body, std::size_t first_param, std::size_t first_operand) {
  const std::size_t count = node.operands.size() - first_operand;
  if (body.params.size() != first_param + count) {
    return fail(std::string(op_name(node.op)), node.location, str(body.params.size(), " parameters of the body"));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId inside = body.params[first_param + i].value, outside = node.operands[first_operand + i];
    if (!same_type(body.type(inside), type(outside))) {
      fail(outside, str("comes into a body as ", body.describe(inside)));
    }
  }
}

void Verifier::expect_result(const Node& node, std::size_t result, const Graph& body, std::size_t output,
                             std::optional<Dim> rows) {
  TensorType made = body.type(body.outputs[output].value);
  if (rows) made.dims.insert(made.dims.begin(), *rows);
  if (!same_type(type(node.results[result]), made)) fail(node.results[result], str("the body makes ", text(made)));
}

void Verifier::cond(const Node& node) {
  require(type(node.operands[0]) == TensorType{DType::boolean, {}}, node.operands[0], "the condition is no 0-d bool");
  for (const auto& body : node.region.bodies) {
    expect_params(node, *body, 0, 1);
    if (body->outputs.size() != node.results.size()) return fail("cond", node.location, "a body of other results");
    for (std::size_t i = 0; i < node.results.size(); ++i) expect_result(node, i, *body, i);
  }
}

void Verifier::loop(const Node& node) {
  const Graph& body = *node.region.bodies[0];
  const auto num_carried = static_cast<std::size_t>(node.region.num_carried);
  const std::size_t num_conditions = node.region.has_condition ? 1 : 0;
  expect_params(node, body, 1, 0);
  if (!diagnostics_.empty()) return;
  const bool fits = node.operands.size() >= num_carried && node.results.size() >= num_carried &&
                    body.outputs.size() == node.results.size() + num_conditions;
  if (!fits) return fail("loop", node.location, "a body of other results");
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const bool is_trace = i >= num_carried;
    expect_result(node, i, body, i, is_trace ? std::optional(node.region.count) : std::nullopt);
  }
  if (num_conditions > 0 && body.type(body.outputs.back().value) != TensorType{DType::boolean, {}}) {
    fail("loop", node.location, "its condition is no 0-d bool");
  }
  if (body.params[0].below != node.region.count) fail("loop", node.location, "its step has another bound");
}

}  // namespace inlay::verifier
