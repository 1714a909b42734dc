#include "rewrite/dead_values.h"

#include <algorithm>

#include "ir/region.h"
#include "rewrite/rewriter.h"

namespace inlay::rewrite {
namespace {

/// The values that outputs, asserts and the signature need, and symbols: the node that defines a needed symbol is
/// needed too.
class Needs {
 public:
  explicit Needs(const Graph& graph)
      : nodes(graph.nodes.size(), false), symbols(graph.symbols.size(), false), graph_(graph) {
    checks_of_.resize(graph.nodes.size());
    for (const DimCheck& check : graph.checks) {
      if (check.node.valid()) {
        checks_of_[check.node].push_back(&check);
      } else {
        need(check);
      }
    }
    for (const auto& [left, right] : graph.assumptions) need(left), need(right);
    for (const Param& param : graph.params) need_type(param.value);
    for (const Output& output : graph.outputs) need(output.value);
    for (std::size_t n = graph.nodes.size(); n-- > 0;) visit(NodeId(n));
  }

  IdMap<NodeId, bool> nodes;
  IdMap<SymbolId, bool> symbols;

 private:
  void need(const Dim& dim) {
    for (SymbolId s : dim.symbols()) {
      if (symbols[s]) continue;
      symbols[s] = true;
      if (graph_.symbols[s].source.valid()) need(graph_.symbols[s].source);
    }
  }
  void need(const DimCheck& check) {
    need(check.left);
    need(check.right);
  }
  void need(ValueId v) {
    const ValueInfo& value = graph_.values[v];
    if (value.node.valid()) nodes[value.node] = true;
  }
  void need_type(ValueId v) {
    for (const Dim& dim : graph_.type(v).dims) need(dim);
  }

  /// Operands and the nodes that define a node's sizes come before it, so one backward sweep finds all.
  void visit(NodeId n) {
    const Node& node = graph_.nodes[n];
    if (node.op == Op::assert_ || (is_region(node.op) && has_effects(node))) nodes[n] = true;
    if (!nodes[n]) return;
    for (ValueId v : node.operands) need(v);
    for_each_size(graph_, node, [&](const Dim& size) { need(size); });
    for (const DimCheck* check : checks_of_[n]) need(*check);
  }

  const Graph& graph_;
  IdMap<NodeId, std::vector<const DimCheck*>> checks_of_;
};

}  // namespace

Graph drop_dead_values(const Graph& graph, PassContext& context) {
  const Needs needs(graph);
  Rewriter out(graph, needs.symbols);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    if (needs.nodes[n]) out.copy(n);
  }
  context.count("dropped", std::ranges::count(needs.nodes, false));
  return std::move(out).finish();
}

}  // namespace inlay::rewrite
