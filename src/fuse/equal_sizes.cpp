#include "fuse/equal_sizes.h"

#include <algorithm>

#include "ir/region.h"

namespace inlay::fuse {
namespace {

/// The symbol that stands for it.
SymbolId found(const IdMap<SymbolId, SymbolId>& stands_for, SymbolId s) {
  while (stands_for[s] != s) s = stands_for[s];
  return s;
}

}  // namespace

std::optional<Graph> with_equal_sizes(const Graph& graph) {
  if (graph.is_body) return std::nullopt;  // the sizes are those of the graph around it
  IdMap<SymbolId, SymbolId> stands_for;
  for (SymbolId s : ids<SymbolId>(graph.symbols.size())) stands_for.push_back(s);
  const auto is_known_at_entry = [&](const Dim& dim) {
    return dim.is_symbol() && !graph.node_of(graph.symbols[dim.as_symbol()].source);
  };
  bool any = false;
  for (const DimCheck& check : graph.checks) {
    if (check.relation != DimCheck::Relation::equal) continue;
    if (!is_known_at_entry(check.left) || !is_known_at_entry(check.right)) continue;
    const SymbolId a = found(stands_for, check.left.as_symbol()), b = found(stands_for, check.right.as_symbol());
    any |= a != b;
    stands_for[std::max(a, b)] = std::min(a, b);
  }
  if (!any) return std::nullopt;
  IdMap<SymbolId, Dim> replacement;
  for (SymbolId s : ids<SymbolId>(graph.symbols.size())) replacement.push_back(Dim::symbol(found(stands_for, s)));
  Graph out = with_symbols(graph, graph, replacement);
  out.symbols = graph.symbols;
  out.checks = graph.checks;
  out.assumptions = graph.assumptions;
  return out;
}

}  // namespace inlay::fuse
