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
    if (node.op != Op::reduce || !combines_elements(node)) continue;
    const ValueId operand = node.operands[0];
    ValueId counts = operand;
    for (const Node* concat = graph.node_of(operand); concat && concat->op == Op::concat;
         concat = graph.node_of(counts)) {
      if (uses.size() == 0) uses = count_uses(graph);
      const ValueId part = uses[counts] == 1 ? part_that_counts(graph, node, *concat) : ValueId();
      if (!part.valid()) break;
      counts = part;
    }
    if (counts != operand && context.fires("identity-parts", Close::bitwise)) found.emplace_back(id, counts);
  }
  if (found.empty()) return std::nullopt;
  Graph out = graph;
  for (const auto& [id, part] : found) out.nodes[id].operands[0] = part;
  return out;
}

}  // namespace inlay::rewrite
