#include "memory/upper_bound.h"

#include <algorithm>
#include <initializer_list>

#include "support/error.h"

namespace inlay::memory {
namespace {

struct Range {
  int64_t least = 0, most = 0;
};

[[noreturn]] void too_large() {
  throw Error(ErrorCode::size_overflow, {}, "the size of a temporary at the upper bounds does not fit in 64 bits");
}

int64_t sum(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) too_large();
  return out;
}

int64_t product(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) too_large();
  return out;
}

/// Minimum and maximum of `op`, which is monotonic in each of its operands.
template <class Op>
Range at_corners(const Range& a, const Range& b, const Op& op) {
  const auto [least, most] =
      std::minmax({op(a.least, b.least), op(a.least, b.most), op(a.most, b.least), op(a.most, b.most)});
  return {least, most};
}

Range quotient(const Range& a, Range b) {
  const auto divide = [](int64_t x, int64_t y) { return floor_div(Dim(x), Dim(y)).constant(); };
  const bool may_be_zero = b.least <= 0;  // then the quotient is 0
  b = {std::max<int64_t>(b.least, 1), std::max<int64_t>(b.most, 1)};
  Range out = at_corners(a, b, divide);
  if (may_be_zero) out = {std::min<int64_t>(out.least, 0), std::max<int64_t>(out.most, 0)};
  return out;
}

class Bounds {
 public:
  explicit Bounds(std::span<const int64_t> upper_bounds) : upper_bounds_(upper_bounds) {}

  Range of(const Dim& size) const {
    Range total{size.constant_part(), size.constant_part()};
    for (const Dim::Term& term : size.terms()) {
      Range range{term.coefficient, term.coefficient};
      for (const Dim::Atom& atom : term.factors) range = at_corners(range, of(atom), product);
      total = {sum(total.least, range.least), sum(total.most, range.most)};
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
    if (atom.kind == Kind::min) return {std::min(a.least, b.least), std::min(a.most, b.most)};
    return {std::max(a.least, b.least), std::max(a.most, b.most)};
  }

  std::span<const int64_t> upper_bounds_;
};

}  // namespace

int64_t at_most(const Dim& size, std::span<const int64_t> upper_bounds) { return Bounds(upper_bounds).of(size).most; }

}  // namespace inlay::memory
