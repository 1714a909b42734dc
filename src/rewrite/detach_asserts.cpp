#include "rewrite/detach_asserts.h"

#include <algorithm>

namespace inlay::rewrite {
namespace {

ValueId asserted(const Graph& graph, ValueId v) {
  const Node* node = graph.node_of(v);
  while (node && node->op == Op::assert_) {
    v = node->operands[0];
    node = graph.node_of(v);
  }
  return v;
}

}  // namespace

std::optional<Graph> detach_asserts(const Graph& graph, PassContext& context) {
  if (std::ranges::none_of(graph.nodes, [](const Node& node) { return node.op == Op::assert_; })) return std::nullopt;
  if (!context.fires("detach-asserts", Close::bitwise)) return std::nullopt;
  Graph out = graph;
  for (Node& node : out.nodes) {
    for (ValueId& operand : node.operands) operand = asserted(graph, operand);
    for (IndexItem& item : node.index) {
      if (item.kind == IndexItem::Kind::array) item.array = asserted(graph, item.array);
    }
  }
  for (Node& node : out.nodes) {
    const auto is_returned = [&](const Output& output) { return output.value == node.results[0]; };
    if (node.op != Op::assert_ || std::ranges::any_of(out.outputs, is_returned)) continue;
    // It has no readers any more, so its condition takes the place of its value.
    node.operands[0] = node.operands[1];
    out.values[node.results[0]].type = out.type(node.operands[1]);
  }
  return out;
}

}  // namespace inlay::rewrite
