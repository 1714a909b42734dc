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

/// Every symbol in a size of the graph, the bodies in it included.
std::set<SymbolId> symbols_in(const Graph& graph);

/// The body with other symbols: those of `outer`, each old one replaced by replacement[old].
Graph with_symbols(const Graph& body, const Graph& outer, const IdMap<SymbolId, Dim>& replacement);

}  // namespace inlay
