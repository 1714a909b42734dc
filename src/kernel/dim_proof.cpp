#include "kernel/dim_proof.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/hash.h"

namespace inlay::kernel {
namespace {

// Each level replaces one function by one of its bounds, so this is also the number of functions that a proof looks
// into.
constexpr int kMaxDepth = 6;
constexpr int kMaxFacts = 3;  // the most facts that one proof combines
constexpr int kMaxCases = 2;  // the most factors of 0 or 1 that one proof distinguishes by cases

// A proof gives up after this many steps: each function has two bounds and functions may be replaced in any order, so a
// failing proof takes exponentially many (2^20, of one random program). Of three million proofs in random programs none
// took more than 2^9.
constexpr int kMaxSteps = 1 << 11;

/// A term coefficient * rest * f(...), where rest, a product of atoms, is not negative and f is not a symbol; `others`
/// is the rest of the expression.
struct Split {
  int64_t coefficient = 0;
  Dim rest = 1;
  const Dim::Atom* function = nullptr;
  Dim others;
};

/// Proofs of one question and of the facts that it is given. Functions may be replaced in any order, so the same
/// expression is met again and again: what was found of it is kept.
class Proof {
 public:
  /// Gives the next proof its own number of steps.
  Proof& again() {
    steps_left_ = kMaxSteps;
    return *this;
  }

  bool never_negative(const Dim& d, int depth = kMaxDepth);
  bool never_negative_given(const Dim& d, std::span<const Dim> facts, int num_facts = kMaxFacts);
  std::vector<Dim> quotients_of_sizes(const Dim& d, std::span<const Dim> facts);

 private:
  bool split_at(const Dim& d, const Dim::Term& term, int depth, Split& out);
  bool prove_with_multiple(const Split& split, int depth);
  bool prove_with_floor_div(const Split& split, int depth);
  bool prove_with(const Dim& d, const Dim::Term& term, const Split& split, int depth);
  bool follows_from_a_bound(const Dim& d, int depth);

  int steps_left_ = kMaxSteps;
  static constexpr int kProved = kMaxDepth + 1;  // no question is of such a depth
  /// Of what took steps: kProved, or the greatest depth to which no proof was found.
  std::unordered_map<Dim, int, DimHash> found_;
};

bool Proof::split_at(const Dim& d, const Dim::Term& term, int depth, Split& out) {
  out.coefficient = term.coefficient;
  Dim whole = term.coefficient;
  for (const Dim::Atom& atom : term.factors) {
    const Dim factor = Dim::of_atom(atom);
    whole = whole * factor;
    if (atom.kind != Dim::Atom::Kind::symbol && out.function == nullptr) {
      out.function = &atom;
      continue;
    }
    if (atom.kind != Dim::Atom::Kind::symbol && !never_negative(factor, depth)) return false;
    out.rest = out.rest * factor;
  }
  out.others = d - whole;
  return out.function != nullptr;
}

/// a - k + 1 <= k * floordiv(a, k) <= a where k, a size, is at least 1: the shift of a roll is such a difference.
bool Proof::prove_with_multiple(const Split& split, int depth) {
  const auto& [a, k] = *split.function->operands;
  const auto is_divisor = [&k = k](const Dim::Atom& atom) { return Dim::of_atom(atom) == k; };
  if (split.rest.terms().size() != 1) return false;
  std::vector<Dim::Atom> factors = split.rest.terms()[0].factors;
  const auto found = std::ranges::find_if(factors, is_divisor);
  if (found == factors.end() || !never_negative(k - 1, depth)) return false;
  factors.erase(found);
  Dim bound = split.coefficient > 0 ? a - k + 1 : a;
  for (const Dim::Atom& factor : factors) bound = bound * Dim::of_atom(factor);
  return never_negative(split.others + Dim(split.coefficient) * bound, depth);
}

/// c * floordiv(a, k) >= c * (a - k + 1) / k for c > 0, and >= c * a / k for c < 0; both are integers where k divides
/// c.
bool Proof::prove_with_floor_div(const Split& split, int depth) {
  const Dim& a = split.function->operands->first;
  const Dim& divisor = split.function->operands->second;
  const int64_t c = split.coefficient;
  if (!divisor.is_constant()) return prove_with_multiple(split, depth);
  if (divisor.constant() <= 0) return false;
  const int64_t k = divisor.constant();
  if (c % k == 0) {
    const Dim bound = c > 0 ? a - Dim(k - 1) : a;
    return never_negative(split.others + Dim(c / k) * split.rest * bound, depth);
  }
  if (!never_negative(a, depth)) return false;
  return never_negative(c > 0 ? split.others : split.others + Dim(c) * split.rest * a, depth);
}

bool Proof::prove_with(const Dim& d, const Dim::Term& term, const Split& split, int depth) {
  if (split.function->kind == Dim::Atom::Kind::floor_div) {
    const auto quotient = d.widest_quotient(term);
    if (quotient && never_negative(quotient->dividend, depth) && never_negative(quotient->others, depth)) return true;
    return prove_with_floor_div(split, depth);
  }
  const auto with = [&](const Dim& bound) {
    return never_negative(split.others + Dim(split.coefficient) * split.rest * bound, depth);
  };
  if (split.function->kind == Dim::Atom::Kind::sum) return with(split.function->operands->first);
  // min and max are one of their operands. In the helpful direction either bounds them, else both must do.
  const bool is_max = split.function->kind == Dim::Atom::Kind::max;
  const bool either = is_max == (split.coefficient > 0);
  const auto& [left, right] = *split.function->operands;
  return either ? with(left) || with(right) : with(left) && with(right);
}

bool Proof::never_negative(const Dim& d, int depth) {
  if (d.lower_bound({}, 0) >= 0) return true;  // the proof handles clamps itself
  if (depth == 0 || steps_left_ < 0) return false;
  if (const auto found = found_.find(d); found != found_.end() && found->second >= depth) {
    return found->second == kProved;
  }
  const bool out = --steps_left_ >= 0 && follows_from_a_bound(d, depth);
  if (out || steps_left_ >= 0) found_[d] = out ? kProved : depth;  // without steps left nothing was found out
  return out;
}

/// Is it not negative where one of its functions is replaced by a bound of it?
bool Proof::follows_from_a_bound(const Dim& d, int depth) {
  for (const Dim::Term& term : d.terms()) {
    Split split;
    if (split_at(d, term, depth - 1, split) && prove_with(d, term, split, depth - 1)) return true;
  }
  return false;
}

/// Returns how often subtracting the fact from `d` may help: as often as cancels one of its terms. Empty if they share
/// no term.
std::vector<int64_t> useful_multiples(const Dim& d, const Dim& fact) {
  std::vector<int64_t> out;
  for (const Dim::Term& mine : d.terms()) {
    for (const Dim::Term& other : fact.terms()) {
      if (!Dim::same_factors(mine, other)) continue;
      if (out.empty()) out.push_back(1);
      const int64_t multiple = mine.coefficient / other.coefficient;
      if (multiple > 1) out.push_back(multiple);
      if (multiple > 2) out.push_back(multiple - 1);  // one less is for what a clamp takes: 9*n - min(n, m)
    }
  }
  return out;
}

constexpr int64_t kMaxScale = 64;

/// Does it fit in 64 bits that many times?
bool can_be_scaled(const Dim& d) {
  constexpr int64_t kMost = INT64_MAX / (4 * kMaxScale);
  const auto is_small = [](int64_t number) { return -kMost < number && number < kMost; };
  return is_small(d.constant_part()) &&
         std::ranges::all_of(d.terms(), [&](const Dim::Term& term) { return is_small(term.coefficient); });
}

/// Returns by what `d` may be multiplied so that subtracting the fact cancels one of its terms: 0, if by nothing more
/// than 1. Of two terms of one sign that of the fact is a multiple.
int64_t useful_scale(const Dim& d, const Dim& fact) {
  for (const Dim::Term& mine : d.terms()) {
    for (const Dim::Term& other : fact.terms()) {
      const bool is_multiple = other.coefficient % mine.coefficient == 0 && other.coefficient / mine.coefficient > 1;
      if (is_multiple && Dim::same_factors(mine, other)) return other.coefficient / mine.coefficient;
    }
  }
  return 0;
}

/// d is not negative if it is still not negative after subtracting multiples of what is not negative; nor is it if
/// k d > -k, since it is whole: 2 - m if 7 - 5*m is not negative.
bool Proof::never_negative_given(const Dim& d, std::span<const Dim> facts, int num_facts) {
  if (never_negative(d)) return true;
  if (num_facts == 0 || steps_left_ <= 0) return false;
  const bool scales = can_be_scaled(d);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    for (int64_t multiple : useful_multiples(d, facts[i])) {
      if (never_negative_given(d - Dim(multiple) * facts[i], facts.subspan(i + 1), num_facts - 1)) return true;
    }
    const int64_t k = scales && can_be_scaled(facts[i]) ? useful_scale(d, facts[i]) : 0;
    if (k > 1 && k <= kMaxScale &&
        never_negative_given(Dim(k) * d + Dim(k - 1) - facts[i], facts.subspan(i + 1), num_facts - 1)) {
      return true;
    }
  }
  return false;
}

/// Returns the floordivs in `d`, with as much of `d` moved into them as fits, that are not negative because their
/// dividends are not, given `facts`: a strided slice has floordiv(n - k + 1, 2) elements where n - k is the length of
/// the whole.
std::vector<Dim> Proof::quotients_of_sizes(const Dim& d, std::span<const Dim> facts) {
  std::vector<Dim> out;
  const auto note = [&](const Dim& dividend, const Dim& quotient) {
    if (never_negative_given(dividend, facts)) out.push_back(quotient);
  };
  for (const Dim::Term& term : d.terms()) {
    if (const auto quotient = d.widest_quotient(term)) {
      note(quotient->dividend, Dim::of_atom(term.factors[0]) + quotient->taken);
    }
    for (const Dim::Atom& atom : term.factors) {
      if (atom.kind != Dim::Atom::Kind::floor_div) continue;
      const auto& [dividend, divisor] = *atom.operands;
      if (divisor.is_constant() && divisor.constant() > 0) note(dividend, Dim::of_atom(atom));
    }
  }
  return out;
}

/// Returns more sizes that are not negative if `fact` is not: `fact` with a helpful min replaced by either operand,
/// which is at least as large.
std::vector<Dim> without_clamps(const Dim& fact) {
  std::vector<Dim> out;
  for (const Dim::Term& term : fact.terms()) {
    const Dim::Atom& atom = term.factors[0];
    const bool helps = atom.kind == (term.coefficient > 0 ? Dim::Atom::Kind::min : Dim::Atom::Kind::max);
    if (term.factors.size() != 1 || !helps) continue;
    const Dim others = fact - Dim(term.coefficient) * Dim::of_atom(atom);
    for (const Dim* operand : {&atom.operands->first, &atom.operands->second}) {
      out.push_back(others + Dim(term.coefficient) * *operand);
    }
  }
  return out;
}

bool is_false(const Dim& fact) { return fact.is_constant() && fact.constant() < 0; }

bool proved(const Dim& d, std::span<const Dim> facts) {
  Proof proof;
  // (If a fact is false everything holds.)
  if (proof.never_negative(d) || std::ranges::any_of(facts, is_false)) return true;
  // Facts that always hold prove nothing new; most facts are of that kind.
  std::vector<Dim> telling;
  const auto note = [&](const Dim& fact) {
    if (!proof.again().never_negative(fact) && std::ranges::find(telling, fact) == telling.end())
      telling.push_back(fact);
  };
  for (const Dim& fact : facts) note(fact);
  for (const Dim& fact : facts) std::ranges::for_each(without_clamps(fact), note);
  if (telling.empty()) return false;
  if (proof.again().never_negative_given(d, telling)) return true;
  const std::vector<Dim> quotients = proof.quotients_of_sizes(d, telling);
  telling.insert(telling.end(), quotients.begin(), quotients.end());
  return !quotients.empty() && proof.never_negative_given(d, telling);
}

/// Returns a factor min(1, n) of another atom that is 0 or 1.
std::optional<Dim> switching_factor(const Dim& d) {
  for (const Dim::Term& term : d.terms()) {
    if (term.factors.size() < 2) continue;
    for (const Dim::Atom& atom : term.factors) {
      if (atom.kind != Dim::Atom::Kind::min || !atom.operands->first.is(1)) continue;
      if (Proof().never_negative(atom.operands->second)) return Dim::of_atom(atom);
    }
  }
  return std::nullopt;
}

/// Proves `d` in each case of up to this many factors that are 0 or 1: a*(1 - min(1, n)) is not negative because it is
/// a or 0.
bool proved_by_cases(const Dim& d, std::span<const Dim> facts, int num_factors) {
  if (proved(d, facts)) return true;
  if (num_factors == 0) return false;
  std::optional<Dim> factor = switching_factor(d);
  for (std::size_t i = 0; i < facts.size() && !factor; ++i) factor = switching_factor(facts[i]);
  if (!factor) return false;
  for (int64_t value : {0, 1}) {
    std::vector<Dim> given;
    for (const Dim& fact : facts) given.push_back(where(fact, {&*factor, 1}, value));
    if (!proved_by_cases(where(d, {&*factor, 1}, value), given, num_factors - 1)) return false;
  }
  return true;
}

}  // namespace

bool always_at_least(const Dim& a, const Dim& b, std::span<const Dim> facts) {
  return proved_by_cases(a - b, facts, kMaxCases);
}

bool always_apart(const Dim& begin_a, const Dim& end_a, const Dim& begin_b, const Dim& end_b) {
  return always_at_least(begin_b, end_a) || always_at_least(begin_a, end_b);
}

bool is_zero_or_one(const Dim& size) { return always_at_least(size, 0) && always_at_least(1, size); }

bool is_at_most_or_one(const Dim& size, const Dim& n, const Dim& step, const Dim& left, const Dim& right) {
  const Dim differs = left - right, most = 1 - step - (size - step * n);
  // Whether the step is 0 or 1 is what all of it turns on, so no proof is looked for that holds in both cases.
  return std::ranges::all_of(std::array<int64_t, 2>{0, 1}, [&](int64_t value) {
    const Dim difference = where(differs, {&step, 1}, value);
    return always_at_least(where(most, {&step, 1}, value), 0, std::array{difference, Dim(0) - difference});
  });
}

Dim where(const Dim& size, std::span<const Dim> factors, int64_t value) {
  Dim out = size.constant_part();
  for (const Dim::Term& term : size.terms()) {
    Dim product = term.coefficient;
    for (const Dim::Atom& atom : term.factors) {
      const Dim factor = Dim::of_atom(atom);
      product = product * (std::ranges::find(factors, factor) == factors.end() ? factor : Dim(value));
    }
    out = out + product;
  }
  return out;
}

}  // namespace inlay::kernel
