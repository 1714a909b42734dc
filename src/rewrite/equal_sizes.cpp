#include "rewrite/equal_sizes.h"

#include <algorithm>

#include "ir/checks.h"
#include "ir/region.h"
#include "ir/traits.h"

namespace inlay::rewrite {

std::optional<Graph> unify_equal_sizes(const Graph& graph, PassContext& context) {
  if (graph.is_body) return std::nullopt;  // its sizes belong to the enclosing graph
  std::vector<std::pair<Dim, Dim>> equal;
  for (const DimCheck& check : graph.checks) {
    if (check.relation != DimCheck::Relation::equal || binder_of(graph, check).valid()) continue;
    equal.emplace_back(check.left, check.right);
  }
  const IdMap<SymbolId, Dim> replacement = first_of_equal_sizes(graph.symbols.size(), equal);
  bool any = false;
  for (SymbolId s : ids<SymbolId>(graph.symbols.size())) any |= replacement[s] != Dim::symbol(s);
  if (!any || !context.fires("equal-sizes", Close::bitwise)) return std::nullopt;
  Graph out = with_sizes(graph, replacement);
  out.checks = graph.checks;
  out.assumptions = graph.assumptions;
  const IdMap<SymbolId, Dim> known = first_of_equal_sizes(graph.symbols.size(), graph.assumptions);
  for (SymbolId s : ids<SymbolId>(graph.symbols.size())) {
    if (replacement[s] != known[s]) out.assumptions.emplace_back(Dim::symbol(s), replacement[s]);
  }
  for (std::size_t slot = 0; slot < graph.params.size(); ++slot) {
    const std::vector<Dim>& given = given_dims(graph, graph.params[slot]);
    if (out.type(out.params[slot].value).dims != given) out.params[slot].given = given;
  }
  return out;
}

}  // namespace inlay::rewrite
