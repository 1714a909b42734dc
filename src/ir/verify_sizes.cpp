#include <algorithm>

#include "ir/traits.h"
#include "ir/verifier.h"

namespace inlay::verifier {

namespace {

/// Less as many of what is 0 as take its first term away, if they can.
Dim without(const Dim& difference, const Dim& zero) {
  // A check that never holds: what it guards never runs, so that any sizes are equal there.
  if (zero.is_constant() && !zero.is(0)) return 0;
  if (difference.is_constant()) return difference;
  const Dim::Term& first = difference.terms()[0];
  const auto is_first = [&](const Dim::Term& term) { return Dim::same_factors(term, first); };
  for (const Dim::Term& term : zero.terms()) {
    if (first.coefficient % term.coefficient != 0) continue;
    // Of another term too: a quotient may take the first one in.
    const Dim other = difference - Dim(first.coefficient / term.coefficient) * zero;
    if (std::ranges::none_of(other.terms(), is_first)) return other;
  }
  return difference;
}

}  // namespace

SizeProof::SizeProof(const Graph& graph)
    : graph_(graph), first_(first_of_equal_sizes(graph.symbols.size(), graph.assumptions)) {}

bool SizeProof::same(const Dim& a, const Dim& b) const {
  // What is known to be equal to a - b: by one equality, by another one of that, and so on. b - d is 0 where b and d
  // were compared with 3.
  constexpr std::size_t kMost = 64;
  std::vector<Dim> equal = {unified(a - b)};
  for (std::size_t i = 0; i < equal.size(); ++i) {
    if (equal[i].is(0)) return true;
    const Dim difference = equal[i];
    for_each_equality([&](const Dim& left, const Dim& right) {
      if (equal.size() >= kMost) return;
      for (const Dim& other :
           {without(difference, left - right), replaced(difference, left, right), replaced(difference, right, left)}) {
        if (std::ranges::find(equal, other) == equal.end()) equal.push_back(other);
      }
    });
  }
  return false;
}

/// With `by` in the place of a symbol, also within functions.
Dim SizeProof::replaced(const Dim& difference, const Dim& symbol, const Dim& by) const {
  if (!symbol.is_symbol()) return difference;
  IdMap<SymbolId, Dim> replacement;
  for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) replacement.push_back(Dim::symbol(s));
  replacement[symbol.as_symbol()] = by;
  return difference.substitute(replacement);
}

bool SizeProof::at_most(const Dim& a, const Dim& b) const {
  const Dim gap = unified(b - a);
  if (gap.lower_bound(IdMap<SymbolId, int64_t>(graph_.symbols.size(), 0)) >= 0) return true;
  const auto says_so = [&](const DimCheck& check) {
    return check.relation == DimCheck::Relation::at_most && unified(check.right - check.left) == gap;
  };
  return std::ranges::any_of(graph_.checks, says_so) || same(a, b);
}

bool SizeProof::same(std::span<const Dim> a, std::span<const Dim> b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Dim& x, const Dim& y) { return same(x, y); });
}

}  // namespace inlay::verifier
