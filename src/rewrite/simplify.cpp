#include "rewrite/simplify.h"

#include "ir/traits.h"
#include "rewrite/rewriter.h"
#include "rewrite/simplifier.h"

namespace inlay::rewrite {

Graph simplify(const Graph& graph, PassContext& context) {
  Rewriter out(graph);
  const IdMap<NodeId, bool> has_check = nodes_with_checks(graph);
  const IdMap<ValueId, int> readers = count_uses(graph);
  Simplifier simplifier(out.builder(), context);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    const Node& node = graph.nodes[n];
    const Node mapped = out.mapped(n);
    std::optional<ValueId> by;
    if (node.results.size() == 1 && !has_check[n]) {
      out.at(n);
      by = simplifier.simplified(mapped, graph.type(node.results[0]));
    }
    if (by) {
      out.replace(n, *by);
    } else {
      out.copy(n, mapped);
    }
    for (ValueId v : node.results) simplifier.add_readers(out[v], readers[v]);
  }
  return std::move(out).finish();
}

}  // namespace inlay::rewrite
