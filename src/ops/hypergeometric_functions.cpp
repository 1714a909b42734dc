// Gauss's hypergeometric function 2F1(a, b; c; z) of real operands.
//
// Its equation z (1 - z) F'' + (c - (a + b + 1) z) F' = a b F has a power series around every z between 0 and 1. The
// one around 0 is taken as far as it converges fast; from there series around points ever closer to 1 follow, each with
// the value and the slope that the one before it left. So no formula is needed that breaks down where c - a - b or a -
// b is a whole number. Negative z are taken to (0, 1) by Pfaff's transformation.
//
// Terms of both signs may cancel, and so may the two solutions that a step towards 1 is made of. Another form of the
// same value (Euler's and Pfaff's transformations, the solutions around 1) then often does not; each evaluation knows
// how much was lost, and the best is taken. All is in 80 bits.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <boost/math/special_functions/gamma.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;
using Long = long double;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Long kEpsilon = std::numeric_limits<Long>::epsilon();
constexpr int kMostTerms = 100'000;
constexpr int kMostDegrees = 1000;  // of a polynomial by its recurrence
constexpr Long kSeriesTo = 0.9;     // beyond it the steps towards 1 take fewer terms
constexpr Long kAddsUpTo = 0.99;    // likewise, where all terms are positive and so none is lost
constexpr Long kAddsUpSlowly = 0.999;
constexpr Long kAllLost = 0x1p57;  // less than two digits are left
constexpr Long kFewLost = 256;     // 8 of the 11 bits that Long has more than double

bool is_pole(Long x) { return x <= 0 && x == std::floor(x); }

/// A value of the function, its slope there, and the largest of the terms that were added, relative to the value.
struct Sum {
  Long value = 0, slope = 0, lost = 0;
};

struct Parameters {
  Long a = 0, b = 0, c = 0;
};

/// How much larger a term is than the sum; near a root of the function it may be any much.
Long relative(Long term, Long sum) { return term / std::max(std::fabs(sum), std::numeric_limits<Long>::min()); }

/// The series around 0. Ends by itself where a or b is a whole number up to 0.
Sum series_around_0(const Parameters& p, Long z) {
  Long term = 1, value = 1, slope = 0, largest = 1;
  for (int n = 0; n < kMostTerms; ++n) {
    term *= (p.a + n) * (p.b + n) / ((p.c + n) * (n + 1)) * z;
    const Long slope_term = (n + 1) * term;
    value += term;
    slope += slope_term;
    largest = std::max(largest, std::fabs(term));
    const bool falls = std::fabs((p.a + n) * (p.b + n) * z) < std::fabs((p.c + n) * (n + 1));
    if (falls && std::fabs(slope_term) <= kEpsilon * std::fabs(slope) &&
        std::fabs(term) <= kEpsilon * std::fabs(value)) {
      return {value, slope / z, relative(largest, value)};
    }
    if (term == 0 || !std::isfinite(value)) return {value, slope / z, relative(largest, value)};
  }
  return {kNan, kNan, kInf};
}

/// From the point 1 - rest, where `at` is known, to 1 - rest + step. The series of the two solutions that start as
/// (value, 0) and (0, slope) are summed apart: an error of the start grows as they do, and they may cancel where their
/// sum is small.
Sum step_towards_1(const Parameters& p, Long rest, Long step, const Sum& at) {
  const Long z = 1 - rest, scale = step / (z * rest);
  const Long first = p.c - (p.a + p.b + 1) * z;
  Sum total = {0, 0, 0};
  Long largest = 0;
  for (Sum start : {Sum{at.value, 0, 0}, Sum{0, at.slope * step, 0}}) {
    Long older = start.value, newer = start.slope;  // u_n t^n and u_(n + 1) t^(n + 1)
    Long value = older + newer, slope = newer;
    for (int n = 0; n < kMostTerms; ++n) {
      const Long next = ((p.a + n) * (p.b + n) * step * older - ((rest - z) * n + first) * (n + 1) * newer) * scale /
                        ((n + 1) * (n + 2));
      value += next;
      slope += (n + 2) * next;
      largest = std::max(largest, std::fabs(next));
      older = newer;
      newer = next;
      const Long size = std::max(std::fabs(older), std::fabs(newer));
      if ((n + 2) * size <= kEpsilon * std::fabs(slope) && size <= kEpsilon * std::fabs(value)) break;
      if (size == 0 || !std::isfinite(value)) break;
    }
    largest = std::max(largest, std::fabs(value));
    total.value += value;
    total.slope += slope;
  }
  return {total.value, total.slope / step, at.lost * std::max(Long(1), relative(largest, total.value))};
}

/// The better of two values, by what was lost.
Sum better(const Sum& x, const Sum& y) { return y.lost < x.lost ? y : x; }

/// The product of gamma functions of `above` over that of those of `below`.
Long gamma_ratio(std::initializer_list<Long> above, std::initializer_list<Long> below) {
  Long log = 0, sign = 1;
  for (Long x : below) {
    if (is_pole(x)) return 0;
    int its_sign = 1;
    log -= boost::math::lgamma(x, &its_sign, Quiet());
    sign *= its_sign;
  }
  for (Long x : above) {
    int its_sign = 1;
    log += boost::math::lgamma(x, &its_sign, Quiet());
    sign *= its_sign;
  }
  return sign * std::exp(log);
}

/// By the two solutions around 1 (DLMF 15.8.4), unless their exponents, 0 and c - a - b, are a whole number apart.
Sum from_1(const Parameters& p, Long rest) {
  const Long apart = p.c - p.a - p.b;
  if (apart == std::floor(apart)) return {kNan, kNan, kInf};
  const Sum plain = series_around_0({p.a, p.b, 1 - apart}, rest);
  const Sum other = series_around_0({p.c - p.a, p.c - p.b, 1 + apart}, rest);
  const Long x = gamma_ratio({p.c, apart}, {p.c - p.a, p.c - p.b}) * plain.value;
  const Long y = gamma_ratio({p.c, -apart}, {p.a, p.b}) * std::pow(rest, apart) * other.value;
  const Long value = x + y;
  return {value, kNan, relative(std::fabs(x) * plain.lost + std::fabs(y) * other.lost, value)};
}

/// For 0 < z < 1; `rest` is 1 - z with its own digits.
Sum between_0_and_1(const Parameters& p, Long z, Long rest) {
  const bool adds_up = p.a > 0 && p.b > 0 && p.c > 0;
  const Long series_to = adds_up ? kAddsUpTo : kSeriesTo;
  if (is_pole(p.a) || is_pole(p.b)) return series_around_0(p, z);
  Sum sum = series_around_0(p, std::min(z, series_to));
  for (Long left = 1 - series_to; left > rest && sum.lost <= kFewLost;) {  // 1 - the point reached
    const Long next = std::max(left / 2, rest);
    sum = step_towards_1(p, left, left - next, sum);
    left = next;
  }
  if (sum.lost <= kFewLost) return sum;
  if (z > series_to) sum = adds_up && z < kAddsUpSlowly ? series_around_0(p, z) : Sum{kNan, kNan, kInf};
  return sum.lost <= kFewLost ? sum : better(sum, from_1(p, rest));
}

/// base^power times a sum.
Sum scaled(Long base, Long power, const Sum& sum) { return {std::pow(base, power) * sum.value, kNan, sum.lost}; }

/// nan where no digit of the value is right, nor, around a root, of what was added for it.
double rounded(const Sum& sum) {
  const bool is_known = sum.lost < kAllLost || sum.lost * std::fabs(sum.value) < kAllLost;
  return is_known ? static_cast<double>(sum.value) : kNan;
}

double at_1(const Parameters& p) {
  const Long apart = p.c - p.a - p.b;
  if (!(apart > 0)) return std::copysign(kInf, static_cast<double>(gamma_ratio({p.c}, {p.a, p.b})));
  return static_cast<double>(gamma_ratio({p.c, apart}, {p.c - p.a, p.c - p.b}));
}

/// The sum has an end, at any z: a or b is a whole number up to 0. Its terms may cancel to nothing (Legendre's and
/// Jacobi's polynomials are such); Gauss's relation between neighbours by degree loses little.
double polynomial(const Parameters& p, Long z) {
  const bool by_a = is_pole(p.a) && (!is_pole(p.b) || p.a >= p.b);
  const Long degree = -(by_a ? p.a : p.b), b = by_a ? p.b : p.a;
  if (is_pole(p.c) && -p.c < degree) return kInf;
  if (by_a && p.a == p.c) return static_cast<double>(std::pow(1 - z, -b));  // as SciPy: the limit of c at a fixed a
  if (degree > kMostDegrees) return rounded(series_around_0(p, z));
  Long older = 1, newer = 1 - b * z / p.c;
  for (Long k = 1; k < degree; ++k) {
    const Long next = ((2 * k + p.c - (b + k) * z) * newer + k * (z - 1) * older) / (p.c + k);
    older = newer;
    newer = next;
  }
  return static_cast<double>(newer);
}

}  // namespace

extern "C" {

double inlay_s_hyp2f1(double a, double b, double c, double z) noexcept {
  if (z == 0 || a == 0 || b == 0) return 1;  // as SciPy, of nan too
  if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(z)) return kNan;
  const Parameters p = {a, b, c};
  if (is_pole(a) || is_pole(b)) return polynomial(p, z);
  if (is_pole(c) || z > 1) return kInf;
  if (z == 1) return at_1(p);
  const Long rest = 1 - static_cast<Long>(z);
  if (z > 0) {
    const Sum sum = between_0_and_1(p, z, rest);
    if (sum.lost <= kFewLost) return rounded(sum);
    const Sum euler = between_0_and_1({p.c - p.a, p.c - p.b, p.c}, z, rest);
    return rounded(better(sum, scaled(rest, p.c - p.a - p.b, euler)));
  }
  const Long image = z / (z - static_cast<Long>(1));  // 1 - image is 1 / rest
  Sum sum = scaled(rest, -p.a, between_0_and_1({p.a, p.c - p.b, p.c}, image, 1 / rest));
  if (!(sum.lost <= kFewLost)) {
    sum = better(sum, scaled(rest, -p.b, between_0_and_1({p.c - p.a, p.b, p.c}, image, 1 / rest)));
  }
  if (!(sum.lost <= kFewLost) && z >= -kSeriesTo) sum = better(sum, series_around_0(p, z));
  return rounded(sum);
}

}  // extern "C"
