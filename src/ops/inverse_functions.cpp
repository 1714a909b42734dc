// The inverses of the regularized incomplete gamma and beta functions by their last operand: quantiles.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Parameters for which Boost's iterations find their way.
constexpr double kLargest = 1e6;
bool is_moderate(double a) { return a >= 1e-4 && a <= kLargest; }

constexpr double kLeastPart = 1e-290;  // likewise, of p and q

/// The least x of [0, most] with `is_beyond(x)`, by halving the doubles in between.
template <class Predicate>
double by_halves(double most, const Predicate& is_beyond) {
  uint64_t low = 0, high = std::bit_cast<uint64_t>(most);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (is_beyond(std::bit_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(low);
}

constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kLeastNormal = std::numeric_limits<double>::min();

/// Is the quantile of p below kLeast/2, where `below` is the part below kLeast? Next to 0 that part grows as x^a.
bool is_nearer_to_zero(double a, double p, double below) { return below * std::exp2(-a) > p; }

}  // namespace

extern "C" {

double inlay_s_gammaincinv(double a, double p) noexcept {
  if (!(a >= 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0) return 0;
  if (p == 1) return kInf;
  if (a == 0 || std::isinf(a)) return kNan;
  if (a > kLargest || a < kLeastNormal || p < kLeastPart) {
    const double x = by_halves(kInf, [&](double x) { return inlay_s_gammainc(a, x) >= p; });
    return x == kLeast && is_nearer_to_zero(a, p, inlay_s_gammainc(a, x)) ? 0 : x;
  }
  return boost::math::gamma_p_inv(a, p, Quiet());
}

double inlay_s_gammainccinv(double a, double q) noexcept {
  if (!(a >= 0 && q >= 0 && q <= 1)) return kNan;
  if (q == 0) return kInf;
  if (q == 1) return 0;
  if (a == 0 || std::isinf(a)) return kNan;
  if (a > kLargest || a < kLeastNormal || q < kLeastPart) {
    const double x = by_halves(kInf, [&](double x) { return inlay_s_gammaincc(a, x) <= q; });
    // As is_nearer_to_zero has it, by the parts above, which may be small.
    const double above = inlay_s_gammaincc(a, kLeast);
    return x == kLeast && q - above > -std::expm1(-a * std::numbers::ln2) * (1 - above) ? 0 : x;
  }
  return boost::math::gamma_q_inv(a, q, Quiet());
}

double inlay_s_betaincinv(double a, double b, double p) noexcept {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNan;
  if (p == 0 || p == 1) return p == 1 ? 1 : 0;
  if (std::isinf(b) && a == 1) return 0;  // as SciPy, of 1 alone
  if (std::isinf(a) && b == 1) return 1;
  if (std::isinf(a) || std::isinf(b)) return kNan;
  if (a == b && p == 0.5) return 0.5;  // also where a and b are so small that the part below is 0.5 nearly everywhere
  if (!is_moderate(a) || !is_moderate(b) || p < kLeastPart) {
    const double x = by_halves(1, [&](double x) { return inlay_s_betainc(a, b, x) >= p; });
    return x == kLeast && is_nearer_to_zero(a, p, inlay_s_betainc(a, b, x)) ? 0 : x;
  }
  return boost::math::ibeta_inv(a, b, p, Quiet());
}

}  // extern "C"
