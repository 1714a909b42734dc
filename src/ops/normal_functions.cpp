// The error function and the normal distribution, and their inverses.
#include <cmath>
#include <limits>

#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/owens_t.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
constexpr double kInverseSqrtPi = 0x1.20dd750429b6dp-1;

/// e^(scale x^2) f with the digits that x * x loses brought back.
double times_exp_of_square(double scale, double x, double f) {
  const double high = x * x;
  const double low = std::fma(x, x, -high);
  const double e = std::exp(scale * high) * f;
  return std::isfinite(e) && std::isfinite(low) ? std::fma(e, scale * low, e) : e;
}

/// e^(x^2) erfc(x) for x >= 26 (sooner, erfc has lost no digits yet): the asymptotic series; 7 terms reach 1e-17.
double erfcx_large(double x) {
  const double t = 0.5 / (x * x);
  double sum = 1;
  for (int k = 13; k >= 1; k -= 2) sum = 1 - k * t * sum;
  return kInverseSqrtPi / x * sum;
}

}  // namespace

extern "C" {

double inlay_s_erfcx(double x) noexcept {
  if (x >= 26) return erfcx_large(x);
  return times_exp_of_square(1, x, std::erfc(x));
}

double inlay_s_erfinv(double x) noexcept {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(kInf, x) : kNan;
  if (std::fabs(x) < 1e-300) return x == 0 ? x : x / (2 * kInverseSqrtPi);  // Boost divides by what underflows
  return boost::math::erf_inv(x, Quiet());
}

double inlay_s_erfcinv(double x) noexcept {
  if (!(x > 0 && x < 2)) return x == 0 ? kInf : x == 2 ? -kInf : kNan;
  return boost::math::erfc_inv(x, Quiet());
}

/// The quantile of the standard normal distribution.
double inlay_s_ndtri(double p) noexcept { return 0.0 - kSqrt2 * inlay_s_erfcinv(2 * p); }

/// The standard normal distribution function.
double inlay_s_ndtr(double x) noexcept {
  if (x < -1) return times_exp_of_square(-0.5, x, 0.5 * inlay_s_erfcx(-x * kSqrtHalf));
  return 0.5 * std::erfc(-x * kSqrtHalf);
}

/// The logarithm of the standard normal distribution function.
double inlay_s_log_ndtr(double x) noexcept {
  if (x > 1) return std::log1p(-times_exp_of_square(-0.5, x, 0.5 * inlay_s_erfcx(x * kSqrtHalf)));
  if (x > -1) return std::log1p(-0.5 * std::erfc(x * kSqrtHalf));
  return std::log(0.5 * inlay_s_erfcx(-x * kSqrtHalf)) - 0.5 * x * x;
}

/// The quantile of e^y, exact where e^y is 0 or 1.
double inlay_s_ndtri_exp(double y) noexcept {
  if (!(y < 0)) return y == 0 ? kInf : kNan;
  if (y == -kInf) return y;
  if (y > -0.5) return -inlay_s_ndtri(-std::expm1(y));
  if (y > -300) return inlay_s_ndtri(std::exp(y));
  // Newton's method for log_ndtr(x) = y, whose slope is the density over the distribution function. The start is right
  // to the logarithm of the size, and the digits double with each step.
  const double size = 2 * std::sqrt(-y / 2);  // -2 y may be infinite
  double x = -size;
  if (size < 1e8) {
    x += (std::log(size) + kHalfLog2Pi) / size;
    for (int step = 0; step < 4; ++step) {
      x -= (inlay_s_log_ndtr(x) - y) * inlay_s_erfcx(-x * kSqrtHalf) / (2 * kSqrtHalf * kInverseSqrtPi);
    }
  }
  return x;
}

/// The probability of X > h and 0 < Y < a X of two independent standard normal variables.
double inlay_s_owens_t(double h, double a) noexcept {
  if (std::isnan(h) || std::isnan(a)) return kNan;
  if (std::isinf(h) || a == 0) return std::copysign(0.0, a);
  if (std::isinf(a)) return std::copysign(0.5 * inlay_s_ndtr(-std::fabs(h)), a);
  return boost::math::owens_t(h, a, Quiet());
}

}  // extern "C"
