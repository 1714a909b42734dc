#include <math.h>
#include <stdbool.h>

/* The regularized incomplete gamma functions P and Q and the derivative of P by a. Where C is alone they stand for
   those of Boost. */

/* l - log(1 + l), where 1 + l is `ratio` rounded less. */
static inline double without_log1p(double l, double ratio) {
  if (l < -0.4 || l > 0.6) return l - log(ratio);
  const double r = l / (2 + l), square = r * r; /* log(1 + l) is 2 atanh(r) */
  double sum = 0;
  for (int k = 29; k >= 3; k -= 2) sum = sum * square + 1.0 / k;
  return r * (l - 2 * square * sum);
}

/* x^a e^-x / gamma(a + 1), by which P(a, x) falls from a to a + 1; from 10 on by Stirling's formula, seen from the
   mean: a log(x) would lose the digits of a. */
static double step_of_gamma(double a, double x) {
  if (a < 10) {
    const double half = exp(-0.5 * x);
    return half == 0 ? 0 : pow(x, a) * half / tgamma(a + 1) * half;
  }
  return exp(-a * without_log1p((x - a) / a, x / a) - stirling_rest(a)) / sqrt(0x1.921fb54442d18p+2 * a);
}

/* log gamma(1 + a), 0 <= a <= 1/2: a series with zeta(k) - 1. */
static double log_gamma_of_one_and(double a) {
  static const double terms[] = {
      0x1.4a34cc4a60fa6p-2,  -0x1.13e001a557607p-4,  0x1.51322ac7d8483p-6,  -0x1.e404fc218f5f2p-8,
      0x1.7add6eadb6c30p-9,  -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11, -0x1.d3fd4c76d2fc8p-13,
      0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16, -0x1.3cbc963ce2243p-17,
      0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19, 0x1.0064cdeb22f0fp-20, -0x1.e2600d93cfd2fp-22,
      0x1.c76bbb3f07a4dp-23, -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25, -0x1.862c734df3eacp-26,
      0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29, -0x1.47b1679258d0ep-30,
      0x1.3b15d2b2fc10cp-31, -0x1.2f69a9fabe3e0p-32};
  double sum = 0;
  for (int k = (int)(sizeof terms / sizeof terms[0]) - 1; k >= 0; --k) sum = sum * a + terms[k];
  return a * (0x1.b0ee6072093cep-2 + a * sum) - log1p(a);
}

/* Q for a <= 1/2 and x < 1, where 1 - P has no digits for small a. */
static double gammaincc_of_small(double a, double x) {
  const double log_power = a * log(x) - log_gamma_of_one_and(a);
  double term = 1, sum = 0;
  for (int k = 1; k < 30; ++k) {
    term *= -x / k;
    sum += term / (a + k);
  }
  return -expm1(log_power) - a * exp(log_power) * sum;
}

/* Temme's uniform expansion about x = a (1979), its coefficients by the recurrence backwards from a high one (Gil,
   Segura and Temme, 2012). `upper`: Q. */
static double gammainc_near_mean(double a, double x, bool upper) {
  static const double terms[] = {
      /* of eta / (x / a - 1), eta^2 / 2 = x / a - 1 - log(x / a) */
      0x1.0000000000000p+0,   -0x1.5555555555555p-2,  0x1.5555555555555p-4,   -0x1.e573ac901e574p-7,
      0x1.2f684bda12f68p-10,  0x1.71de3a556c734p-12,  -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15,
      -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21,  -0x1.7b5f9a2d0465cp-23,
      0x1.ccf5ceb7f0d9fp-28,  0x1.6097d55c37c1cp-27,  -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31,
      -0x1.c0d9b6edf2b0bp-36, -0x1.0070a87340428p-34, 0x1.ac9475c463659p-36,  -0x1.61ca701fd754ap-38,
      0x1.ef98008f5eec2p-44,  0x1.7ba0759769d7cp-42,  -0x1.3989bebb193c0p-43, 0x1.0104fc4369a3cp-45,
      -0x1.283fe7950ad7bp-51, -0x1.1ca914d71a27cp-49, 0x1.d2e7d5ca48b90p-51};
  const double exponent = a * without_log1p((x - a) / a, x / a), eta = copysign(sqrt(2 * exponent / a), x - a);
  double after_next = 0, next = 0, sum = 0;
  for (int n = (int)(sizeof terms / sizeof terms[0]) - 1; n >= 1; --n) {
    const double coefficient = terms[n] + (n + 1) * after_next / a;
    sum = sum * eta + coefficient;
    after_next = next;
    next = coefficient;
  }
  sum /= (1 + after_next / a) * sqrt(0x1.921fb54442d18p+2 * a);
  const bool is_above = x > a;
  const double part = exp(-exponent) * (0.5 * erfcx_f64(sqrt(exponent)) + (is_above ? sum : -sum));
  return is_above == upper ? part : 1 - part;
}

/* P = x^a e^-x / gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...) */
static double gammainc_by_series(double a, double x) {
  const double factor = step_of_gamma(a, x);
  double term = 1, sum = 1;
  for (int k = 1; k < 10000 && term > 0x1p-54 * sum; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return factor * sum;
}

/* Q = x^a e^-x / gamma(a) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), from the front (Lentz, 1976). */
static double gammaincc_by_fraction(double a, double x) {
  const double factor = a * step_of_gamma(a, x);
  double value = x + 1 - a, c = value, d = 0, change = 0;
  for (int k = 1; k < 10000 && fabs(change - 1) > 0x1p-53; ++k) {
    const double above = k * (a - k), below = x + 1 - a + 2 * k;
    d = 1 / (below + above * d);
    c = below + above / c;
    change = c * d;
    value *= change;
  }
  return factor / value;
}

static double part_of_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return NAN;
  if (a == 0 || isinf(x)) return !upper;
  if (x == 0 || isinf(a)) return upper;
  if (a >= 20 && x > 0.4 * a && x < 2.3 * a) return gammainc_near_mean(a, x, upper);
  if (upper && a <= 0.5 && x < 1) return gammaincc_of_small(a, x);
  if (x < a || x < 1) {
    const double below = gammainc_by_series(a, x);
    return upper ? 1 - below : below;
  }
  const double above = gammaincc_by_fraction(a, x);
  return upper ? above : 1 - above;
}

static double inlay_s_gammainc(double a, double x) { return part_of_gamma(a, x, false); }

static double inlay_s_gammaincc(double a, double x) { return part_of_gamma(a, x, true); }

/* dP/da by the series of P, each term with its derivative. */
static double gammainc_da_by_series(double a, double x) {
  const double factor = step_of_gamma(a, x);
  double term = 1, slope = 0, sum = 1, sum_slope = 0;
  if (factor == 0) return 0;
  for (int k = 1; k < 200000; ++k) {
    const double ratio = x / (a + k);
    slope = slope * ratio - term * ratio / (a + k);
    term *= ratio;
    sum += term;
    sum_slope += slope;
    if (!(term > 0x1p-52 * sum) && !(fabs(slope) > 0x1p-52 * fabs(sum_slope))) break;
  }
  return factor * ((log(x) - math_digamma_of_positive(a + 1)) * sum + sum_slope);
}

/* dP/da by the fraction of Q, whose c, d and value carry their derivatives. */
static double gammainc_da_by_fraction(double a, double x) {
  const double factor = a * step_of_gamma(a, x);
  double value = x + 1 - a, rate = -1 / value, c = value, c_slope = -1, d = 0, d_slope = 0;
  if (factor == 0) return 0;
  for (int k = 1; k < 200000; ++k) {
    const double above = k * (a - k), below = x + 1 - a + 2 * k;
    const double next_d = 1 / (below + above * d);
    d_slope = -next_d * next_d * (k * d + above * d_slope - 1);
    d = next_d;
    c_slope = k / c - above / (c * c) * c_slope - 1;
    c = below + above / c;
    const double change = c_slope / c + d_slope / d; /* rate: of the logarithm of the value */
    value *= c * d;
    rate += change;
    if (fabs(c * d - 1) <= 0x1p-52 && !(fabs(change) > 0x1p-52 * fabs(rate))) break;
  }
  return -factor * (log(x) - math_digamma_of_positive(a) - rate) / value;
}

/* The slope of a function that falls by steps of 1 about a point, from five of them, the middle one last. */
static inline double slope_from_steps(double before_last, double last, double next, double after_next, double step) {
  const double second = next - 2 * step + last, fourth = after_next - 4 * next + 6 * step - 4 * last + before_last;
  return -(step - second / 24 + 3 * fourth / 640);
}

static double inlay_s_gammainc_da(double a, double x) {
  if (!(a > 0 && x >= 0) || isinf(a)) return NAN;
  if (x == 0 || isinf(x)) return 0;
  if (a >= 1e6) {
    const double m = a - 0.5;
    return slope_from_steps(step_of_gamma(m - 2, x), step_of_gamma(m - 1, x), step_of_gamma(m + 1, x),
                            step_of_gamma(m + 2, x), step_of_gamma(m, x));
  }
  return x < a + 1 ? gammainc_da_by_series(a, x) : gammainc_da_by_fraction(a, x);
}
