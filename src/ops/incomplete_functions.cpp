// The regularized incomplete gamma and beta functions, and their derivatives by the parameters.
//
// For those derivatives no closed form exists. Here the series and the continued fractions of the functions themselves
// are evaluated on numbers that carry their derivative.
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/expint.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>

#include "ops/betaincc.h"
#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTiny = 1e-300;  // gammaincc is a E1(x) for tiny a, and Boost underflows on its way
constexpr double kLarge = 1e7;    // from here on Boost's fractions take too many terms, and lose their digits
constexpr int kMostTerms = 200000;

/// A number and its derivative by the parameter in question.
struct Dual {
  double value = 0, slope = 0;
};

Dual operator+(Dual x, Dual y) { return {x.value + y.value, x.slope + y.slope}; }
Dual operator-(Dual x, Dual y) { return {x.value - y.value, x.slope - y.slope}; }
Dual operator*(Dual x, Dual y) { return {x.value * y.value, x.slope * y.value + x.value * y.slope}; }
Dual operator/(Dual x, Dual y) {
  const double quotient = x.value / y.value;
  return {quotient, (x.slope - quotient * y.slope) / y.value};
}

/// Or nan, which no further term mends.
bool is_small(Dual x, Dual beside) {
  return !(std::fabs(x.value) > kEpsilon * std::fabs(beside.value)) &&
         !(std::fabs(x.slope) > kEpsilon * std::fabs(beside.slope));
}

/// A continued fraction b0 + a1 / (b1 + a2 / (b2 + ...)) from the front (Lentz, Thompson and Barnett, 1986).
class Fraction {
 public:
  explicit Fraction(Dual first) : value_(away_from_zero(first)), c_(value_) {}

  /// Takes one term more; true when the value no longer moves.
  bool take(Dual a, Dual b) {
    d_ = Dual{1} / away_from_zero(b + a * d_);
    c_ = away_from_zero(b + a / c_);
    const Dual before = value_;
    value_ = value_ * (c_ * d_);
    return is_small(value_ - before, value_);
  }
  Dual value() const { return value_; }

 private:
  static Dual away_from_zero(Dual x) { return x.value == 0 ? Dual{1e-300, x.slope} : x; }

  Dual value_, c_, d_;
};

// ---- gamma

/// x^a e^-x / gamma(a + 1), by which P(a, x) falls from a to a + 1.
double step_of_gammainc(double a, double x) { return boost::math::gamma_p_derivative(a + 1, x, Quiet()); }

/// dP/da by the series P = x^a e^-x / gamma(a + 1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), for x not far above a.
double gammainc_da_series(double a, double x) {
  const double factor = step_of_gammainc(a, x);
  if (factor == 0) return 0;
  Dual term = {1}, sum = {1};
  for (int k = 1; k < kMostTerms; ++k) {
    term = term * (Dual{x} / Dual{a + k, 1});
    sum = sum + term;
    if (is_small(term, sum)) break;
  }
  const double rate = std::log(x) - inlay_s_digamma(a + 1);  // of the logarithm of the factor
  return factor * (rate * sum.value + sum.slope);
}

/// dP/da from 1 - P = x^a e^-x / gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), for x above a.
double gammainc_da_fraction(double a, double x) {
  const double factor = x * boost::math::gamma_p_derivative(a, x, Quiet());
  if (factor == 0) return 0;
  Fraction fraction(Dual{x + 1 - a, -1});
  for (int k = 1; k < kMostTerms; ++k) {
    if (fraction.take(Dual{k * (a - k), static_cast<double>(k)}, Dual{x + 1 - a + 2 * k, -1})) break;
  }
  const Dual inverse = Dual{1} / fraction.value();
  const double rate = std::log(x) - inlay_s_digamma(a);
  return -factor * (rate * inverse.value + inverse.slope);
}

/// The slope of a function that falls by step(away) over a step of 1 about `away`, where three orders suffice.
template <class Step>
double slope_from_steps(Step step) {
  const double second = step(1) - 2 * step(0) + step(-1);
  const double fourth = step(2) - 4 * step(1) + 6 * step(0) - 4 * step(-1) + step(-2);
  return -(step(0) - second / 24 + 3 * fourth / 640);
}

/// dP/da from differences of P over steps of 1, which are known, for large a.
double gammainc_da_large(double a, double x) {
  return slope_from_steps([&](double away) { return step_of_gammainc(a - 0.5 + away, x); });
}

/// P (side -1) or Q (side 1) for large a, by Temme's uniform expansion (DLMF 8.12(i)): a normal distribution in the
/// signed root of the exponent, and its first correction as a series of that root. Where that is not small, either side
/// is 0 or 1.
double gammainc_large(double a, double x, double side) {
  const double away = (x - a) / a;
  if (std::fabs(away) > 0.1) return away * side > 0 ? 0 : 1;
  const double exponent = -a * boost::math::log1pmx(away, Quiet());
  const double root = std::copysign(std::sqrt(2 / a * exponent), away);
  const double first = -1.0 / 3 + root * (1.0 / 12 + root * (-2.0 / 135 + root * (1.0 / 864 + root / 2835)));
  const double second = -1.0 / 540 - root / 288;
  const double skewness = std::exp(-exponent) / std::sqrt(2 * std::numbers::pi * a) * (first + second / a);
  return 0.5 * std::erfc(side * std::copysign(std::sqrt(exponent), away)) + side * skewness;
}

// ---- beta

/// A point of I_x(a, b), with y = 1 - x exact where x is not; `by_a`: which parameter the derivative is taken by.
struct BetaPoint {
  Dual a, b;
  double x = 0, y = 0, log_x = 0, log_y = 0;
};

/// I_x(a, b)'s derivative by the continued fraction of x^a y^b / (a B(a, b)) / (1 + d1 / (1 + d2 / (1 + ...))), for x
/// up to the mean, where it converges fast.
double betainc_slope_below_mean(const BetaPoint& p) {
  const double log_factor = p.a.value * p.log_x + p.b.value * p.log_y - inlay_s_lbeta(p.a.value, p.b.value);
  const double factor = std::exp(log_factor) / p.a.value;
  if (factor == 0) return 0;
  const Dual one = {1}, x = {p.x};
  const Dual sum = p.a + p.b;
  Fraction fraction(one);
  for (int k = 0; k < kMostTerms; ++k) {
    const Dual m = {static_cast<double>(k)};
    const Dual even = p.a + m + m;
    if (k > 0 && fraction.take(m * (p.b - m) * x / ((even - one) * even), one)) break;
    const Dual odd = Dual{0} - (p.a + m) * (sum + m) * x / (even * (even + one));
    if (fraction.take(odd, one)) break;
  }
  const Dual inverse = one / fraction.value();
  const double digamma_sum = inlay_s_digamma(sum.value);
  const double rate = p.a.slope * (p.log_x - 1 / p.a.value - inlay_s_digamma(p.a.value) + digamma_sum) +
                      p.b.slope * (p.log_y - inlay_s_digamma(p.b.value) + digamma_sum);
  return factor * (rate * inverse.value + inverse.slope);
}

/// x^a y^b / B(a, b) for large a and b, seen from its mean: a log(x) + b log(y) - log(B(a, b)) would lose the digits of
/// a.
struct FromMean {
  double mean, rest;  // of x and of y
  double beyond;      // how far x is from its mean
  double exponent;    // 0 there, less elsewhere
};

FromMean from_mean(double a, double b, double x, double y) {
  FromMean out{.mean = 1 / (1 + b / a), .rest = 1 / (1 + a / b)};
  out.beyond = x * out.rest - y * out.mean;
  out.exponent = a * boost::math::log1pmx(out.beyond / out.mean, Quiet()) +
                 b * boost::math::log1pmx(-out.beyond / out.rest, Quiet());
  return out;
}

/// x^a y^b / (a B(a, b)), by which I_x(a, b) falls from a to a + 1, for large a and b: by Stirling's formula.
double step_of_betainc(double a, double b, double x, double y) {
  const FromMean point = from_mean(a, b, x, y);
  const double correction = 1 + (1 / (a + b) - 1 / a - 1 / b) / 12;
  return std::exp(point.exponent) * correction * std::sqrt(point.rest / (2 * std::numbers::pi * a));
}

/// dI/da from differences of I over steps of 1.
double betainc_da_large(double a, double b, double x, double y) {
  return slope_from_steps([&](double away) { return step_of_betainc(a - 0.5 + away, b, x, y); });
}

double betainc_slope(Dual a, Dual b, double x) {
  if (!(a.value > 0 && b.value > 0 && x >= 0 && x <= 1)) return kNan;
  if (std::isinf(a.value) || std::isinf(b.value)) return kNan;
  if (x == 0 || x == 1) return 0;
  if (a.value >= 1e6 && b.value >= 1e6) {
    return a.slope != 0 ? betainc_da_large(a.value, b.value, x, 1 - x) : -betainc_da_large(b.value, a.value, 1 - x, x);
  }
  const BetaPoint p = {a, b, x, 1 - x, std::log(x), std::log1p(-x)};
  if (x * (a.value + b.value) <= a.value) return betainc_slope_below_mean(p);
  return -betainc_slope_below_mean({p.b, p.a, p.y, p.x, p.log_y, p.log_x});
}

/// I_x(a, b) for large a and b by Temme's uniform expansion (DLMF 8.18(ii)): a normal distribution in the signed root
/// of the exponent, and one term for the skewness. Relative to what is left out, min(a, b)^1.5 is infinite from kLarge
/// on.
/// `side` -1: of the part below x; 1: of the part above, 1 - I_x(a, b).
double betainc_large(double a, double b, double x, int side) {
  const auto [mean, rest, beyond, height] = from_mean(a, b, x, 1 - x);
  const double exponent = -height;
  const double root = std::copysign(std::sqrt(2 * std::fmax(exponent, 0)), beyond);
  const double deviations = beyond / mean * std::sqrt(a / rest);
  const double skewness =
      std::fabs(deviations) < 1e-3 ? (rest - mean) / (3 * std::sqrt(a * rest)) : 1 / root - 1 / deviations;
  const double half = 0.5 * std::erfc(side * root * std::numbers::sqrt2 / 2);
  return half - side * std::exp(-exponent) * skewness * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

constexpr double kHuge = 1e20;

/// Below this x^a (1 - x)^b is 1 to rounding, whatever x between 0 and 1 is.
constexpr double kVanishing = 1e-20;

/// Boost's way to a result next to the smallest number goes by a factor that is 0 already: eighty bits have the
/// exponents.
template <class Function>
double with_exponents(const Function& boosts, double a, double b, double x) {
  constexpr double kLeast = 1e-280;
  const double value = boosts(a, b, x);
  if (value > kLeast) return value;
  return static_cast<double>(
      boosts(static_cast<long double>(a), static_cast<long double>(b), static_cast<long double>(x)));
}

/// I_x(a, b), the part of the beta distribution below x, for `side` -1; 1 - I_x(a, b), the part above, for 1. For
/// positive finite a and b and 0 < x < 1.
double part_of_beta(double a, double b, double x, int side) {
  const auto part_of_gamma = [](double shape, double at, int its_side) {
    return its_side < 0 ? inlay_s_gammainc(shape, at) : inlay_s_gammaincc(shape, at);
  };
  if (a >= kLarge && b >= kLarge) return betainc_large(a, b, x, side);
  // A gamma distribution where only one is large (Wise 1950).
  if (b >= kHuge) return part_of_gamma(a, -(b + (a - 1) / 2) * std::log1p(-x), side);
  if (a >= kHuge) return part_of_gamma(b, -(a + (b - 1) / 2) * std::log(x), -side);
  if (a < kVanishing && b < kVanishing) return 1 / (1 + (side < 0 ? a / b : b / a));
  // Boost's products of the parameters underflow. Below x such an a leaves 1, and the result is proportional to such a
  // b; above it is the other way round.
  if ((side < 0 ? a : b) < kTiny) return 1;
  double& share = side < 0 ? b : a;
  const double times = share < kTiny ? share / 1e-280 : 1;
  if (times != 1) share = 1e-280;
  const auto boosts = [side](auto... operands) {
    return side < 0 ? boost::math::ibeta(operands..., Quiet()) : boost::math::ibetac(operands..., Quiet());
  };
  return times * with_exponents(boosts, a, b, x);
}

}  // namespace

double inlay::betaincc(double a, double b, double x) noexcept { return part_of_beta(a, b, x, 1); }

extern "C" {

double inlay_s_gammainc(double a, double x) noexcept {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return kNan;
  if (a == 0 || std::isinf(x)) return 1;
  if (x == 0 || std::isinf(a)) return 0;
  if (a < kTiny) return 1;
  if (a > kLarge) return gammainc_large(a, x, -1);
  return boost::math::gamma_p(a, x, Quiet());
}

double inlay_s_gammaincc(double a, double x) noexcept {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return kNan;
  if (a == 0 || std::isinf(x)) return 0;
  if (x == 0 || std::isinf(a)) return 1;
  if (a < kTiny) return a * boost::math::expint(1, x, Quiet());
  if (a > kLarge) return gammainc_large(a, x, 1);
  // For whole a Boost takes a sum and an exponential here, whose rounding errors make 1 less than 1.
  if (a >= 1 && x < a / 4) return 1 - boost::math::gamma_p(a, x, Quiet());
  return boost::math::gamma_q(a, x, Quiet());
}

double inlay_s_gammainc_da(double a, double x) noexcept {
  if (!(a > 0 && x >= 0) || std::isinf(a)) return kNan;
  if (x == 0 || std::isinf(x)) return 0;
  if (a >= 1e6) return gammainc_da_large(a, x);
  return x < a + 1 ? gammainc_da_series(a, x) : gammainc_da_fraction(a, x);
}

double inlay_s_betainc(double a, double b, double x) noexcept {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return kNan;
  if ((a == 0 && b == 0) || (std::isinf(a) && std::isinf(b))) return kNan;
  if (a == 0 || std::isinf(b)) return x > 0 ? 1 : 0;
  if (b == 0 || std::isinf(a)) return x < 1 ? 0 : 1;
  if (x == 0 || x == 1) return x == 1 ? 1 : 0;  // without the sign of -0.0
  return part_of_beta(a, b, x, -1);
}

double inlay_s_betainc_da(double a, double b, double x) noexcept { return betainc_slope({a, 1}, {b, 0}, x); }
double inlay_s_betainc_db(double a, double b, double x) noexcept { return betainc_slope({a, 0}, {b, 1}, x); }

}  // extern "C"
