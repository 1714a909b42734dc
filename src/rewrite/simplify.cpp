#include "rewrite/simplify.h"

#include "rewrite/rewriter.h"
#include "rewrite/simplifier.h"

namespace inlay::rewrite {

Graph simplify(const Graph& graph, PassContext& context) {
  Rewriter out(graph);
  IdMap<NodeId, bool> has_check(graph.nodes.size(), false);
  for (const DimCheck& check : graph.checks) {
    if (check.node.valid()) has_check[check.node] = true;
  }
  Simplifier simplifier(out.builder(), context);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    const Node& node = graph.nodes[n];
    const Node mapped = out.mapped(n);
    if (node.results.size() == 1 && !has_check[n]) {
      out.at(n);
      if (const std::optional<ValueId> by = simplifier.simplified(mapped, graph.type(node.results[0]))) {
        out.replace(n, *by);
        continue;
      }
    }
    out.copy(n, mapped);
  }
  return std::move(out).finish();
}

}  // namespace inlay::rewrite
