#include <algorithm>
#include <functional>

#include "ir/dim.h"
#include "ir/dim_sums.h"
#include "support/error.h"

namespace inlay {
namespace {

/// Orders factors as they are written, sums at the end. A reader multiplies from left to right, so those that then stay
/// sums come first. Returns the position of the first sum.
std::vector<Dim::Atom>::iterator sums_last(std::vector<Dim::Atom>& factors) {
  const auto sums = std::ranges::stable_partition(factors, std::not_fn(is_sum));
  const auto length = [](const Dim::Atom& atom) {
    const Dim& sum = atom.operands->first;
    return std::pair(has_sum(sum), sum.terms().size() + (sum.constant_part() != 0));
  };
  std::ranges::stable_sort(sums, std::greater(), length);
  return sums.begin();
}

/// The absolute value, also of the minimum integer.
uint64_t magnitude_of(int64_t x) { return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }

}  // namespace

std::string Dim::to_text(const IdMap<SymbolId, std::string>& names) const {
  const auto atom_text = [&](const Atom& atom) -> std::string {
    if (atom.kind == Atom::Kind::symbol) return names[atom.symbol];
    if (atom.kind == Atom::Kind::sum) return str("(", atom.operands->first.to_text(names), ")");
    const char* function = atom.kind == Atom::Kind::floor_div ? "floordiv"
                           : atom.kind == Atom::Kind::min     ? "min"
                                                              : "max";
    return str(function, "(", atom.operands->first.to_text(names), ", ", atom.operands->second.to_text(names), ")");
  };
  std::string out;
  for (const Term& term : terms()) {
    const uint64_t magnitude = magnitude_of(term.coefficient);
    out += out.empty() ? (term.coefficient < 0 ? "-" : "") : (term.coefficient < 0 ? " - " : " + ");
    if (magnitude != 1) out += str(magnitude, "*");
    std::vector<Atom> factors = term.factors;
    const auto sums = sums_last(factors);
    const bool brackets = sums != factors.end() && (sums != factors.begin() || magnitude != 1);
    out += join(std::span(factors.begin(), sums), "*", atom_text);
    if (brackets) out += sums == factors.begin() ? "(" : "*(";
    out += join(std::span(sums, factors.end()), "*", atom_text);
    if (brackets) out += ")";
  }
  if (out.empty()) return std::to_string(constant_);
  if (constant_ != 0) out += str(constant_ < 0 ? " - " : " + ", magnitude_of(constant_));
  return out;
}

std::string Dim::to_factor_text(const IdMap<SymbolId, std::string>& names) const {
  return num_summands() > 1 ? str("(", to_text(names), ")") : to_text(names);
}

}  // namespace inlay
