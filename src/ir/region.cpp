#include "ir/region.h"

namespace inlay {
namespace {

/// Calls `visit` with each size of the graph, not of the bodies in it.
template <class GraphType, class Visit>
void for_each_dim(GraphType& graph, const Visit& visit) {
  for (auto& value : graph.values) {
    for (auto& dim : value.type.dims) visit(dim);
  }
  for (auto& param : graph.params) {
    if (param.below) visit(*param.below);
    for (auto& dim : param.given) visit(dim);
  }
  for (auto& node : graph.nodes) {
    visit(node.size);
    visit(node.region.count);
    for (auto& item : node.index) {
      visit(item.start);
      visit(item.stop);
      visit(item.position);
    }
  }
  for (auto& check : graph.checks) {
    visit(check.left);
    visit(check.right);
  }
  for (auto& [left, right] : graph.assumptions) {
    visit(left);
    visit(right);
  }
}

}  // namespace

void for_each_node(const Graph& graph, const std::function<void(const Node&)>& visit) {
  for (const Node& node : graph.nodes) {
    visit(node);
    for (const auto& body : node.region.bodies) for_each_node(*body, visit);
  }
}

bool has_effects(const Node& node) {
  bool found = node.op == Op::host_call || node.op == Op::assert_;
  for (const auto& body : node.region.bodies) {
    for_each_node(*body, [&](const Node& inner) { found |= inner.op == Op::host_call || inner.op == Op::assert_; });
  }
  return found;
}

std::set<SymbolId> symbols_in(const Graph& graph) {
  std::set<SymbolId> out;
  for_each_dim(graph, [&](const Dim& dim) {
    for (SymbolId s : dim.symbols()) out.insert(s);
  });
  for (const Node& node : graph.nodes) {
    for (const auto& body : node.region.bodies) out.merge(symbols_in(*body));
  }
  return out;
}

Graph with_symbols(const Graph& body, const Graph& outer, const IdMap<SymbolId, Dim>& replacement) {
  Graph out = body;
  out.symbols = outer.symbols;
  out.symbols_of = outer.symbols_of;
  for (Symbol& symbol : out.symbols) symbol.source = ValueId();
  for_each_dim(out, [&](Dim& dim) { dim = dim.substitute(replacement); });
  for (Node& node : out.nodes) {
    for (auto& inner : node.region.bodies) {
      inner = std::make_shared<const Graph>(with_symbols(*inner, outer, replacement));
    }
  }
  return out;
}

}  // namespace inlay
