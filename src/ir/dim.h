#pragma once
// Dims: sizes that may be unknown, as integer expressions over symbols.
//
// A Dim has one canonical form, a sum of products of atoms, so that equal expressions compare equal: n + m == m + n, (n
// + 1) - 1 == n, 2 * (n + 1) == 2 * n + 2. An atom is a symbol, a floor division, a min or a max, or a sum: a product
// of sums is multiplied out only while it stays short, since k factors of two terms have 2^k.
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

/// A size. It knows the builder of its symbols, since those of two builders are the same small integers for different
/// sizes. Arithmetic on sizes of two builders throws Error(unknown_name). Comparisons use the expressions only.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: an integer is a Dim
  static Dim symbol(SymbolId symbol, uint32_t builder = 0);

  /// Returns the number of the builder of its symbols; 0: a constant, or made without a builder.
  uint32_t builder() const;

  bool is_constant() const { return !terms_; }
  int64_t constant() const;  // only of a constant
  bool is(int64_t value) const { return is_constant() && constant_ == value; }
  bool is_symbol() const;  // exactly one symbol
  SymbolId as_symbol() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);  // 0 where b is
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);

  bool operator==(const Dim& other) const { return compare(*this, other) == 0; }

  /// Returns the size for one tuple of symbol values, by SymbolId. Throws Error(size_overflow) if it, or a part of it,
  /// does not fit in 64 bits.
  int64_t evaluate(std::span<const int64_t> symbols) const;

  /// Could it, or a part of it, overflow 64 bits for some sizes?
  bool may_overflow() const;

  /// Returns an estimate of evaluate() that cannot overflow, for comparing costs.
  double estimate(std::span<const int64_t> symbols) const;

  /// Returns the size with every symbol replaced by replacement[symbol].
  Dim substitute(const IdMap<SymbolId, Dim>& replacement) const;

  /// Returns every symbol that occurs, in order, each once.
  std::vector<SymbolId> symbols() const;

  /// Returns the text of the size, "2*n + floordiv(m, 3) + 1"; `names` by SymbolId.
  std::string to_text(const IdMap<SymbolId, std::string>& names) const;
  /// Returns its text as a factor, with brackets if it needs them: "(n + 1)".
  std::string to_factor_text(const IdMap<SymbolId, std::string>& names) const;

  static constexpr int kMostSplits = 6;
  /// Returns a lower bound, given that every symbol is a size (>= 0) or at least its entry in `minimum`. INT64_MIN:
  /// unknown. `splits` limits how many clamps of one sum it tries both operands of, each of which doubles the work; a
  /// concat of many slices has as many.
  int64_t lower_bound(const IdMap<SymbolId, int64_t>& minimum, int splits = kMostSplits) const;

  // The parts, for code that walks an expression (code generation, the runtime's flat form).
  struct Atom {
    enum class Kind : uint8_t { symbol, floor_div, min, max, sum };
    Kind kind = Kind::symbol;
    SymbolId symbol;
    std::shared_ptr<const std::pair<Dim, Dim>> operands;  // of floor_div, min, max; for a sum, the sum and 1
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
  /// Moves as much of this sum as possible into its quotient `term`, so that fewer numbers are negative: the canonical
  /// form of floordiv(n - k, 2) is floordiv(n + k, 2) - k. Nothing if `term` is no quotient, or nothing fits.
  std::optional<Quotient> widest_quotient(const Term& term) const;

 private:
  class Sum;     // a Dim under construction
  struct Terms;  // with the number of the symbols' builder

  static int compare(const Dim& a, const Dim& b);
  static int compare(const Atom& a, const Atom& b);
  static int compare_factors(const Term& a, const Term& b);
  int64_t lower_bound_of_terms(const IdMap<SymbolId, int64_t>& minimum, int splits) const;

  template <class Arithmetic>
  typename Arithmetic::Number value(std::span<const int64_t> symbols) const;

  int64_t constant_ = 0;
  // Sorted by factors, without zero coefficients; null if empty. Copies share it: sizes are copied far more often than
  // made.
  std::shared_ptr<const Terms> terms_;
};

/// A sum written as c*floordiv(dividend, divisor) + others.
struct Dim::Quotient {
  Dim dividend;
  int64_t divisor = 1;
  Dim taken;  // how much floordiv(dividend, divisor) exceeds the quotient in the original sum
  Dim others;
};

/// yes: equal for all sizes; no: equal for none; unknown: it depends.
Answer same_dim(const Dim& a, const Dim& b);

/// Is each of them the constant 1?
bool all_one(std::span<const Dim> dims);

/// Returns the number of elements of a tensor with these dims.
Dim product(std::span<const Dim> dims);

/// Divides and rounds up: returns how many steps of `step` (> 0) reach `length`.
Dim ceil_div(const Dim& length, int64_t step);

}  // namespace inlay
