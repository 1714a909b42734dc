// Bessel functions of integer order, and of any real one.
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/bessel.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"
#include "ops/sin_pi.h"

namespace {

using inlay::Quiet;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = 1e-20;
constexpr double kOverflows = 714;  // from here on i0 and i1 are beyond every double

bool is_integer(double x) { return x == std::floor(x); }
bool is_odd(double order) { return std::fmod(order, 2) != 0; }

// I_v(x) = e^R ((R - v) / (R + v))^(v/2) / sqrt(2 pi R) (1 + u1 / R + u2 / R^2 + ...), R = sqrt(v^2 + x^2), and K_v(x)
// likewise with the signs of the exponent and of every second term turned (Debye; DLMF 10.41). The u are polynomials of
// (v / R)^2, for v = 0 the coefficients of the expansion in x. What follows u5 is below 1e-16 from kLarge on.
constexpr double kLarge = 500;

struct UniformExpansion {
  double root = 0;      // R
  double exponent = 0;  // of I, without e^x, which the scaled functions have not
  double even = 0, odd = 0;
};

UniformExpansion expand(double v, double x) {
  const double root = std::hypot(v, x);
  const double q = (v / root) * (v / root), t = 1 / root;
  const double u1 = (3 - 5 * q) / 24;
  const double u2 = (81 + q * (-462 + q * 385)) / 1152;
  const double u3 = (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720;
  const double u4 = (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + q * 185910725)))) / 39813120;
  const double u5 =
      (1519035525 +
       q * (-49286948607 + q * (284499769554 + q * (-614135872350 + q * (566098157625 - q * 188699385875))))) /
      6688604160;
  return {root, v * (v / (root + x)) - v * std::asinh(v / x), 1 + t * t * (u2 + t * t * u4),
          t * (u1 + t * t * (u3 + t * t * u5))};
}

/// e^-x I_v(x) for v >= 0, x > 0.
double scaled_i(double v, double x) {
  if (std::isinf(x)) return 0;
  // The first term is the sum. Boost's x / 2 leaves the doubles where x hardly is one.
  if (x < kTiny) return std::pow(x, v) * std::exp2(-v) / std::tgamma(v + 1);
  if (std::hypot(v, x) < kLarge) return std::exp(-x) * boost::math::cyl_bessel_i(v, x, Quiet());
  const UniformExpansion e = expand(v, x);
  return std::exp(e.exponent) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2 / std::sqrt(e.root)) * (e.even + e.odd);
}

/// K_v(x) for v >= 0 and an x whose square is nothing beside 1: (G(1 + v) (x/2)^-v - G(1 - v) (x/2)^v) / 2v, G the
/// gamma function (DLMF 10.27.4, 10.30.1).
double k_of_tiny(double v, double x) {
  if (v > 0.5) return std::tgamma(v) / 2 * std::exp2(v) * std::pow(x, -v);  // the other power is nothing too
  if (v > 1e-3) {
    const double first = std::tgamma(1 + v) * std::exp2(v) * std::pow(x, -v);
    return (first - std::tgamma(1 - v) * std::exp2(-v) * std::pow(x, v)) / (2 * v);
  }
  // Both powers are about 1, and so are both values of the gamma function, whose logarithms are series (DLMF 5.7.3):
  // the difference as a sinh.
  const double log = std::numbers::ln2 - std::log(x);
  if (v < 1e-12) return log - std::numbers::egamma;
  constexpr double kZeta2 = 1.6449340668482264, kZeta3 = 1.2020569031595943, kZeta4 = 1.0823232337111382;
  const double odd = -v * (std::numbers::egamma + kZeta3 / 3 * v * v), even = v * v * (kZeta2 / 2 + kZeta4 / 4 * v * v);
  return std::exp(even) * std::sinh(v * log + odd) / v;
}

/// e^x K_v(x) for v >= 0, x > 0.
double scaled_k(double v, double x) {
  if (std::isinf(x)) return 0;
  // Boost's series would have no end where x / 2 is no normal number.
  if (x < 1e-300) return k_of_tiny(v, x);
  if (std::hypot(v, x) < kLarge) return std::exp(x) * boost::math::cyl_bessel_k(v, x, Quiet());
  const UniformExpansion e = expand(v, x);
  return std::exp(-e.exponent) * std::sqrt(std::numbers::pi / 2 / e.root) * (e.even - e.odd);
}

}  // namespace

extern "C" {

double inlay_s_i0(double x) noexcept {
  if (std::isnan(x)) return x;
  if (std::fabs(x) > kOverflows) return kInf;
  return boost::math::cyl_bessel_i(0, std::fabs(x), Quiet());
}

double inlay_s_i1(double x) noexcept {
  if (std::isnan(x) || x == 0) return x;
  const double size = std::fabs(x) > kOverflows ? kInf : boost::math::cyl_bessel_i(1, std::fabs(x), Quiet());
  return std::copysign(size, x);
}

double inlay_s_j0(double x) noexcept { return ::j0(x); }
double inlay_s_j1(double x) noexcept { return ::j1(x); }

/// e^-|x| I_v(x)
double inlay_s_ive(double v, double x) noexcept {
  if (std::isnan(v) || std::isnan(x) || std::isinf(v)) return kNan;
  if (!is_integer(v) && (x < 0 || (x == 0 && v < 0))) return kNan;
  const double order = std::fabs(v), size = std::fabs(x);
  if (size == 0) return order == 0 ? 1 : 0;
  const double value = scaled_i(order, size);
  if (is_integer(v)) return x < 0 && is_odd(v) ? -value : value;
  if (v > 0) return value;
  return value + 2 / std::numbers::pi * inlay::sin_pi(order) * std::exp(-2 * size) * scaled_k(order, size);
}

/// e^x K_v(x)
double inlay_s_kve(double v, double x) noexcept {
  if (std::isnan(v) || std::isnan(x) || x < 0) return kNan;
  if (x == 0) return kInf;
  if (std::isinf(v)) return kNan;
  const double value = scaled_k(std::fabs(v), x);
  return std::isnan(value) && x < 1 ? kInf : value;  // Boost has no number where it overflows
}

double inlay_s_jv(double v, double x) noexcept {
  if (std::isnan(v) || std::isnan(x) || (x < 0 && !is_integer(v))) return kNan;
  const double order = std::fabs(v), size = std::fabs(x);
  if (std::isinf(order)) return std::isinf(size) ? kNan : 0;
  if (std::isinf(size)) return 0;
  const double sign = is_integer(v) && is_odd(v) && (x < 0) != (v < 0) ? -1 : 1;
  if (size == 0) return order == 0 ? 1 : v > 0 || is_integer(v) ? sign * 0.0 : kInf;
  if (order < 1e-300) return boost::math::cyl_bessel_j(0, size, Quiet());  // x^v is 1
  // Boost gives such an order back. Well below its order the function is less than any number.
  constexpr double kLargestOrder = 1e9;
  if (order > kLargestOrder) return order > 1.01 * size && (v > 0 || is_integer(v)) ? sign * 0.0 : kNan;
  if (v < 0 && !is_integer(v)) {
    const double value = boost::math::cyl_bessel_j(v, size, Quiet());
    return std::isinf(value) ? std::copysign(kInf, inlay::sin_pi(order)) : value;  // Boost loses the sign there
  }
  return sign * boost::math::cyl_bessel_j(order, size, Quiet());
}

}  // extern "C"
