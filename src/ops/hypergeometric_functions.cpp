// Gauss's hypergeometric function 2F1(a, b; c; z) of real operands.
//
// Its equation z (1 - z) F'' + (c - (a + b + 1) z) F' = a b F has a power series around every z between 0 and 1. The
// one around 0 is taken as far as it converges fast; from there series around points ever closer to 1 follow, each with
// the value and the slope that the one before it left. So no formula is needed that breaks down where c - a - b or a -
// b is a whole number. Negative z are taken to (0, 1) by Pfaff's transformation.
//
// Terms of both signs may cancel, and so may the two solutions that a step towards 1 is made of. So each sum comes with
// a bound of its error. Where that is too large, and for Euler's or Pfaff's other form of the same value too, all is
// done again with more bits.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "ops/quiet_boost.h"
#include "ops/scalar_functions.h"

namespace {

using inlay::Quiet;
using std::fabs;
using Long = long double;

template <unsigned kBits>
using Bits =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<kBits, boost::multiprecision::digit_base_2>,
                                  boost::multiprecision::et_off>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostBitsHelp = 300;  // a larger parameter may cancel more bits than there are
constexpr int kMostDegrees = 1000;     // of a polynomial by its recurrence
constexpr double kSeriesTo = 0.9;      // beyond it the steps towards 1 take fewer terms
constexpr double kAddsUpTo = 0.99;     // likewise, where all terms are positive and so none is lost
constexpr double kRight = 0x1p-53;     // a bound of the relative error: what is really lost is less
constexpr double kRoot = 1e-100;       // what the most bits do not tell from 0
constexpr double kUsable = 0x1p-30;    // likewise, where no more bits are to be had

template <class T>
T epsilon() {
  return std::numeric_limits<T>::epsilon();
}

/// Of all series that one form of a value takes. With more bits a term takes thirty times as long, and more.
template <class T>
constexpr int kMostTerms = 60'000;
template <>
constexpr int kMostTerms<Long> = 100'000;

template <class T>
bool is_pole(const T& x) {
  using std::floor;
  return x <= 0 && x == floor(x);
}

template <class T>
struct Parameters {
  T a = 0, b = 0, c = 0;
};

/// A value of the function, its slope there, and how far both may be off.
template <class T>
struct Sum {
  T value = 0, slope = 0, value_error = kInf, slope_error = kInf;
};

/// What a sum loses, by the sizes of the terms added: each is a product of many factors itself.
template <class T>
T rounding(const T& sum, const T& sizes) {
  return epsilon<T>() * (fabs(sum) + 8 * sizes);
}

/// Before that many terms a factor near 0 may make the terms small for a while. Where that is out of reach, they end
/// where they vanish first.
template <class T>
int terms_before_the_end(const Parameters<T>& p) {
  const T last = -std::min<T>(p.a, std::min<T>(p.b, p.c));
  return last > 0 && last < kMostTerms<T> ? static_cast<int>(last) + 1 : 0;
}

/// The series around 0. Ends by itself where a or b is a whole number up to 0.
template <class T>
Sum<T> series_around_0(const Parameters<T>& p, const T& z, int& terms_left) {
  const int at_least = terms_before_the_end(p);
  T term = 1, value = 1, slope = 0, value_sizes = 0, slope_sizes = 0;
  for (int n = 0; --terms_left > 0 && value_sizes < std::numeric_limits<T>::max(); ++n) {
    const T above = (p.a + n) * (p.b + n) * z, below = (p.c + n) * (n + 1);
    const bool falls = n > at_least && fabs(above) < fabs(below);
    if (above == 0 || (falls && fabs(n * term) <= epsilon<T>() * slope_sizes)) {
      return {value, slope / z, rounding(value, value_sizes), rounding(slope, slope_sizes) / fabs(z)};
    }
    term *= above / below;
    value += term;
    slope += (n + 1) * term;
    value_sizes += fabs(term);
    slope_sizes += (n + 1) * fabs(term);
  }
  return {};
}

/// From the point 1 - rest, where `at` is known, to 1 - rest + step: the series of the solutions that start as (1, 0)
/// and (0, 1).
template <class T>
Sum<T> step_towards_1(const Parameters<T>& p, const T& rest, const T& step, const Sum<T>& at, int& terms_left) {
  const T z = 1 - rest, scale = step / (z * rest);
  const T first = p.c - (p.a + p.b + 1) * z;
  Sum<T> total = {0, 0, 0, 0};
  for (const bool by_slope : {false, true}) {
    T older = by_slope ? 0 : 1, newer = by_slope ? 1 : 0;  // u_n t^n and u_(n + 1) t^(n + 1)
    T value = 1, slope = newer, value_sizes = 0, slope_sizes = 0;
    for (int n = 0; n == 0 || (n + 1) * (fabs(older) + fabs(newer)) >
                                  epsilon<T>() * std::min<T>(1 + value_sizes, fabs(slope) + slope_sizes);
         ++n) {
      if (--terms_left <= 0 || !(slope_sizes < std::numeric_limits<T>::max())) return {};
      const T next = ((p.a + n) * (p.b + n) * step * older - ((rest - z) * n + first) * (n + 1) * newer) * scale /
                     ((n + 1) * (n + 2));
      value += next;
      slope += (n + 2) * next;
      value_sizes += fabs(next);
      slope_sizes += (n + 2) * fabs(next);
      older = newer;
      newer = next;
    }
    const T start = by_slope ? T(at.slope * step) : at.value;
    const T start_error = by_slope ? T(at.slope_error * step) : at.value_error;
    total.value += start * value;
    total.slope += start * slope / step;
    total.value_error += start_error * fabs(value) + fabs(start) * rounding(value, value_sizes);
    total.slope_error += (start_error * fabs(slope) + fabs(start) * rounding(slope, slope_sizes)) / step;
  }
  return total;
}

/// For 0 < z < 1; `rest` is 1 - z with its own digits.
template <class T>
Sum<T> between_0_and_1(const Parameters<T>& p, const T& z, const T& rest) {
  int terms_left = kMostTerms<T>;
  if (is_pole(p.a) || is_pole(p.b)) return series_around_0(p, z, terms_left);
  const bool adds_up = p.a > 0 && p.b > 0 && p.c > 0;
  const T series_to = adds_up ? kAddsUpTo : kSeriesTo;
  Sum<T> sum = series_around_0<T>(p, std::min<T>(z, series_to), terms_left);
  for (T left = 1 - series_to; left > rest && sum.value_error < kInf;) {  // 1 - the point reached
    const T next = std::max<T>(left / 2, rest);
    sum = step_towards_1<T>(p, left, left - next, sum, terms_left);
    left = next;
  }
  return sum;
}

/// As a number of few bits, with its relative error.
struct Result {
  Long value = 0, error = kInf;
};

bool is_right(const Result& x) { return x.error <= kRight; }

/// base^power times a sum.
template <class T>
Result times_power(const T& base, const T& power, const Sum<T>& sum) {
  using std::pow;
  constexpr Result kZero = {0, 0};
  const T factor = power == 0 ? T(1) : pow(base, power);
  const T most = factor * (fabs(sum.value) + sum.value_error);
  if (most < std::numeric_limits<double>::denorm_min() / 2.0L) return kZero;
  if (!(fabs(sum.value) > sum.value_error)) {
    return std::max<T>(factor, 1) * sum.value_error < kRoot ? kZero : Result();
  }
  const T power_error = power == 0 ? T(0) : rounding<T>(0, 1 + fabs(power));
  return {static_cast<Long>(factor * sum.value), static_cast<Long>(sum.value_error / fabs(sum.value) + power_error)};
}

/// Is c - x right as a parameter of a series? Next to a whole number up to 0 its last bits are all of a factor, and
/// where they are lost the series ends there; the bound of the sum's error says nothing of that.
template <class T>
bool is_known_less(const T& c, const T& x) {
  using std::floor;
  const T difference = c - x, sum = difference + x, other = c - difference;
  if (sum == c && other == x) return true;
  const T whole = floor(difference + T(0.5));
  return whole > 0 || fabs(difference - whole) > 0.25;
}

/// The best of all forms that the value has, or the first that is right.
template <class T>
Result evaluate_in(double a, double b, double c, double z) {
  const Parameters<T> p = {a, b, c};
  const T rest = 1 - T(z);
  Result best;
  const auto is_enough = [&](const T& power, const Sum<T>& sum) {
    const Result result = times_power<T>(rest, power, sum);
    if (result.error < best.error) best = result;
    return is_right(best);
  };
  int terms_left = kMostTerms<T>;
  if (is_pole(a) || is_pole(b)) {
    if (is_enough(0, series_around_0<T>(p, z, terms_left)) || is_pole(c) || z >= 1) return best;
  }
  if (z > 0) {
    if (is_enough(0, between_0_and_1<T>(p, z, rest))) return best;
    if (is_known_less(p.c, p.a) && is_known_less(p.c, p.b)) {
      is_enough(p.c - p.a - p.b, between_0_and_1<T>({p.c - p.a, p.c - p.b, p.c}, z, rest));
    }
    return best;
  }
  const T image = -z / rest, image_rest = 1 / rest;
  if (is_known_less(p.c, p.b) && is_enough(-p.a, between_0_and_1<T>({p.a, p.c - p.b, p.c}, image, image_rest))) {
    return best;
  }
  if (is_known_less(p.c, p.a) && is_enough(-p.b, between_0_and_1<T>({p.c - p.a, p.b, p.c}, image, image_rest))) {
    return best;
  }
  if (z >= -kSeriesTo) is_enough(0, series_around_0<T>(p, z, terms_left));
  return best;
}

Result evaluate(double a, double b, double c, double z) {
  Result result = evaluate_in<Long>(a, b, c, z);
  if (std::max({fabs(a), fabs(b), fabs(c)}) > kMostBitsHelp) return result;
  if (!is_right(result)) result = evaluate_in<Bits<128>>(a, b, c, z);
  if (!is_right(result)) result = evaluate_in<Bits<256>>(a, b, c, z);
  if (!is_right(result)) result = evaluate_in<Bits<640>>(a, b, c, z);
  return result;
}

double rounded(const Result& result) { return result.error <= kUsable ? static_cast<double>(result.value) : kNan; }

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

double at_1(const Parameters<Long>& p) {
  const Long apart = p.c - p.a - p.b;
  if (std::isnan(apart)) return kNan;
  if (!(apart > 0)) return std::copysign(kInf, static_cast<double>(gamma_ratio({p.c}, {p.a, p.b})));
  return static_cast<double>(gamma_ratio({p.c, apart}, {p.c - p.a, p.c - p.b}));
}

/// Gauss's relation between neighbours by degree. Legendre's and Jacobi's polynomials of high degree, whose terms
/// cancel to nothing, lose little by it; others everything.
template <class T>
T by_degrees(const Parameters<T>& p, const T& z, int degree) {
  T older = 1, newer = 1 - p.b * z / p.c;
  for (int k = 1; k < degree; ++k) {
    const T next = ((2 * k + p.c - (p.b + k) * z) * newer + k * (z - 1) * older) / (p.c + k);
    older = newer;
    newer = next;
  }
  return newer;
}

/// The sum has an end, at any z: a or b is a whole number up to 0.
double polynomial(double a, double b, double c, double z) {
  const bool by_a = is_pole(a) && (!is_pole(b) || a >= b);
  if (!by_a) std::swap(a, b);
  if (is_pole(c) && c > a) return kInf;
  if (by_a && a == c) return static_cast<double>(std::pow(1 - static_cast<Long>(z), -b));  // as SciPy
  const Result result = evaluate(a, b, c, z);
  if (is_right(result) || -a > kMostDegrees) return rounded(result);
  const Long value = by_degrees<Long>({a, b, c}, z, static_cast<int>(-a));
  const Long control = static_cast<Long>(by_degrees<Bits<128>>({a, b, c}, z, static_cast<int>(-a)));
  return fabs(value - control) <= kUsable * fabs(control) ? static_cast<double>(control) : rounded(result);
}

}  // namespace

extern "C" {

double inlay_s_hyp2f1(double a, double b, double c, double z) noexcept {
  if (z == 0 || a == 0 || b == 0) return 1;  // as SciPy, of nan too
  if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(z)) return kNan;
  if (is_pole(a) || is_pole(b)) return polynomial(a, b, c, z);
  if (is_pole(c) || z > 1) return kInf;
  if (z == 1) return at_1({a, b, c});
  return rounded(evaluate(a, b, c, z));
}

}  // extern "C"
