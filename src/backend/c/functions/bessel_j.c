#include <math.h>
#include <stdbool.h>

/* Hankel's expansions for the order 0 or 1 (DLMF 10.17.3): sqrt(2 / (pi x)) (p cos - q sin) of the phase. */
static double bessel_j_of_large(int order, double x) {
  const double mu = 4.0 * order * order;
  double term = 1, p = 1, q = 0;
  for (int k = 1; k < 30; ++k) {
    const double next = term * (mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k) / x;
    if (!(fabs(next) > 0x1p-60)) break;
    term = next;
    if (k % 2 != 0) q += k % 4 == 1 ? term : -term;
    if (k % 2 == 0) p += k % 4 == 0 ? term : -term;
  }
  const double s = sin(x), c = cos(x); /* of the phases x - pi/4 and x - 3 pi/4, times the root of 2 */
  const double wave = order == 0 ? p * (c + s) - q * (s - c) : p * (s - c) + q * (s + c);
  return 0x1.20dd750429b6dp-1 / sqrt(x) * wave;
}

/* 0 <= x < 25. From 2 on by the recurrence backwards (Miller): J0 + 2 J2 + 2 J4 + ... is 1. */
static double bessel_j_of_small(int order, double x) {
  if (x < 2) {
    const double square = -0.25 * x * x;
    double term = order == 0 ? 1 : 0.5 * x, sum = term;
    for (int k = 1; k < 20; ++k) {
      term *= square / (k * (k + order));
      sum += term;
    }
    return sum;
  }
  double after = 0, value = 1e-300, all = 0, first = 0;
  for (int n = 2 * (int)(0.5 * x) + 40; n > 0; --n) {
    const double before = 2 * n / x * value - after; /* of order n - 1 */
    after = value;
    value = before;
    if (n == 2) first = value;
    if (n % 2 != 0) all += n == 1 ? value : 2 * value;
  }
  return (order == 0 ? value : first) / all;
}

static double bessel_j(int order, double x) {
  if (!(x < INFINITY)) return isnan(x) ? x : 0;
  return x < 25 ? bessel_j_of_small(order, x) : bessel_j_of_large(order, x);
}

static double inlay_s_j0(double x) { return bessel_j(0, fabs(x)); }

static double inlay_s_j1(double x) { return x < 0 ? -bessel_j(1, -x) : x == 0 ? x : bessel_j(1, x); }

/* J and Y of one order. */
typedef struct {
  double j, y;
} of_kinds;

/* sqrt(2 / (pi root)) (p cos - q sin) and (p sin + q cos) of the phase x - v pi / 2 - pi / 4 + turn. */
static of_kinds bessel_wave(double v, double x, double root, double p, double q, long double turn) {
  const double cosine = sin_of_pi(0.5 - 0.5 * fmod(v, 4)), sine = sin_of_pi(0.5 * fmod(v, 4));
  const double c = cos(x) * cosine + sin(x) * sine, s = sin(x) * cosine - cos(x) * sine;
  const double here = c + s, there = s - c; /* of the phase without the turn, times the root of 2 */
  const double a = (double)cosl(turn), b = (double)sinl(turn), size = 0x1.20dd750429b6dp-1 / sqrt(root);
  const double of_cosine = here * a - there * b, of_sine = there * a + here * b;
  return (of_kinds){size * (p * of_cosine - q * of_sine), size * (p * of_sine + q * of_cosine)};
}

/* Hankel's expansions (DLMF 10.17.3), for x >= 25 and x >= v^2 / 2. */
static of_kinds bessel_jy_of_large(double v, double x) {
  double term = 1, p = 1, q = 0;
  for (int k = 1; k < 50; ++k) {
    const double odd = 2.0 * k - 1, next = term * (2 * v - odd) / (8.0 * k) * ((2 * v + odd) / x);
    if (!(fabs(next) > 0x1p-60)) break;
    term = next;
    if (k % 2 != 0) q += k % 4 == 1 ? term : -term;
    if (k % 2 == 0) p += k % 4 == 0 ? term : -term;
  }
  return bessel_wave(v, x, x, p, q, 0);
}

/* Debye's, for x > v and a large root; in long double, as the turn may be as large as v. */
static of_kinds bessel_jy_by_debye(double v, double x) {
  const long double root = sqrtl((long double)x - v) * sqrtl((long double)x + v);
  const long double turn = v * asinl(v / (long double)x) - v * (v / (root + x));
  const debye of = debye_sums((double)(-(v / root) * (v / root)), (double)root, -1);
  return bessel_wave(v, x, (double)root, of.even, -of.odd, turn);
}

/* H' / H of the order m for H = J + i Y (DLMF 10.17.2 by its continued fraction; Temme, 1976): p + i q. */
static of_kinds rate_of_hankel(double m, double x) {
  /* 2 (x + i) + a2 / (2 (x + 2 i) + a3 / ...) from the front, with complex c and d. */
  double value = 2 * x, value_i = 2, c = value, c_i = value_i, d = 0, d_i = 0;
  for (int k = 2; k < 1000000; ++k) {
    const double a = (k - 0.5 - m) * (k - 0.5 + m), of_c = a / (c * c + c_i * c_i);
    c = 2 * x + of_c * c;
    c_i = 2.0 * k - of_c * c_i;
    d = 2 * x + a * d;
    d_i = 2.0 * k + a * d_i;
    const double of_d = 1 / (d * d + d_i * d_i);
    d *= of_d;
    d_i *= -of_d;
    const double change = c * d - c_i * d_i, change_i = c * d_i + c_i * d, before = value;
    value = before * change - value_i * change_i;
    value_i = before * change_i + value_i * change;
    if (fabs(change - 1) + fabs(change_i) <= 0x1p-52) break;
  }
  const double first = (0.5 - m) * (0.5 + m) / (value * value + value_i * value_i) / x;
  return (of_kinds){-0.5 / x + first * value_i, 1 + first * value};
}

/* For v >= 0, x >= 2: J of v + 1 over that of v by a fraction (DLMF 10.33.1), down by the recurrence to an order next
   to x, there the two scaled by their Wronskian (DLMF 10.5.2), and Y up again (Steed's method). */
static of_kinds bessel_jy_by_fractions(double v, double x) {
  double c = 2 * (v + 1) / x, d = 0, ratio = c, change = 0, j = 0x1p-1000;
  for (int k = 2; k < 10000000 && fabs(change - 1) > 0x1p-53; ++k) {
    const double below = 2 * (v + k) / x;
    d = 1 / away_from_zero(below - d);
    c = away_from_zero(below - 1 / c);
    change = c * d;
    ratio *= change;
    if (c < 0) j = -j; /* far beyond x all J are positive */
  }
  const double start = j, steps = v > x ? floor(v - x + 1.5) : 0, m = v - steps;
  double above = j / ratio, before = 0;
  for (double i = 0; i < steps; i += 1) {
    before = 2 * (v - i) / x * j - above;
    above = j;
    j = before;
  }
  j = away_from_zero(j);
  const of_kinds rate = rate_of_hankel(m, x);
  const double f = m / x - above / j, g = (rate.j - f) / rate.y;
  const double of_m = copysign(sqrt(0x1.45f306dc9c883p-1 / x / (rate.y + g * (rate.j - f))), j);
  double y = of_m * g, y_above = m / x * y - of_m * (g * rate.j + rate.y);
  for (double i = 1; i <= steps && y > -INFINITY; i += 1) {
    const double after = 2 * (m + i) / x * y_above - y;
    y = y_above;
    y_above = after;
  }
  return (of_kinds){of_m * (start / j), y};
}

static of_kinds bessel_jy(double v, double x) {
  if (x >= 25 && x >= 0.5 * v * v) return bessel_jy_of_large(v, x);
  const double beyond = v - x, root = beyond < 0 ? sqrt(x - v) * sqrt(x + v) : 0;
  if (v / root * (v / root) / root + 1 / root < 1.0 / 1500) return bessel_jy_by_debye(v, x);
  /* An exponential, of this at least in size: less than any number (DLMF 10.19.3). */
  if (beyond > 0 && 0.9 * beyond * sqrt(beyond / v) > 760) return (of_kinds){0, -INFINITY};
  return bessel_jy_by_fractions(v, x);
}

/* By its series; of a negative order too. */
static double bessel_j_by_series(double v, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 400 && (fabs(term) > 0x1p-60 * fabs(sum) || k <= -v); ++k) {
    term *= -0.25 * x * x / (k * (k + v));
    sum += term;
  }
  return first_of_bessel(v, x) * sum;
}

static double inlay_s_jv(double v, double x) {
  const bool is_whole = v == floor(v);
  if (isnan(v) || isnan(x) || (x < 0 && !is_whole)) return NAN;
  const double order = fabs(v), size = fabs(x), sign = is_whole && fmod(v, 2) != 0 && (x < 0) != (v < 0) ? -1 : 1;
  if (isinf(order)) return isinf(size) ? NAN : 0;
  if (isinf(size)) return 0;
  if (size == 0) return order == 0 ? 1 : v > 0 || is_whole ? sign * 0.0 : INFINITY;
  if (order > 1e9) return order > 1.01 * size && (v > 0 || is_whole) ? sign * 0.0 : NAN;
  if (v > 0 || is_whole) {
    if (size < 2 || (order < 170 && size * size < 4 * (order + 1))) return sign * bessel_j_by_series(order, size);
    return sign * bessel_jy(order, size).j;
  }
  if (size < 2) return bessel_j_by_series(v, size);
  const of_kinds of = bessel_jy(order, size); /* DLMF 10.4.7 */
  return sin_of_pi(0.5 - fmod(order, 2)) * of.j - sin_of_pi(order) * of.y;
}
