#include "ir/traits.h"

#include <algorithm>

namespace inlay {

IdMap<ValueId, int> count_uses(const Graph& graph) {
  IdMap<ValueId, int> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.operands) ++uses[v];
  }
  for (const Output& output : graph.outputs) ++uses[output.value];
  return uses;
}

IdMap<SymbolId, Dim> first_of_equal_symbols(std::size_t num_symbols, std::span<const std::pair<Dim, Dim>> equal) {
  IdMap<SymbolId, SymbolId> first;
  for (SymbolId s : ids<SymbolId>(num_symbols)) first.push_back(s);
  const auto found = [&](SymbolId s) {
    while (first[s] != s) s = first[s];
    return s;
  };
  for (const auto& [left, right] : equal) {
    if (!left.is_symbol() || !right.is_symbol()) continue;
    const SymbolId a = found(left.as_symbol()), b = found(right.as_symbol());
    first[std::max(a, b)] = std::min(a, b);
  }
  IdMap<SymbolId, Dim> out;
  for (SymbolId s : ids<SymbolId>(num_symbols)) out.push_back(Dim::symbol(found(s)));
  return out;
}

}  // namespace inlay
