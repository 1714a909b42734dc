#include <math.h>
#include <stdbool.h>

/* The regularized incomplete beta function and its derivatives by a and b. */

/* How far x is from the mean a / (a + b) of a beta distribution, and how much x^a y^b is less there: an exponent. */
typedef struct {
  double mean, rest, beyond, exponent;
} from_mean;

static from_mean seen_from_mean(double a, double b, double x, double y) {
  from_mean p = {1 / (1 + b / a), 1 / (1 + a / b), 0, 0};
  p.beyond = x * p.rest - y * p.mean;
  p.exponent = a * without_log1p(p.beyond / p.mean, x / p.mean) + b * without_log1p(-p.beyond / p.rest, y / p.rest);
  return p;
}

/* The logarithm of x, where y = 1 - x and the smaller of them is exact. */
static inline double log_of_part(double x, double y) { return x > 0.5 ? log1p(-y) : log(x); }

static inline double power_of_part(double x, double y, double a) { return x > 0.5 ? exp(a * log1p(-y)) : pow(x, a); }

/* log_gamma_quotient(a, b) without -a log(a + b). */
static inline double rest_of_quotient(double a, double b) {
  return (b - 0.5) * log1p(-a / (a + b)) + a + (stirling_rest(b) - stirling_rest(a + b));
}

/* x^a y^b / (a B(a, b)), by which I_x(a, b) falls from a to a + 1. By Stirling's formula for large parameters. */
static double step_of_beta(double a, double b, double x, double y) {
  if (a >= 10 && b >= 10) {
    const from_mean p = seen_from_mean(a, b, x, y);
    const double rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return exp(-p.exponent - rest) * sqrt(p.rest / (0x1.921fb54442d18p+2 * a));
  }
  if (a + b < 100) {
    return power_of_part(x, y, a) * (tgamma(a + b) / tgamma(a + 1)) * power_of_part(y, x, b) / tgamma(b);
  }
  const double less = a < b ? a : b, more = a < b ? b : a, part = a < b ? x : y, other = a < b ? y : x;
  const double product =
      pow(part * (a + b), less) * exp(more * log_of_part(other, part) - rest_of_quotient(less, more));
  return product / (a < b ? tgamma(a + 1) : tgamma(b) * a);
}

/* A continued fraction 1 + a1 / (1 + a2 / (1 + ...)) from the front (Lentz, Thompson and Barnett, 1986), with the
   derivatives of c and d, and that of the logarithm of the value. */
typedef struct {
  double value, rate, c, c_slope, d, d_slope;
} lentz;

static inline double away_from_zero(double x) { return x == 0 ? 1e-300 : x; }

/* Takes one term more; true when the value no longer moves. */
static inline bool take_term(lentz* of, double a, double a_slope) {
  const double d = 1 / away_from_zero(1 + a * of->d);
  of->d_slope = -d * d * (a_slope * of->d + a * of->d_slope);
  of->d = d;
  of->c_slope = (a_slope - a / of->c * of->c_slope) / of->c;
  of->c = away_from_zero(1 + a / of->c);
  const double change = of->c_slope / of->c + of->d_slope / of->d;
  of->value *= of->c * of->d;
  of->rate += change;
  return !(fabs(of->c * of->d - 1) > 0x1p-53) && !(fabs(change) > 0x1p-52 * fabs(of->rate));
}

/* x^a y^b / (a B(a, b)) / I_x(a, b) (DLMF 8.17.22), and its rate by a (1, 0) or by b (0, 1). */
static lentz fraction_of_beta(double a, double b, double x, double by_a, double by_b) {
  lentz of = {1, 0, 1, 0, 0, 0};
  for (int m = 0; m < 200000; ++m) {
    const double at = a + 2.0 * m, even = m * (b - m) * x / ((at - 1) * at);
    if (m > 0 && take_term(&of, even, by_a * even * (-1 / (at - 1) - 1 / at) + by_b * m * x / ((at - 1) * at))) break;
    const double odd = -(a + m) * (a + b + m) * x / (at * (at + 1));
    const double odd_rate = by_a * (1 / (a + m) - 1 / at - 1 / (at + 1)) + (by_a + by_b) / (a + b + m);
    if (take_term(&of, odd, odd * odd_rate)) break;
  }
  return of;
}

/* I_x(a, b) for large a and b by Temme's uniform expansion (DLMF 8.18(ii)): a normal distribution in the signed root of
   the exponent, and one term for the skewness. */
static double betainc_of_large(double a, double b, double x, double y) {
  const from_mean p = seen_from_mean(a, b, x, y);
  const double exponent = fmax(p.exponent, 0), root = copysign(sqrt(2 * exponent), p.beyond);
  const double deviations = p.beyond / p.mean * sqrt(a / p.rest);
  const double skewness =
      fabs(deviations) < 1e-3 ? (p.rest - p.mean) / (3 * sqrt(a * p.rest)) : 1 / root - 1 / deviations;
  return 0.5 * erfc(-root * 0x1.6a09e667f3bcdp-1) + exp(-exponent) * skewness * 0x1.9884533d43651p-2;
}

/* By the even part of the fraction above, in which nothing cancels where a is much larger than b. */
static double betainc_by_fraction(double a, double b, double x, double y) {
  const double factor = step_of_beta(a, b, x, y), first = a * y - b * x + 1;
  if (factor == 0) return 0;
  double value = first / (a + 1), c = value, d = 0, change = 0;
  for (int m = 1; m < 50000 && fabs(change - 1) > 0x1p-53; ++m) {
    const double at = a + 2.0 * m - 1, front = m > 1 ? a + m - 1 : 1;
    const double above = front / at * ((a + b + m - 1) / at * x) * m * x * (b - m);
    const double below = m + m * (b - m) * x / at + (a + m) / (at + 2) * (first + m * (1 + y));
    d = 1 / away_from_zero(below + above * d);
    c = away_from_zero(below + above / c);
    change = c * d;
    value *= change;
  }
  return factor / value;
}

/* The fraction is slow where x is near 1; from the other side, y is as small then as this says. */
static inline bool is_small_part(double b, double x) { return x <= 0.5 && b * x <= 0.7; }

/* a times the sum of (1 - b) (2 - b) ... (k - b) x^k / (k! (a + k)) over k = 1, 2, ... (DLMF 8.17.7) */
static double rest_of_beta_series(double a, double b, double x) {
  double term = 1, sum = 0;
  for (int k = 1; k < 100 && fabs(term) > 0x1p-60; ++k) {
    term *= (k - b) / k * x;
    sum += term / (a + k);
  }
  return a * sum;
}

static double betainc_by_series(double a, double b, double x, double y) {
  return step_of_beta(a, b, x, y) * power_of_part(y, x, -b) * (1 + rest_of_beta_series(a, b, x));
}

/* 1 - I_x(a, b) for a < 0.1, which may be near 0. The logarithm of gamma(a + b) / gamma(b) is an integral of digamma,
   by Gauss's rule of five points, from 3 on. */
static double betaincc_of_small(double a, double b, double x) {
  static const double points[] = {0x1.cff6ce0533a69p-1, 0x1.13b23fd99b705p-1, 0, -0x1.13b23fd99b705p-1,
                                  -0x1.cff6ce0533a69p-1};
  static const double weights[] = {0x1.e539ec36e038cp-4, 0x1.ea1da25ae415bp-3, 0x1.23456789abcdfp-2,
                                   0x1.ea1da25ae415bp-3, 0x1.e539ec36e038cp-4};
  double mean = 0;
  for (int k = 0; k < 5; ++k) mean += weights[k] * math_digamma_of_positive(b + 3 + 0.5 * a * (1 + points[k]));
  const double of_gamma = a * mean - log1p(a / b) - log1p(a / (b + 1)) - log1p(a / (b + 2));
  const double log_factor = a * log(x) + of_gamma - log_gamma_of_one_and(a);
  return -expm1(log_factor) - exp(log_factor) * rest_of_beta_series(a, b, x);
}

/* I_x(a, b) for y = 1 - x, of which the smaller one is exact: from the side where the series or the fraction converges
   fast. */
static double part_of_beta(double a, double b, double x, double y) {
  if (a >= 1e7 && b >= 1e7) return betainc_of_large(a, b, x, y);
  /* A gamma distribution where only one is large (Wise, 1950). */
  if (b >= 1e20 || (b >= 1e10 && a < 10)) return part_of_gamma(a, -(b + (a - 1) / 2) * log_of_part(y, x), false);
  if (a >= 1e20 || (a >= 1e10 && b < 10)) return part_of_gamma(b, -(a + (b - 1) / 2) * log_of_part(x, y), true);
  if (a < 1e-20 && b < 1e-20) return 1 / (1 + a / b);
  if (is_small_part(b, x)) return betainc_by_series(a, b, x, y);
  if (is_small_part(a, y)) return b < 0.1 ? betaincc_of_small(b, a, y) : 1 - betainc_by_series(b, a, y, x);
  return x * (a + b) <= a ? betainc_by_fraction(a, b, x, y) : 1 - betainc_by_fraction(b, a, y, x);
}

static double inlay_s_betainc(double a, double b, double x) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return NAN;
  if ((a == 0 && b == 0) || (isinf(a) && isinf(b))) return NAN;
  if (a == 0 || isinf(b)) return x > 0;
  if (b == 0 || isinf(a)) return !(x < 1);
  if (x == 0 || x == 1) return x == 1;
  return part_of_beta(a, b, x, 1 - x);
}

/* For x up to the mean. */
static double slope_of_beta(double a, double b, double x, double y, double by_a, double by_b) {
  const double factor = step_of_beta(a, b, x, y), of_sum = math_digamma_of_positive(a + b);
  if (factor == 0) return 0;
  const lentz of = fraction_of_beta(a, b, x, by_a, by_b);
  const double rate_a = log_of_part(x, y) - 1 / a - math_digamma_of_positive(a) + of_sum;
  const double rate_b = log_of_part(y, x) - math_digamma_of_positive(b) + of_sum;
  return factor / of.value * (by_a * rate_a + by_b * rate_b - of.rate);
}

/* By a where b is as large. */
static double slope_of_large_beta(double a, double b, double x, double y) {
  const double m = a - 0.5;
  return slope_from_steps(step_of_beta(m - 2, b, x, y), step_of_beta(m - 1, b, x, y), step_of_beta(m + 1, b, x, y),
                          step_of_beta(m + 2, b, x, y), step_of_beta(m, b, x, y));
}

static double betainc_slope(double a, double b, double x, double by_a, double by_b) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || isinf(a) || isinf(b)) return NAN;
  if (x == 0 || x == 1) return 0;
  if (a >= 1e6 && b >= 1e6) {
    return by_a != 0 ? slope_of_large_beta(a, b, x, 1 - x) : -slope_of_large_beta(b, a, 1 - x, x);
  }
  if (x * (a + b) <= a) return slope_of_beta(a, b, x, 1 - x, by_a, by_b);
  return -slope_of_beta(b, a, 1 - x, x, by_b, by_a);
}

static double inlay_s_betainc_da(double a, double b, double x) { return betainc_slope(a, b, x, 1, 0); }

static double inlay_s_betainc_db(double a, double b, double x) { return betainc_slope(a, b, x, 0, 1); }
