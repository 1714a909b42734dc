#include <optional>

#include "ir/verifier.h"
#include "ir/verify.h"

namespace inlay::verifier {

namespace {

/// How values come into the bodies of a node and out of them.
class Border {
 public:
  Border(const Graph& graph, const SizeProof& sizes, const Node& node, Findings& findings)
      : graph_(graph), sizes_(sizes), node_(node), findings_(findings) {}

  void cond() {
    findings_.require(graph_.type(node_.operands[0]) == TensorType{DType::boolean, {}}, node_.operands[0],
                      "the condition is no 0-d bool");
    for (const auto& body : node_.region.bodies) {
      expect_params(*body, 0, 1);
      if (body->outputs.size() != node_.results.size()) {
        return findings_.fail("cond", node_.location, "a body of other results");
      }
      for (std::size_t i = 0; i < node_.results.size(); ++i) expect_result(i, *body, i);
    }
  }

  void loop() {
    const Graph& body = *node_.region.bodies[0];
    const auto num_carried = static_cast<std::size_t>(node_.region.num_carried);
    const std::size_t num_conditions = node_.region.has_condition ? 1 : 0;
    expect_params(body, 1, 0);
    if (!findings_.empty()) return;
    const bool fits = node_.operands.size() >= num_carried && node_.results.size() >= num_carried &&
                      body.outputs.size() == node_.results.size() + num_conditions;
    if (!fits) return findings_.fail("loop", node_.location, "a body of other results");
    for (std::size_t i = 0; i < node_.results.size(); ++i) {
      const bool is_trace = i >= num_carried;
      expect_result(i, body, i, is_trace ? std::optional(node_.region.count) : std::nullopt);
    }
    if (num_conditions > 0 && body.type(body.outputs.back().value) != TensorType{DType::boolean, {}}) {
      findings_.fail("loop", node_.location, "its condition is no 0-d bool");
    }
    if (body.params[0].below != node_.region.count) {
      findings_.fail("loop", node_.location, "its step has another bound");
    }
  }

 private:
  void expect_params(const Graph& body, std::size_t first_param, std::size_t first_operand) {
    const std::size_t count = node_.operands.size() - first_operand;
    if (body.params.size() != first_param + count) {
      return findings_.fail(std::string(op_name(node_.op)), node_.location,
                            str(body.params.size(), " parameters of the body"));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId inside = body.params[first_param + i].value, outside = node_.operands[first_operand + i];
      if (!sizes_.same(body.type(inside), graph_.type(outside))) {
        findings_.fail(outside, str("comes into a body as ", body.describe(inside)));
      }
    }
  }

  void expect_result(std::size_t result, const Graph& body, std::size_t output, std::optional<Dim> rows = {}) {
    TensorType made = body.type(body.outputs[output].value);
    if (rows) made.dims.insert(made.dims.begin(), *rows);
    if (!sizes_.same(graph_.type(node_.results[result]), made)) {
      findings_.fail(node_.results[result], str("the body makes ", graph_.type_text(made)));
    }
  }

  const Graph& graph_;
  const SizeProof& sizes_;
  const Node& node_;
  Findings& findings_;
};

}  // namespace

/// What comes in and goes out has sizes of the graph around it.
static void require_given_sizes(const Graph& body, Findings& findings) {
  std::vector<ValueId> border;
  for (const Param& param : body.params) border.push_back(param.value);
  for (const Output& output : body.outputs) border.push_back(output.value);
  for (ValueId v : border) {
    for (const Dim& dim : body.type(v).dims) {
      if (!body.is_given(dim)) findings.fail(body.name, {}, str(body.describe(v), " has a size that the body finds"));
    }
  }
}

void check_region(const Graph& graph, const SizeProof& sizes, const Node& node, Findings& findings) {
  const std::string name(op_name(node.op));
  const Region& region = node.region;
  if (region.bodies.size() != (node.op == Op::cond ? 2 : 1)) {
    return findings.fail(name, node.location, str("has ", region.bodies.size(), " bodies"));
  }
  for (const auto& body : region.bodies) {
    const bool has_symbols = body->num_given <= graph.symbols.size() && body->num_given <= body->symbols.size();
    if (!body->is_body || !has_symbols) {
      return findings.fail(name, node.location, "its body is no body of this graph");
    }
    findings.add(verify(*body));
    require_given_sizes(*body, findings);
  }
  if (!findings.empty()) return;
  Border border(graph, sizes, node, findings);
  node.op == Op::cond ? border.cond() : border.loop();
}

}  // namespace inlay::verifier
