#include "rewrite/identity_parts.h"

#include <algorithm>

#include "ir/traits.h"

namespace inlay::rewrite {
namespace {

/// Returns the one operand of the concat that is no identity of the reduction along its axis.
ValueId part_that_counts(const Graph& graph, const Node& reduce, const Node& concat) {
  if (!std::ranges::binary_search(reduce.axes, concat.axes[0])) return {};
  const Literal identity = identity_of(*combines_elements(reduce), graph.type(concat.results[0]).dtype);
  ValueId found;
  for (ValueId part : concat.operands) {
    const std::optional<Literal> all = splat(graph, part, [](ValueId) { return false; });
    if (all && *all == identity) continue;
    if (found.valid()) return {};
    found = part;
  }
  return found;
}

}  // namespace

std::optional<Graph> drop_identity_parts(const Graph& graph, PassContext& context) {
  std::vector<std::pair<NodeId, ValueId>> found;
  IdMap<ValueId, int> uses;
  for (NodeId id : ids<NodeId>(graph.nodes.size())) {
    const Node& node = graph.nodes[id];
    const Node* operand = node.op == Op::reduce ? graph.node_of(node.operands[0]) : nullptr;
    if (!operand || operand->op != Op::concat || !combines_elements(node)) continue;
    if (uses.size() == 0) uses = count_uses(graph);
    if (uses[node.operands[0]] != 1) continue;
    if (const ValueId part = part_that_counts(graph, node, *operand);
        part.valid() && context.fires("identity-parts", Close::bitwise)) {
      found.emplace_back(id, part);
    }
  }
  if (found.empty()) return std::nullopt;
  Graph out = graph;
  for (const auto& [id, part] : found) out.nodes[id].operands[0] = part;
  return out;
}

}  // namespace inlay::rewrite
