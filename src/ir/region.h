#pragma once
// Questions of passes about the bodies of cond and loop.
#include <functional>
#include <set>

#include "ir/graph.h"

namespace inlay {

inline bool is_region(Op op) { return op == Op::cond || op == Op::loop; }

/// Calls `visit` with every node of a graph, and of the bodies in it, outer ones first.
void for_each_node(const Graph& graph, const std::function<void(const Node&)>& visit);

/// Can the node, or one in its bodies, fail or have an effect besides its results: a host call, an assert?
bool has_effects(const Node& node);

/// Returns every symbol of the enclosing graph that occurs in a size of the body.
std::set<SymbolId> given_symbols_in(const Graph& body);

/// Calls `visit` with each size that must be known at the node: those of its results and its index, and those of the
/// graph in its bodies.
template <class Visit>
void for_each_size(const Graph& graph, const Node& node, const Visit& visit) {
  for (ValueId v : node.results) {
    for (const Dim& dim : graph.type(v).dims) visit(dim);
  }
  for (const IndexItem& item : node.index) {
    visit(item.start);
    visit(item.stop);
    visit(item.position);
  }
  visit(node.size);
  visit(node.region.count);
  for (const auto& body : node.region.bodies) {
    for (SymbolId s : given_symbols_in(*body)) visit(Dim::symbol(s));
  }
}

/// Returns the graph with each symbol replaced by replacement[old], a size of the same table of symbols.
Graph with_sizes(Graph graph, const IdMap<SymbolId, Dim>& replacement);

/// Returns the body for another enclosing graph, with the symbols of `outer`: each symbol from outside is replaced by
/// replacement[old].
Graph with_symbols(const Graph& body, const Graph& outer, const IdMap<SymbolId, Dim>& replacement);

}  // namespace inlay
