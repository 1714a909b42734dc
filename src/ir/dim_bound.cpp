// Lower bounds of size expressions.
#include <algorithm>
#include <limits>
#include <optional>

#include "ir/dim.h"

namespace inlay {
namespace {

using Minimum = IdMap<SymbolId, int64_t>;

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();  // a larger bound is replaced by this one

bool is_clamp(const Dim::Term& term) {
  const Dim::Atom::Kind kind = term.factors[0].kind;
  return term.coefficient == -1 && term.factors.size() == 1 &&
         (kind == Dim::Atom::Kind::min || kind == Dim::Atom::Kind::max);
}

/// rest - max(p, q) is rest - p or rest - q, whichever is less: n - max(n - 1, 0), where a slice begins, say.
std::pair<Dim, Dim> unclamped(const Dim& sum, const Dim::Term& clamp) {
  const auto& [p, q] = *clamp.factors[0].operands;
  const Dim rest = sum + Dim::of_atom(clamp.factors[0]);
  return {rest - p, rest - q};
}

int64_t minimum_of_both(const Dim::Term& clamp, const std::pair<Dim, Dim>& both, const Minimum& minimum, int splits) {
  const int64_t p = both.first.lower_bound(minimum, splits - 1), q = both.second.lower_bound(minimum, splits - 1);
  return clamp.factors[0].kind == Dim::Atom::Kind::max ? std::min(p, q) : std::max(p, q);
}

int64_t minimum_of_atom(const Dim::Atom& atom, const Minimum& minimum, int splits) {
  if (atom.kind == Dim::Atom::Kind::symbol) return atom.symbol.index < minimum.size() ? minimum[atom.symbol] : 0;
  const int64_t a = atom.operands->first.lower_bound(minimum, splits);
  if (atom.kind == Dim::Atom::Kind::sum) return a;
  const int64_t b = atom.operands->second.lower_bound(minimum, splits);
  if (atom.kind == Dim::Atom::Kind::min) return std::min(a, b);
  if (atom.kind == Dim::Atom::Kind::max) return std::max(a, b);
  return a >= 0 && b >= 0 ? 0 : kUnknown;  // floordiv, which is 0 where the divisor is
}

/// The minimum of a term that is not negative.
int64_t minimum_of_term(const Dim::Term& term, const Minimum& minimum, int splits) {
  int64_t product = term.coefficient;
  for (const Dim::Atom& atom : term.factors) {
    const int64_t value = minimum_of_atom(atom, minimum, splits);
    if (value < 0) return kUnknown;
    if (__builtin_mul_overflow(product, value, &product)) product = kMost;
  }
  return product;
}

Dim product_of(int64_t coefficient, const std::vector<Dim::Atom>& factors) {
  Dim out = coefficient;
  for (const Dim::Atom& atom : factors) out = out * Dim::of_atom(atom);
  return out;
}

}  // namespace

std::optional<Dim::Quotient> Dim::widest_quotient(const Term& term) const {
  const Atom& atom = term.factors[0];
  if (term.coefficient <= 0 || term.factors.size() != 1 || atom.kind != Atom::Kind::floor_div) return std::nullopt;
  const auto& [dividend, divisor] = *atom.operands;
  constexpr int64_t kMostTaken = int64_t{1} << 30;  // products of two such numbers fit
  if (!divisor.is_constant() || divisor.constant_ <= 0 || divisor.constant_ > kMostTaken) return std::nullopt;
  // Negative terms outside move in: inside there are none unless the divisor is large.
  const auto taken_of = [&](int64_t outer) {
    const int64_t whole = outer / term.coefficient;
    return whole < -kMostTaken || whole > 0 ? 0 : whole;
  };
  Dim taken = taken_of(constant_);
  for (const Term& inner : dividend.terms()) {
    const auto is_same = [&](const Term& outer) { return same_factors(inner, outer); };
    const auto outer = std::ranges::find_if(terms(), is_same);
    if (outer == terms().end()) continue;
    const int64_t whole = taken_of(outer->coefficient);
    if (whole != 0) taken = taken + product_of(whole, inner.factors);
  }
  if (taken.is(0)) return std::nullopt;
  return Quotient{dividend + divisor * taken, divisor.constant_, taken,
                  *this - Dim(term.coefficient) * (of_atom(atom) + taken)};
}

int64_t Dim::lower_bound_of_terms(const Minimum& minimum, int splits) const {
  // In d - min(d, x) the two d cancel, whatever d is: so this comes before another term is found to have no bound.
  for (const Term& term : terms()) {
    if (splits == 0 || !is_clamp(term)) continue;
    const auto both = unclamped(*this, term);
    const std::size_t fewest = std::min(both.first.num_summands(), both.second.num_summands());
    if (fewest + 1 < num_summands()) return minimum_of_both(term, both, minimum, splits);
  }
  int64_t total = constant_;
  for (const Term& term : terms()) {
    if (is_clamp(term)) {
      return splits == 0 ? kUnknown : minimum_of_both(term, unclamped(*this, term), minimum, splits);
    }
    const int64_t minimum_value = term.coefficient < 0 ? kUnknown : minimum_of_term(term, minimum, splits);
    if (minimum_value == kUnknown) return kUnknown;
    if (__builtin_add_overflow(total, minimum_value, &total)) total = kMost;
  }
  return total;
}

int64_t Dim::lower_bound(const Minimum& minimum, int splits) const {
  const int64_t of_terms = lower_bound_of_terms(minimum, splits);
  for (const Term& term : terms()) {
    const std::optional<Quotient> quotient = widest_quotient(term);
    if (!quotient) continue;
    const int64_t dividend = quotient->dividend.lower_bound(minimum, splits);
    const int64_t others = quotient->others.lower_bound(minimum, splits);
    if (dividend == kUnknown || others == kUnknown) return of_terms;
    int64_t bound = floor_div(Dim(dividend), Dim(quotient->divisor)).constant();
    const bool fits =
        !__builtin_mul_overflow(bound, term.coefficient, &bound) && !__builtin_add_overflow(bound, others, &bound);
    return fits ? std::max(bound, of_terms) : of_terms;
  }
  return of_terms;
}

}  // namespace inlay
