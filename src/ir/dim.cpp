#include "ir/dim.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/dim_sums.h"
#include "support/error.h"
#include "support/exact.h"

namespace inlay {
namespace {

[[noreturn]] void too_large(int64_t a, const char* sign, int64_t b) {
  throw Error(ErrorCode::size_overflow, {}, str("a size does not fit in 64 bits: ", a, sign, b));
}

int64_t checked_add(int64_t a, int64_t b) {
  const std::optional<int64_t> sum = exact::add(a, b);
  if (!sum) too_large(a, " + ", b);
  return *sum;
}

int64_t checked_multiply(int64_t a, int64_t b) {
  const std::optional<int64_t> product = exact::multiply(a, b);
  if (!product) too_large(a, " * ", b);
  return *product;
}

int64_t checked_floor_div(int64_t a, int64_t b) {
  const std::optional<int64_t> quotient = exact::floor_div(a, b);
  if (!quotient) too_large(a, " / ", b);
  return *quotient;
}

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

int Dim::compare(const Atom& a, const Atom& b) {
  if (int c = order(a.kind, b.kind)) return c;
  if (a.kind == Atom::Kind::symbol) return order(a.symbol, b.symbol);
  if (a.operands == b.operands) return 0;
  if (int c = compare(a.operands->first, b.operands->first)) return c;
  return compare(a.operands->second, b.operands->second);
}

int Dim::compare_factors(const Term& a, const Term& b) {
  for (std::size_t i = 0; i < a.factors.size() && i < b.factors.size(); ++i) {
    if (int c = compare(a.factors[i], b.factors[i])) return c;
  }
  return order(a.factors.size(), b.factors.size());
}

int Dim::compare(const Dim& a, const Dim& b) {
  if (a.terms_ != b.terms_) {
    const std::vector<Term>&left = a.terms(), &right = b.terms();
    for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
      if (int c = compare_factors(left[i], right[i])) return c;
      if (int c = order(left[i].coefficient, right[i].coefficient)) return c;
    }
    if (int c = order(left.size(), right.size())) return c;
  }
  return order(a.constant_, b.constant_);
}

struct Dim::Terms {
  std::vector<Term> all;
  uint32_t builder = 0;
};

namespace {

/// Returns the builder of an expression with symbols of both; 0 means none.
uint32_t common_builder(uint32_t a, uint32_t b) {
  if (a != b && a != 0 && b != 0) {
    throw Error(ErrorCode::unknown_name, {}, "sizes of two builders stand in one expression");
  }
  return a != 0 ? a : b;
}

}  // namespace

class Dim::Sum {
 public:
  explicit Sum(int64_t constant, uint32_t builder = 0) : constant_(constant), builder_(builder) {}

  void add(Term term) {
    const auto less = [](const Term& a, const Term& b) { return compare_factors(a, b) < 0; };
    const auto at = std::lower_bound(terms_.begin(), terms_.end(), term, less);
    if (at == terms_.end() || compare_factors(*at, term) != 0) {
      if (term.coefficient != 0) terms_.insert(at, std::move(term));
      return;
    }
    at->coefficient = checked_add(at->coefficient, term.coefficient);
    if (at->coefficient == 0) terms_.erase(at);
  }

  void add_scaled(const Dim& dim, int64_t factor) {
    builder_ = common_builder(builder_, dim.builder());
    for (Term term : dim.terms()) {
      term.coefficient = checked_multiply(term.coefficient, factor);
      add(std::move(term));
    }
  }

  void add_constant(int64_t number) { constant_ = checked_add(constant_, number); }

  /// a - min(a, k) becomes max(a - k, 0), a - max(a, k) becomes min(0, a - k), and max(a, k) + min(a, k) becomes a + k,
  /// all of them also as factors: a slice of a slice would otherwise have each size before it in it again and again.
  void clamp() {
    while (clamp_difference() || clamp_pair()) continue;
  }

  Dim finish() && {
    Dim out(constant_);
    if (!terms_.empty()) out.terms_ = std::make_shared<const Terms>(std::move(terms_), builder_);
    return out;
  }

 private:
  struct FoundClamp;
  struct Clamp;
  static std::optional<FoundClamp> find_clamp(const Term& term);
  static Clamp clamp_of(const Term& term, const FoundClamp& found);
  int64_t coefficient_of(const Term& term) const;
  void add_product(int64_t coefficient, const std::vector<Atom>& factors, const Dim& dim);
  bool clamp_difference();
  bool clamp_pair();

  int64_t constant_;
  uint32_t builder_;
  std::vector<Term> terms_;
};

const std::vector<Dim::Term>& Dim::terms() const {
  static const std::vector<Term> none;
  return terms_ ? terms_->all : none;
}

uint32_t Dim::builder() const { return terms_ ? terms_->builder : 0; }

Dim Dim::of_atom(Atom atom, uint32_t builder) {
  if (const auto* operands = atom.operands.get()) {
    builder = common_builder(operands->first.builder(), operands->second.builder());
  }
  Dim out;
  out.terms_ = std::make_shared<const Terms>(std::vector<Term>(1, Term{1, {std::move(atom)}}), builder);
  return out;
}

Dim Dim::symbol(SymbolId symbol, uint32_t builder) { return of_atom({Atom::Kind::symbol, symbol, nullptr}, builder); }

int64_t Dim::constant() const {
  INLAY_CHECK(is_constant(), "a size that is not known yet was used as a number");
  return constant_;
}

bool Dim::is_symbol() const {
  return constant_ == 0 && terms().size() == 1 && terms()[0].coefficient == 1 && terms()[0].factors.size() == 1 &&
         terms()[0].factors[0].kind == Atom::Kind::symbol;
}

SymbolId Dim::as_symbol() const {
  INLAY_CHECK(is_symbol(), "a size expression was used as a symbol");
  return terms()[0].factors[0].symbol;
}

Dim operator+(const Dim& a, const Dim& b) {
  const int64_t constant = checked_add(a.constant_, b.constant_);
  if (!a.terms_ || !b.terms_) {
    Dim out = a.terms_ ? a : b;
    out.constant_ = constant;
    return out;
  }
  Dim::Sum sum(constant);
  sum.add_scaled(a, 1);
  sum.add_scaled(b, 1);
  sum.clamp();
  return std::move(sum).finish();
}

Dim operator-(const Dim& a, const Dim& b) {
  // Most differences are of equal sizes.
  if (a.terms_ == b.terms_) return checked_add(a.constant_, checked_multiply(-1, b.constant_));
  return a + Dim(-1) * b;
}

namespace {

/// As one term, however many summands it has. Its sign stands before it, so that -(n + m)*k has one form.
Dim as_factor(const Dim& dim) {
  if (dim.num_summands() <= 1) return dim;
  if (dim.terms()[0].coefficient < 0) return Dim(-1) * as_factor(Dim(-1) * dim);
  return Dim::of_atom({Dim::Atom::Kind::sum, {}, std::make_shared<const std::pair<Dim, Dim>>(dim, Dim(1))});
}

}  // namespace

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a.num_summands() > 1 || b.num_summands() > 1) {
    constexpr std::size_t kMostSummands = 64;
    const bool is_long =
        a.num_summands() > 1 && b.num_summands() > 1 && a.num_summands() * b.num_summands() > kMostSummands;
    // A long sum stays a factor: multiplied out it would be written again and again.
    if (is_long || (has_sum(a) && b.num_summands() > 1) || (has_sum(b) && a.num_summands() > 1)) {
      return as_factor(a) * as_factor(b);
    }
  }
  Dim::Sum sum(checked_multiply(a.constant_, b.constant_));
  sum.add_scaled(a, b.constant_);
  sum.add_scaled(b, a.constant_);
  for (const Dim::Term& left : a.terms()) {
    for (const Dim::Term& right : b.terms()) {
      Dim::Term term{checked_multiply(left.coefficient, right.coefficient), left.factors};
      term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
      std::sort(term.factors.begin(), term.factors.end(),
                [](const auto& x, const auto& y) { return Dim::compare(x, y) < 0; });
      sum.add(std::move(term));
    }
  }
  return std::move(sum).finish();
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_floor_div(a.constant_, b.constant_);
  if (b.is(1)) return a;
  if (b.is(0)) return 0;  // as in exact::floor_div: a symbol may turn out to be 0
  if (b.is_constant() && b.constant_ > 0) {
    // floordiv(b*q + r, b) = q + floordiv(r, b), where every number of r is in [0, b): one form of 4*k + floordiv(k, 2)
    // and floordiv(9*k, 2). By a large b a negative number stays: -n must not become a large number times n.
    constexpr int64_t kLarge = 1 << 10;
    const auto rest_of = [&](int64_t number) {
      const int64_t rest = number % b.constant_;
      return rest < 0 ? rest + b.constant_ : rest;
    };
    const auto rest_of_coefficient = [&](int64_t number) {
      return b.constant_ < kLarge ? rest_of(number) : number % b.constant_;
    };
    Dim::Sum sum(checked_floor_div(a.constant_, b.constant_), a.builder());
    Dim::Sum rest(rest_of(a.constant_), a.builder());
    bool any = a.constant_ != rest_of(a.constant_);
    for (const Dim::Term& term : a.terms()) {
      const int64_t left = rest_of_coefficient(term.coefficient);
      any |= term.coefficient != left;
      // The difference may overflow; the quotients do not.
      const int64_t whole = checked_floor_div(term.coefficient, b.constant_) + (left < 0);
      sum.add({whole, term.factors});
      rest.add({left, term.factors});
    }
    if (any) return std::move(sum).finish() + floor_div(std::move(rest).finish(), b);
  }
  return Dim::of_atom({Dim::Atom::Kind::floor_div, {}, std::make_shared<const std::pair<Dim, Dim>>(a, b)});
}

namespace {

/// Returns the min or max that `dim` consists of, or null.
const Dim::Atom* as_atom(const Dim& dim, Dim::Atom::Kind kind) {
  if (dim.constant_part() != 0 || dim.terms().size() != 1) return nullptr;
  const Dim::Term& term = dim.terms()[0];
  return term.coefficient == 1 && term.factors.size() == 1 && term.factors[0].kind == kind ? &term.factors[0] : nullptr;
}

/// Sums of two such numbers do not overflow; a bound of a slice may be any number.
bool is_moderate(int64_t number) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() / 2;
  return -kLargest <= number && number <= kLargest;
}

/// Is a <= b for all sizes, as far as is seen?
bool is_at_most(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() <= b.constant();
  if (!is_moderate(a.constant_part()) || !is_moderate(b.constant_part())) return false;
  const Dim rest = b - a;
  if (rest.is_constant()) return rest.constant() >= 0;
  if (rest.lower_bound({}) >= 0) return true;
  if (const Dim::Atom* min = as_atom(a, Dim::Atom::Kind::min)) {
    return is_at_most(min->operands->first, b) || is_at_most(min->operands->second, b);
  }
  if (const Dim::Atom* max = as_atom(a, Dim::Atom::Kind::max)) {
    return is_at_most(max->operands->first, b) && is_at_most(max->operands->second, b);
  }
  const Dim::Atom* max = as_atom(b, Dim::Atom::Kind::max);
  return max && (is_at_most(a, max->operands->first) || is_at_most(a, max->operands->second));
}

/// If `dim` is the min or max of an expression and a number, plus another number, returns its operands with that added:
/// for max(n - 1, 0) - 2, n - 3 and -2. Slices of slices have such sizes.
std::optional<std::pair<Dim, int64_t>> with_number(const Dim& dim, Dim::Atom::Kind kind) {
  const int64_t added = dim.constant_part();
  if (!is_moderate(added)) return std::nullopt;
  const Dim without = dim - added;
  const Dim::Atom* atom = as_atom(without, kind);
  if (!atom) return std::nullopt;
  const auto& [first, second] = *atom->operands;
  if (!first.is_constant() && !second.is_constant()) return std::nullopt;
  const Dim &number = first.is_constant() ? first : second, &rest = first.is_constant() ? second : first;
  if (!is_moderate(number.constant()) || !is_moderate(rest.constant_part())) return std::nullopt;
  return std::pair(rest + added, number.constant() + added);
}

}  // namespace

/// The first min or max of an expression and a number among the factors of a term, as it stands there: sums have many.
struct Dim::Sum::FoundClamp {
  const Atom* atom = nullptr;
  const Dim* rest = nullptr;
  int64_t number = 0;
};

/// A term that has one.
struct Dim::Sum::Clamp {
  Atom::Kind kind = Atom::Kind::min;
  int64_t number = 0, added = 0;  // min(varying + added, number)
  Dim varying;
  int64_t coefficient = 0;
  std::vector<Atom> others;  // its other factors
};

std::optional<Dim::Sum::FoundClamp> Dim::Sum::find_clamp(const Term& term) {
  const auto is_clamp = [](const Atom& atom) { return atom.kind == Atom::Kind::min || atom.kind == Atom::Kind::max; };
  const auto at = std::ranges::find_if(term.factors, is_clamp);
  if (at == term.factors.end() || term.coefficient == std::numeric_limits<int64_t>::min()) return std::nullopt;
  const auto& [first, second] = *at->operands;
  if (!first.is_constant() && !second.is_constant()) return std::nullopt;
  const Dim &number = first.is_constant() ? first : second, &rest = first.is_constant() ? second : first;
  if (!is_moderate(number.constant_) || !is_moderate(rest.constant_)) return std::nullopt;
  return FoundClamp{&*at, &rest, number.constant_};
}

Dim::Sum::Clamp Dim::Sum::clamp_of(const Term& term, const FoundClamp& found) {
  const Dim& rest = *found.rest;
  Clamp out{found.atom->kind, found.number, rest.constant_, rest - rest.constant_, term.coefficient, term.factors};
  out.others.erase(out.others.begin() + (found.atom - term.factors.data()));
  return out;
}

int64_t Dim::Sum::coefficient_of(const Term& term) const {
  const auto less = [](const Term& a, const Term& b) { return compare_factors(a, b) < 0; };
  const auto at = std::lower_bound(terms_.begin(), terms_.end(), term, less);
  return at == terms_.end() || compare_factors(*at, term) != 0 ? 0 : at->coefficient;
}

void Dim::Sum::add_product(int64_t coefficient, const std::vector<Atom>& factors, const Dim& dim) {
  Dim product = coefficient;
  for (const Atom& factor : factors) product = product * Dim::of_atom(factor, builder_);
  product = product * dim;
  add_constant(product.constant_);
  add_scaled(product, 1);
}

/// Of a sum that has -c * a beside c * min(a, k).
bool Dim::Sum::clamp_difference() {
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const std::optional<FoundClamp> found = find_clamp(terms_[i]);
    const bool is_alone = terms_[i].factors.size() == 1;
    if (!found || (is_alone && coefficient_of(found->rest->terms().front()) == 0)) continue;
    const Clamp clamp = clamp_of(terms_[i], *found);
    const auto has_opposite = [&](const Term& term) {
      Term wanted{0, term.factors};
      wanted.factors.insert(wanted.factors.end(), clamp.others.begin(), clamp.others.end());
      std::ranges::sort(wanted.factors, [](const Atom& a, const Atom& b) { return compare(a, b) < 0; });
      const double has = static_cast<double>(coefficient_of(wanted));
      const double opposite = -static_cast<double>(clamp.coefficient) * static_cast<double>(term.coefficient);
      return opposite < 0 ? has <= opposite : has >= opposite;
    };
    if (!std::ranges::all_of(clamp.varying.terms(), has_opposite)) continue;
    const Dim rest = clamp.varying - clamp.number, none = -clamp.added;
    // A length is a maximum with 0, whatever is added to it: slices of slices have one form.
    const Dim other = clamp.kind == Atom::Kind::min ? max(rest - none, 0) + none : min(rest, none);
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(i));
    add_product(clamp.coefficient, clamp.others, clamp.varying);
    add_product(-clamp.coefficient, clamp.others, other);
    return true;
  }
  return false;
}

/// Of a sum that has c * max(a, k) beside c * min(a, k), or both with the same number added.
bool Dim::Sum::clamp_pair() {
  std::vector<std::pair<std::size_t, FoundClamp>> minima, maxima;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (const auto found = find_clamp(terms_[i]))
      (found->atom->kind == Atom::Kind::min ? minima : maxima).emplace_back(i, *found);
  }
  for (const auto& [i, low_at] : minima) {
    for (const auto& [j, high_at] : maxima) {
      const Dim &a = *low_at.rest, &b = *high_at.rest;
      const bool is_one = terms_[i].coefficient == terms_[j].coefficient &&
                          a.constant_ - low_at.number == b.constant_ - high_at.number &&
                          a.terms().size() == b.terms().size() && a - a.constant_ == b - b.constant_;
      if (!is_one) continue;
      const Clamp low = clamp_of(terms_[i], low_at), high = clamp_of(terms_[j], high_at);
      if (!same_factors({0, low.others}, {0, high.others})) continue;
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      add_product(low.coefficient, low.others, low.varying + low.added + high.number);
      return true;
    }
  }
  return false;
}

Dim min(const Dim& a, const Dim& b) {
  if (is_at_most(a, b)) return a;
  if (is_at_most(b, a)) return b;
  if (b.is_constant()) {
    if (const auto inner = with_number(a, Dim::Atom::Kind::min)) {
      return min(inner->first, std::min(inner->second, b.constant()));
    }
  } else if (a.is_constant()) {
    return min(b, a);
  }
  const bool ordered = Dim::compare(a, b) <= 0;
  return Dim::of_atom(
      {Dim::Atom::Kind::min, {}, std::make_shared<const std::pair<Dim, Dim>>(ordered ? a : b, ordered ? b : a)});
}

Dim max(const Dim& a, const Dim& b) {
  if (is_at_most(b, a)) return a;
  if (is_at_most(a, b)) return b;
  if (b.is_constant()) {
    if (const auto inner = with_number(a, Dim::Atom::Kind::max)) {
      return max(inner->first, std::max(inner->second, b.constant()));
    }
  } else if (a.is_constant()) {
    return max(b, a);
  }
  const bool ordered = Dim::compare(a, b) <= 0;
  return Dim::of_atom(
      {Dim::Atom::Kind::max, {}, std::make_shared<const std::pair<Dim, Dim>>(ordered ? a : b, ordered ? b : a)});
}

namespace {

struct Exact {
  using Number = int64_t;
  static int64_t require(std::optional<int64_t> number) {
    if (!number) throw Error(ErrorCode::size_overflow, {}, "a size does not fit in 64 bits");
    return *number;
  }
  static int64_t add(int64_t a, int64_t b) { return require(exact::add(a, b)); }
  static int64_t multiply(int64_t a, int64_t b) { return require(exact::multiply(a, b)); }
  static int64_t floor_div(int64_t a, int64_t b) { return require(exact::floor_div(a, b)); }
};

struct Estimate {
  using Number = double;
  static double add(double a, double b) { return a + b; }
  static double multiply(double a, double b) { return a * b; }
  static double floor_div(double a, double b) { return b == 0 ? 0 : std::floor(a / b); }
};

}  // namespace

template <class Arithmetic>
typename Arithmetic::Number Dim::value(std::span<const int64_t> symbols) const {
  using Number = typename Arithmetic::Number;
  const auto value_of = [&](const Atom& atom) -> Number {
    if (atom.kind == Atom::Kind::symbol) return static_cast<Number>(symbols[atom.symbol.index]);
    const Number a = atom.operands->first.value<Arithmetic>(symbols);
    if (atom.kind == Atom::Kind::sum) return a;
    const Number b = atom.operands->second.value<Arithmetic>(symbols);
    if (atom.kind == Atom::Kind::floor_div) return Arithmetic::floor_div(a, b);
    return atom.kind == Atom::Kind::min ? std::min(a, b) : std::max(a, b);
  };
  auto total = static_cast<Number>(constant_);
  for (const Term& term : terms()) {
    auto product = static_cast<Number>(term.coefficient);
    for (const Atom& atom : term.factors) product = Arithmetic::multiply(product, value_of(atom));
    total = Arithmetic::add(total, product);
  }
  return total;
}

int64_t Dim::evaluate(std::span<const int64_t> symbols) const { return value<Exact>(symbols); }

/// Of a divisor, which is a sum of what is at least 0 in what programs are made of.
static bool may_be_negative(const Dim& dim) {
  return dim.constant_part() < 0 ||
         std::ranges::any_of(
             dim.terms(),
             [](const Dim::Term& term) {
               return term.coefficient < 0 ||
                      std::ranges::any_of(
                          term.factors, [](const Dim::Atom& factor) { return factor.kind != Dim::Atom::Kind::symbol; });
             });
}

bool Dim::may_overflow() const {
  // A difference of two numbers that are at least 0 does not overflow.
  int most_positive = constant_ > 0, most_negative = constant_ < 0;
  for (const Term& term : terms()) {
    if (term.factors.size() > 1 || std::abs(term.coefficient) != 1) return true;
    const Atom& atom = term.factors[0];
    const bool is_symbol = atom.kind == Atom::Kind::symbol;
    if (!is_symbol && (atom.operands->first.may_overflow() || atom.operands->second.may_overflow())) return true;
    if (atom.kind == Atom::Kind::floor_div && may_be_negative(atom.operands->second)) return true;
    most_positive += !is_symbol || term.coefficient > 0;
    most_negative += !is_symbol || term.coefficient < 0;
  }
  const bool is_one = num_summands() == 1 && (terms().empty() || terms()[0].coefficient == 1);
  return !is_one && (most_positive > 1 || most_negative > 1);
}

double Dim::estimate(std::span<const int64_t> symbols) const { return value<Estimate>(symbols); }

Dim Dim::substitute(const IdMap<SymbolId, Dim>& replacement) const {
  const auto value_of = [&](const Atom& atom) -> Dim {
    if (atom.kind == Atom::Kind::symbol) return replacement[atom.symbol];
    const Dim a = atom.operands->first.substitute(replacement);
    if (atom.kind == Atom::Kind::sum) return a;
    const Dim b = atom.operands->second.substitute(replacement);
    if (atom.kind == Atom::Kind::floor_div) return inlay::floor_div(a, b);
    return atom.kind == Atom::Kind::min ? inlay::min(a, b) : inlay::max(a, b);
  };
  Dim total(constant_);
  for (const Term& term : terms()) {
    Dim product = 1;
    for (const Atom& atom : term.factors) product = product * value_of(atom);
    total = total + Dim(term.coefficient) * product;
  }
  return total;
}

std::vector<SymbolId> Dim::symbols() const {
  std::vector<SymbolId> out;
  for (const Term& term : terms()) {
    for (const Atom& atom : term.factors) {
      if (atom.kind == Atom::Kind::symbol) {
        out.push_back(atom.symbol);
        continue;
      }
      for (const Dim* operand : {&atom.operands->first, &atom.operands->second}) {
        for (SymbolId symbol : operand->symbols()) out.push_back(symbol);
      }
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Answer same_dim(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (!difference.is_constant()) return Answer::unknown;
  return difference.is(0) ? Answer::yes : Answer::no;
}

bool all_one(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](const Dim& dim) { return dim.is(1); });
}

Dim product(std::span<const Dim> dims) {
  Dim out = 1;
  for (const Dim& dim : dims) out = out * dim;
  return out;
}

Dim ceil_div(const Dim& length, int64_t step) { return floor_div(length + Dim(step - 1), Dim(step)); }

}  // namespace inlay
