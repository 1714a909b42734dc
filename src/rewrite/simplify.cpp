#include "rewrite/simplify.h"

#include "rewrite/rewriter.h"
#include "rewrite/simplifier.h"

namespace inlay::rewrite {
namespace {

IdMap<ValueId, int> count_readers(const Graph& graph) {
  IdMap<ValueId, int> out(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.operands) ++out[v];
    for (const IndexItem& item : node.index) {
      if (item.array.valid()) ++out[item.array];
    }
  }
  for (const Output& output : graph.outputs) ++out[output.value];
  return out;
}

}  // namespace

Graph simplify(const Graph& graph, PassContext& context) {
  Rewriter out(graph);
  IdMap<NodeId, bool> has_check(graph.nodes.size(), false);
  for (const DimCheck& check : graph.checks) {
    if (check.node.valid()) has_check[check.node] = true;
  }
  const IdMap<ValueId, int> readers = count_readers(graph);
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
