#include <math.h>
#include <stdbool.h>

/* sin(pi x), for any x. */
static double sin_of_pi(double x) {
  const double rest = fmod(x, 2); /* of which fabs is less than 2, exactly */
  const double part = rest - (fabs(rest) > 1.5 ? copysign(2.0, rest) : fabs(rest) > 0.5 ? copysign(1.0, rest) : 0);
  const double sine = sin(0x1.921fb54442d18p+1 * part);
  return fabs(rest) > 0.5 && fabs(rest) <= 1.5 ? -sine : sine;
}

/* What a recurrence goes by: a function of an order, and of the next one. */
typedef struct {
  double value, next;
} of_orders;

/* K of the orders m and m + 1, |m| <= 1/2, for x < 1 (Temme, 1975). The two sums are of 1 / gamma(1 + m), its even and
   its odd part (DLMF 5.7.1). */
static of_orders bessel_k_by_series(double m, double x) {
  static const double even[] = {0x1.0000000000000p+0,   -0x1.4fcf4026afa2ep-1,  0x1.5512320b43fbep-3,
                                -0x1.3b4af28483e21p-7,  -0x1.317112ce3a2a8p-10, 0x1.0c8a78cd9f9d2p-13,
                                -0x1.4fad41fc34fbbp-20, -0x1.b9986666c225dp-23, 0x1.57bc3fc384334p-28,
                                0x1.cae7675c18607p-34,  -0x1.0423bac8ca3fbp-38};
  static const double odd[] = {0x1.2788cfc6fb619p-1,  -0x1.5815e8fa27048p-5,  -0x1.59af103c34092p-5,
                               0x1.d919c527f60b2p-8,  -0x1.c364fe6f1563dp-13, -0x1.51ce8af47eabep-16,
                               0x1.302509dbc0de3p-20, 0x1.a44b7ba22d629p-28,  -0x1.44b4cedca388fp-30,
                               0x1.11d065bfaf067p-37, 0x1.1f20151323cd0p-41};
  double e = 0, o = 0;
  for (int k = 10; k >= 0; --k) {
    e = e * (m * m) + even[k];
    o = o * (m * m) + odd[k];
  }
  const double above = 1 / (e + m * o), below = 1 / (e - m * o);
  const double log_2_x = 0x1.62e42fefa39efp-1 - log(x), s = m * log_2_x;
  double p = 0.5 * exp2(m) * pow(x, -m) * above, q = 0.5 * exp2(-m) * pow(x, m) * below;
  const double slope = fabs(s) < 1e-9 ? log_2_x : sinh(s) / m;
  double f = fabs(s) > 1 ? (p - q) / m : above * below * (slope * e - cosh(s) * o); /* the same, if nothing cancels */
  double factor = 1, value = f, next = p;
  for (int k = 1; k < 20; ++k) {
    f = (k * f + p + q) / (k * k - m * m);
    p /= k - m;
    q /= k + m;
    factor *= 0.25 * x * x / k;
    value += factor * f;
    next += factor * (p - k * f);
  }
  return (of_orders){value, 2 * next / x};
}

/* e^x K likewise for x >= 1: the integral of exp(-x (cosh t - 1)) cosh(m t) over t > 0 (DLMF 10.32.9) by the
   trapezoidal rule, whose error falls by an exponential of 1 / step (DLMF 3.5(i)). All terms are positive. */
static of_orders bessel_k_by_integral(double m, double x) {
  const double step = fmin(0.2, 0.7 / sqrt(x));
  of_orders sum = {0.5, 0.5};
  for (int k = 1; k < 200; ++k) {
    const double t = k * step, half = sinh(0.5 * t), exponent = -2 * x * half * half;
    if (exponent + 1.5 * t < -45) break;
    const double e = exp(exponent);
    sum.value += e * cosh(m * t);
    sum.next += e * cosh((m + 1) * t);
  }
  return (of_orders){step * sum.value, step * sum.next};
}

/* 2^-60 e^x K of the orders v and v + 1, v >= 0, by the recurrence from an order next to 0, by which K grows (DLMF
   10.29.1). */
static of_orders scaled_bessel_k(double v, double x) {
  const double steps = floor(v + 0.5), m = v - steps;
  of_orders k = x < 1 ? bessel_k_by_series(m, x) : bessel_k_by_integral(m, x);
  const double scale = 0x1p-60 * (x < 1 ? exp(x) : 1);
  k.value *= scale;
  k.next *= scale;
  for (double i = 1; i <= steps; i += 1) {
    const double after = k.value + (x < 1 ? 2 * (m + i) * k.next / x : 2 * (m + i) / x * k.next);
    k.value = k.next;
    k.next = after;
  }
  return k;
}

/* Debye's expansions (DLMF 10.41, 10.19.6) in 1 / root, root^2 = x^2 + v^2 for I and K, x^2 - v^2 for J and Y: the sums
   of the even and of the odd terms. `ratio` is (v / root)^2, and `sign` 1; for J and Y both are negative. */
typedef struct {
  double even, odd;
} debye;

static debye debye_sums(double ratio, double root, double sign) {
  const double q = ratio, t = 1 / root, square = sign * t * t;
  const double u1 = (3 - 5 * q) / 24, u2 = (81 + q * (-462 + q * 385)) / 1152;
  const double u3 = (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720;
  const double u4 = (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + q * 185910725)))) / 39813120;
  const double u5 =
      (1519035525 +
       q * (-49286948607 + q * (284499769554 + q * (-614135872350 + q * (566098157625 - q * 188699385875))))) /
      6688604160;
  return (debye){1 + square * (u2 + square * u4), t * (u1 + square * (u3 + square * u5))};
}

/* The exponent of e^-x I(x) where an operand is large. */
static inline double debye_exponent(double v, double x) { return v * (v / (hypot(v, x) + x)) - v * asinh(v / x); }

static inline bool is_large_for_bessel(double v, double x) { return hypot(v, x) >= 500; }

/* e^x K(x) for v >= 0, x > 0. */
static double bessel_ke(double v, double x) {
  if (isinf(x)) return 0;
  if (!is_large_for_bessel(v, x)) return scaled_bessel_k(v, x).value * 0x1p+60;
  const double root = hypot(v, x);
  const debye of = debye_sums((v / root) * (v / root), root, 1);
  return exp(-debye_exponent(v, x)) * sqrt(0x1.921fb54442d18p+0 / root) * (of.even - of.odd);
}

/* I of the order v + 1 over that of v: a fraction of positive terms (DLMF 10.33.1), from the front. */
static double ratio_of_bessel_i(double v, double x) {
  double c = 2 * (v + 1) / x, d = 0, value = c, change = 0;
  for (int k = 2; k < 2000 && fabs(change - 1) > 0x1p-53; ++k) {
    const double below = 2 * (v + k) / x;
    d = 1 / (below + d);
    c = below + 1 / c;
    change = c * d;
    value *= change;
  }
  return 1 / value;
}

/* (x / 2)^v / gamma(v + 1), with which the series of I and J begin (DLMF 10.2.2, 10.25.2). */
static double first_of_bessel(double v, double x) {
  const double power = x < 1e-300 ? pow(x, v) * exp2(-v) : pow(0.5 * x, v);
  if (v < -1) return tgamma(-v) * sin_of_pi(-v) * 0x1.45f306dc9c883p-2 * power;
  if (v >= 170) return step_of_gamma(v, 0.5 * x) * exp(0.5 * x);
  return v < 1 ? power / tgamma(v + 1) : power / (v * tgamma(v)); /* v + 1 may be rounded */
}

/* e^-x I(x) likewise: next to 0 its series, which has positive terms, else by K (DLMF 10.28.2). */
static double bessel_ie(double v, double x) {
  if (isinf(x)) return 0;
  if (is_large_for_bessel(v, x)) {
    const double root = hypot(v, x);
    const debye of = debye_sums((v / root) * (v / root), root, 1);
    return exp(debye_exponent(v, x)) * 0x1.9884533d43651p-2 / sqrt(root) * (of.even + of.odd);
  }
  if (x < 2 && v < 160) {
    double term = 1, sum = 1;
    for (int k = 1; k < 30 && term > 0x1p-60; ++k) {
      term *= 0.25 * x * x / (k * (k + v));
      sum += term;
    }
    return exp(-x) * first_of_bessel(v, x) * sum;
  }
  const of_orders k = scaled_bessel_k(v, x);
  return 0x1p-60 / (x * (k.next + ratio_of_bessel_i(v, x) * k.value));
}

static double inlay_s_kve(double v, double x) {
  if (isnan(v) || isnan(x) || x < 0) return NAN;
  if (x == 0) return INFINITY;
  return isinf(v) ? NAN : bessel_ke(fabs(v), x);
}

/* e^-|x| I(x) */
static double inlay_s_ive(double v, double x) {
  const bool is_whole = v == floor(v);
  if (isnan(v) || isnan(x) || isinf(v)) return NAN;
  if (!is_whole && (x < 0 || (x == 0 && v < 0))) return NAN;
  const double order = fabs(v), size = fabs(x);
  if (size == 0) return order == 0 ? 1 : 0;
  const double value = bessel_ie(order, size);
  if (is_whole) return x < 0 && fmod(v, 2) != 0 ? -value : value;
  if (v > 0) return value;
  return value + 0x1.45f306dc9c883p-1 * sin_of_pi(order) * exp(-2 * size) * bessel_ke(order, size); /* DLMF 10.27.2 */
}
