#include "ir/region.h"

#include <utility>

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

std::set<SymbolId> given_symbols_in(const Graph& body) {
  std::set<SymbolId> out;
  for_each_dim(body, [&](const Dim& dim) {
    for (SymbolId s : dim.symbols()) out.insert(s);
  });
  for (const Node& node : body.nodes) {
    for (const auto& inner : node.region.bodies) out.merge(given_symbols_in(*inner));
  }
  std::erase_if(out, [&](SymbolId s) { return !body.is_given(s); });
  return out;
}

Graph with_sizes(Graph graph, const IdMap<SymbolId, Dim>& replacement) {
  for_each_dim(graph, [&](Dim& dim) { dim = dim.substitute(replacement); });
  for (Node& node : graph.nodes) {
    for (auto& body : node.region.bodies) {
      body = std::make_shared<const Graph>(with_symbols(*body, graph, replacement));
    }
  }
  return graph;
}

Graph with_symbols(const Graph& body, const Graph& outer, const IdMap<SymbolId, Dim>& replacement) {
  Graph around = body;
  around.symbols = {};
  for (const Symbol& symbol : outer.symbols) around.symbols.push_back(Symbol{symbol.name, {}, 0});
  around.num_given = outer.symbols.size();
  around.symbols_of = outer.symbols_of;
  IdMap<SymbolId, Dim> of_body;
  for (SymbolId s : ids<SymbolId>(body.symbols.size())) {
    const bool is_own = !body.is_given(s);
    of_body.push_back(is_own ? Dim::symbol(around.symbols.push_back(body.symbols[s]), outer.symbols_of)
                             : replacement[s]);
  }
  return with_sizes(std::move(around), of_body);
}

}  // namespace inlay
