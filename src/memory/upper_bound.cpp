#include "memory/upper_bound.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "support/error.h"
#include "support/exact.h"

namespace inlay::memory {
namespace {

struct Range {
  int64_t minimum = 0, maximum = 0;
};

[[noreturn]] void too_large() {
  throw Error(ErrorCode::size_overflow, {}, "the size of a temporary at the upper bounds does not fit in 64 bits");
}

int64_t fitting(std::optional<int64_t> number) {
  if (!number) too_large();
  return *number;
}

int64_t sum(int64_t a, int64_t b) { return fitting(exact::add(a, b)); }
int64_t product(int64_t a, int64_t b) { return fitting(exact::multiply(a, b)); }
int64_t divide(int64_t a, int64_t b) { return fitting(exact::floor_div(a, b)); }

/// Minimum and maximum of `op`, which is monotonic in each of its operands.
template <class Op>
Range at_corners(const Range& a, const Range& b, const Op& op) {
  const auto [minimum, maximum] = std::minmax(
      {op(a.minimum, b.minimum), op(a.minimum, b.maximum), op(a.maximum, b.minimum), op(a.maximum, b.maximum)});
  return {minimum, maximum};
}

Range both(const Range& a, const Range& b) { return {std::min(a.minimum, b.minimum), std::max(a.maximum, b.maximum)}; }

/// Of divisors of one sign a quotient is monotonic in both operands; where the divisor is 0 it is 0.
Range quotient(const Range& a, const Range& b) {
  std::optional<Range> out;
  const auto add = [&](const Range& range) { out = out ? both(*out, range) : range; };
  if (b.minimum <= -1) add(at_corners(a, Range{b.minimum, std::min<int64_t>(b.maximum, -1)}, divide));
  if (b.minimum <= 0 && b.maximum >= 0) add({0, 0});
  if (b.maximum >= 1) add(at_corners(a, Range{std::max<int64_t>(b.minimum, 1), b.maximum}, divide));
  return *out;
}

class Bounds {
 public:
  explicit Bounds(std::span<const int64_t> upper_bounds) : upper_bounds_(upper_bounds) {}

  Range of(const Dim& size) const {
    Range total{size.constant_part(), size.constant_part()};
    for (const Dim::Term& term : size.terms()) {
      Range range{term.coefficient, term.coefficient};
      for (const Dim::Atom& atom : term.factors) range = at_corners(range, of(atom), product);
      total = {sum(total.minimum, range.minimum), sum(total.maximum, range.maximum)};
    }
    return total;
  }

 private:
  Range of(const Dim::Atom& atom) const {
    using Kind = Dim::Atom::Kind;
    if (atom.kind == Kind::symbol) return {0, upper_bounds_[atom.symbol.index]};
    const Range a = of(atom.operands->first), b = of(atom.operands->second);
    if (atom.kind == Kind::sum) return a;
    if (atom.kind == Kind::floor_div) return quotient(a, b);
    if (atom.kind == Kind::min) return {std::min(a.minimum, b.minimum), std::min(a.maximum, b.maximum)};
    return {std::max(a.minimum, b.minimum), std::max(a.maximum, b.maximum)};
  }

  std::span<const int64_t> upper_bounds_;
};

}  // namespace

int64_t at_most(const Dim& size, std::span<const int64_t> upper_bounds) {
  return Bounds(upper_bounds).of(size).maximum;
}

}  // namespace inlay::memory
