#pragma once
// Sizes that may not be known yet: integer expressions over symbols.
//
// A Dim is kept in one canonical form, a sum of products of atoms, so that equal expressions compare equal:
// n + m == m + n, (n + 1) - 1 == n, 2 * (n + 1) == 2 * n + 2. An atom is a symbol, a floor division, a min or a max, or
// a sum: a product of sums is multiplied out only while it stays short, since k factors of two terms have 2^k.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/answer.h"
#include "support/id.h"

namespace inlay {

using SymbolId = Id<struct SymbolTag>;

/// A Dim knows the builder whose symbols it has: those of two builders are the same small numbers and other sizes.
/// Arithmetic on sizes of two builders throws Error(unknown_name). Comparisons look at the expressions alone.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: an integer is a Dim
  static Dim symbol(SymbolId symbol, uint32_t builder = 0);

  /// The number of the builder whose symbols it has; 0: a constant, or made without one.
  uint32_t builder() const;

  bool is_constant() const { return !terms_; }
  int64_t constant() const;  // only of a constant
  bool is(int64_t value) const { return is_constant() && constant_ == value; }
  bool is_symbol() const;  // exactly one symbol
  SymbolId as_symbol() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);  // b > 0
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);

  bool operator==(const Dim& other) const { return compare(*this, other) == 0; }

  /// The size for one tuple of symbol values, by SymbolId. Throws Error(size_overflow) where it, or a part of it, does
  /// not fit in 64 bits.
  int64_t evaluate(std::span<const int64_t> symbols) const;

  /// Could it not fit in 64 bits, or a part of it, for some sizes?
  bool may_overflow() const;

  /// About that, and never too large: for what is only weighed.
  double estimate(std::span<const int64_t> symbols) const;

  /// Every symbol replaced by replacement[symbol].
  Dim substitute(const IdMap<SymbolId, Dim>& replacement) const;

  /// Every symbol that occurs, in order, each once.
  std::vector<SymbolId> symbols() const;

  /// "2*n + floordiv(m, 3) + 1"; `names` by SymbolId.
  std::string to_text(const IdMap<SymbolId, std::string>& names) const;
  /// The same where something is multiplied by it: "(n + 1)".
  std::string to_factor_text(const IdMap<SymbolId, std::string>& names) const;

  static constexpr int kMostSplits = 6;
  /// Least value, given that every symbol is a size (>= 0) or at least its entry in `least`. INT64_MIN: not known.
  /// `splits`: how many clamps of one sum it looks at both operands of, each of which doubles the work; a concat of
  /// many slices has as many.
  int64_t lower_bound(const IdMap<SymbolId, int64_t>& least, int splits = kMostSplits) const;

  // The parts, for those that walk an expression (code generation, the runtime's flat form).
  struct Atom {
    enum class Kind : uint8_t { symbol, floor_div, min, max, sum };
    Kind kind = Kind::symbol;
    SymbolId symbol;
    std::shared_ptr<const std::pair<Dim, Dim>> operands;  // of floor_div, min, max; of a sum it and 1
  };
  struct Term {
    int64_t coefficient = 0;
    std::vector<Atom> factors;  // sorted; never empty
  };
  int64_t constant_part() const { return constant_; }
  const std::vector<Term>& terms() const;
  std::size_t num_summands() const { return terms().size() + (constant_ != 0); }
  /// `builder`: of a symbol; that of any other atom is its operands'.
  static Dim of_atom(Atom atom, uint32_t builder = 0);
  static bool same_factors(const Term& a, const Term& b) { return compare_factors(a, b) == 0; }

  struct Quotient;
  /// With what fits in the quotient that `term` of this sum is, so that fewer numbers are negative: the canonical form
  /// of floordiv(n - k, 2) is floordiv(n + k, 2) - k. None: `term` is another, or nothing beside it fits.
  std::optional<Quotient> widest_quotient(const Term& term) const;

 private:
  class Sum;     // a Dim that is being made
  struct Terms;  // with the number of their builder

  static int compare(const Dim& a, const Dim& b);
  static int compare(const Atom& a, const Atom& b);
  static int compare_factors(const Term& a, const Term& b);
  int64_t lower_bound_of_terms(const IdMap<SymbolId, int64_t>& least, int splits) const;

  template <class Arithmetic>
  typename Arithmetic::Number value(std::span<const int64_t> symbols) const;

  int64_t constant_ = 0;
  // Sorted by factors, no zero coefficient; null: none. Shared by copies: sizes are copied far more often than made.
  std::shared_ptr<const Terms> terms_;
};

/// A sum written as c*floordiv(dividend, divisor) + others.
struct Dim::Quotient {
  Dim dividend;
  int64_t divisor = 1;
  Dim taken;  // what floordiv(dividend, divisor) is more than the quotient of the sum as it was
  Dim others;
};

/// yes: equal for all sizes; no: for none; unknown: it depends.
Answer same_dim(const Dim& a, const Dim& b);

/// Is each of them the constant 1?
bool all_one(std::span<const Dim> dims);

/// Number of elements of a tensor with these dims.
Dim product(std::span<const Dim> dims);

/// Ceiling division: how many steps of `step` (> 0) reach `length`.
Dim ceil_div(const Dim& length, int64_t step);

}  // namespace inlay
