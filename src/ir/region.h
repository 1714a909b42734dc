#pragma once
// What passes ask of the bodies of cond and loop.
#include <functional>
#include <set>

#include "ir/graph.h"

namespace inlay {

inline bool is_region(Op op) { return op == Op::cond || op == Op::loop; }

/// Calls `visit` with every node of a graph, and of the bodies in it, outer ones first.
void for_each_node(const Graph& graph, const std::function<void(const Node&)>& visit);

/// Can the node, or one in its bodies, fail or have an effect that nobody reads: a host call, an assert?
bool has_effects(const Node& node);

/// Every symbol of the graph around it that a body has in a size.
std::set<SymbolId> given_symbols_in(const Graph& body);

/// Calls `visit` with each size that must be known where the node stands: of its results and its index, and what the
/// bodies in it have of the graph.
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

/// The graph where each size is one of other symbols, replacement[old], of the same table of symbols.
Graph with_sizes(Graph graph, const IdMap<SymbolId, Dim>& replacement);

/// The body for another graph around it, with the symbols of `outer`: each that was given is replaced by
/// replacement[old].
Graph with_symbols(const Graph& body, const Graph& outer, const IdMap<SymbolId, Dim>& replacement);

}  // namespace inlay
