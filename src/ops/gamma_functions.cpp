// The gamma function, its logarithm and the derivatives of that, and the beta function.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"
#include "ops/sin_pi.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;

bool is_negative_integer(double x) { return x < 0 && x == std::floor(x); }

bool is_integer(double x) { return x == std::floor(x); }

/// lgamma(x) and the sign of gamma(x).
double log_abs_gamma(double x, int* sign) { return lgamma_r(x, sign); }

/// What Stirling's formula leaves of lgamma, for x >= 10.
double stirling_rest(double x) {
  const double t = 1 / (x * x);
  const double series =
      1.0 / 12 +
      t * (-1.0 / 360 +
           t * (1.0 / 1260 +
                t * (-1.0 / 1680 + t * (1.0 / 1188 + t * (-691.0 / 360360 + t * (1.0 / 156 - t * 3617.0 / 122400))))));
  return series / x;
}

/// log (gamma(b) / gamma(a + b)), b and a + b at least 10, for an `a` of either sign that is smaller: the leading terms
/// of the two logarithms, which cancel, are taken together (Didonato and Morris, 1992).
double log_gamma_quotient(double a, double b) {
  const double rest = stirling_rest(b) - stirling_rest(a + b);
  return (b - 0.5) * std::log1p(-a / (a + b)) + a - a * std::log(a + b) + rest;
}

/// log B(a, b) for positive a <= b. Where an operand is large the leading terms of the three logarithms, which cancel,
/// are taken together (Didonato and Morris, 1992).
double log_beta_of_positive(double a, double b) {
  if (std::isinf(b)) return std::isinf(a) ? kNan : -kInf;
  const double ratio = a / (a + b);
  if (a >= 10) {
    const double rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return (a - 0.5) * std::log(ratio) + b * std::log1p(-ratio) + kHalfLog2Pi - 0.5 * std::log(b) + rest;
  }
  if (b >= 10) return inlay_s_lgamma(a) + log_gamma_quotient(a, b);
  if (a < 1e-300) return std::log1p(a / b) - std::log(a);
  return std::log(std::tgamma(a) / std::tgamma(a + b) * std::tgamma(b));
}

/// The value and the sign of log |B(a, b)| by gamma functions, where an operand is not positive.
double log_beta_of_any(double a, double b, int* sign) {
  int sign_a = 0, sign_b = 0, sign_sum = 0;
  if (a < b) std::swap(a, b);
  // gamma(a) / gamma(a + b) is a^-b but for b^2 / a.
  if (a > 1e17 * (1 + b * b)) return log_abs_gamma(b, sign) - b * std::log(a);
  if (a >= 10 && a + b >= 10) return log_abs_gamma(b, sign) + log_gamma_quotient(b, a);
  const double sum = log_abs_gamma(a + b, &sign_sum);
  const double value = log_abs_gamma(a, &sign_a) + log_abs_gamma(b, &sign_b);
  *sign = sign_a * sign_b * sign_sum;
  return value - sum;
}

/// B(a, b) has a value at a pole of gamma(a) where b and a + b are such that the pole of gamma(a + b) cancels it:
/// (-1)^b B(1 - a - b, b).
bool poles_cancel(double a, double b) { return a <= 0 && is_integer(a) && b > 0 && is_integer(b) && 1 - a - b > 0; }
bool is_pole(double a) { return a <= 0 && is_integer(a); }

}  // namespace

extern "C" {

double inlay_s_gamma(double x) noexcept { return is_negative_integer(x) ? kNan : std::tgamma(x); }

double inlay_s_lgamma(double x) noexcept {
  if (x == -kInf) return x;  // as SciPy; the C library has +inf
  int sign = 0;
  return lgamma_r(x, &sign);  // std::lgamma writes a global
}

double inlay_s_digamma(double x) noexcept {
  if (x == 0) return std::copysign(kInf, -x);
  if (is_negative_integer(x) || std::isnan(x)) return kNan;
  if (x == kInf) return kInf;
  // Left of 0 are roots around which the two terms of the reflection cancel: eleven bits more keep the digits.
  if (x < 0) return static_cast<double>(boost::math::digamma(static_cast<long double>(x), Quiet()));
  return boost::math::digamma(x, Quiet());
}

double inlay_s_trigamma(double x) noexcept {
  if (x == 0 || is_negative_integer(x)) return kInf;
  if (x == kInf) return 0;
  if (std::isnan(x)) return x;
  if (std::fabs(x) < 1e-160) return kInf;
  if (x > 0) return boost::math::trigamma(x, Quiet());
  const double sine = inlay::sin_pi(x);
  return std::numbers::pi * std::numbers::pi / (sine * sine) - boost::math::trigamma(1 - x, Quiet());
}

/// The n-th derivative of digamma, n = 0, 1, ...; poles have the sign of their right side.
double inlay_s_polygamma(double n, double x) noexcept {
  if (!(n >= 0 && is_integer(n)) || std::isnan(x)) return kNan;
  if (n == 0) return inlay_s_digamma(x);
  if (n == 1) return inlay_s_trigamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  if (x <= 0 && is_integer(x)) return sign * kInf;
  if (x == kInf) return sign * 0.0;
  // Of a sum over the poles, n! / distance^(n + 1), the nearest one.
  const double distance = x > 0 ? x : x - std::round(x);
  const double log_first = inlay_s_lgamma(n + 1) - (n + 1) * std::log(std::fabs(distance));
  if (x < 0) {
    // It is what counts where it is out of range; on both sides of it that is the same for odd n.
    if (log_first > 710 && std::fabs(distance) < 0.5) return sign > 0 || distance < 0 ? kInf : -kInf;
    if (n > 170) return sign > 0 ? kInf : kNan;  // two poles are as near: what is left for even n is not known
  } else {
    // The sum is below the first term times 1 + x / n: what is out of range takes long else.
    if (log_first > 710) return sign * kInf;
    if (log_first + std::log1p(x / n) < -760) return sign * 0.0;
  }
  if (n > 1e6) return kNan;
  return static_cast<double>(boost::math::polygamma(static_cast<int>(n), static_cast<long double>(x), Quiet()));
}

double inlay_s_lbeta(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b) || a == -kInf || b == -kInf) return kNan;  // poles and roots to the end
  if (a > 0 && b > 0) return a < b ? log_beta_of_positive(a, b) : log_beta_of_positive(b, a);
  if (poles_cancel(a, b)) return inlay_s_lbeta(1 - a - b, b);
  if (poles_cancel(b, a)) return inlay_s_lbeta(1 - a - b, a);
  if (is_pole(a) || is_pole(b)) return kInf;
  int sign = 0;
  return log_beta_of_any(a, b, &sign);
}

double inlay_s_beta(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b) || a == -kInf || b == -kInf) return kNan;
  if (a > 0 && b > 0) {
    if (std::isinf(a) || std::isinf(b)) return std::isinf(a) && std::isinf(b) ? kNan : 0;
    return static_cast<double>(boost::math::beta(static_cast<long double>(a), static_cast<long double>(b), Quiet()));
  }
  if (poles_cancel(a, b)) return (std::fmod(b, 2) == 0 ? 1 : -1) * inlay_s_beta(1 - a - b, b);
  if (poles_cancel(b, a)) return (std::fmod(a, 2) == 0 ? 1 : -1) * inlay_s_beta(1 - a - b, a);
  if (is_pole(a) || is_pole(b)) return kInf;
  int sign = 0;
  const double log = log_beta_of_any(a, b, &sign);
  if (std::fabs(a) < 100 && std::fabs(b) < 60 && std::fabs(a + b) < 100) {
    if (is_pole(a + b)) return sign * 0.0;
    // The smaller one first: gamma(1e-300) / gamma(-33.3) is infinite.
    const auto less = [](double x, double y) { return std::fabs(x) < std::fabs(y); };
    const auto [smaller, larger] = std::minmax({inlay_s_gamma(a), inlay_s_gamma(b)}, less);
    return smaller / inlay_s_gamma(a + b) * larger;
  }
  return sign * std::exp(log);
}

}  // extern "C"
