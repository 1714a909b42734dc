#include <math.h>
#include <stdbool.h>

/* The quantile of e^y: Newton's method for log_ndtr(x) = y where e^y has few digits. */
static double inlay_s_ndtri_exp(double y) {
  if (!(y < 0)) return y == 0 ? INFINITY : NAN;
  if (y == -INFINITY) return y;
  if (y > -0.5) return -math_ndtri_of(-expm1(y));
  if (y > -300) return math_ndtri_of(exp(y));
  const double size = 2 * sqrt(-y / 2); /* -2 y may be infinite */
  double x = -size;
  if (size >= 1e8) return x;
  x += (log(size) + 0x1.d67f1c864beb5p-1) / size;
  for (int step = 0; step < 4; ++step) { /* by the density over the distribution function */
    x -= (log_ndtr_f64(x) - y) * erfcx_f64(-x * 0x1.6a09e667f3bcdp-1) * 0x1.40d931ff62706p+0;
  }
  return x;
}

static inline double sign_of_gamma(double x) { return x < 0 && fmod(floor(x), 2) != 0 ? -1 : 1; }

static inline double beta_by_gamma(double a, double b) {
  const double x = tgamma(a), y = tgamma(b); /* the smaller one first: gamma(1e-300) / gamma(-33.3) is infinite */
  return (fabs(x) < fabs(y) ? x : y) / tgamma(a + b) * (fabs(x) < fabs(y) ? y : x);
}

/* For positive a <= b. */
static double beta_of_positive(double a, double b) {
  if (isinf(b)) return isinf(a) ? NAN : 0;
  if (a + b < 150) return a < 1e-300 ? 1 / a + 1 / b : beta_by_gamma(a, b);
  if (a < 10) return tgamma(a) * exp(rest_of_quotient(a, b)) * pow(a + b, -a);
  const double rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
  return pow(a / (a + b), a) * exp(b * log1p(-a / (a + b)) + rest) * sqrt(0x1.921fb54442d18p+2 * (1 / a + 1 / b));
}

static double inlay_s_beta(double a, double b) {
  const double greater = a > b ? a : b, less = a > b ? b : a;
  if (isnan(a) || isnan(b) || less == -INFINITY) return NAN;
  if (less > 0) return beta_of_positive(less, greater);
  if (pole_cancels(less, greater)) {
    const double other = 1 - less - greater, value = beta_of_positive(fmin(other, greater), fmax(other, greater));
    return fmod(greater, 2) == 0 ? value : -value;
  }
  if (is_pole_of_gamma(a) || is_pole_of_gamma(b)) return INFINITY;
  const double sign = sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b);
  if (fabs(a) < 100 && fabs(b) < 60 && fabs(a + b) < 100) {
    return is_pole_of_gamma(a + b) ? sign * 0.0 : beta_by_gamma(a, b);
  }
  return sign * exp(lbeta_f64(a, b));
}

/* The sum of (q / (q + k))^s over k = 0, 1, ..., for s >= 3: Euler and Maclaurin (DLMF 25.11.5 and 25.11.28). */
static double zeta_over_first(double s, double q) {
  static const double terms[] = {1.0 / 12,          -1.0 / 720,
                                 1.0 / 30240,       -1.0 / 1209600,
                                 1.0 / 47900160,    -691.0 / 1307674368000,
                                 1.0 / 74724249600, -3617.0 / 10670622842880000};
  double sum = 0, at = q, power = 1;
  for (; at < 12 + s && power > 0x1p-60 * sum; at += 1) {
    power = pow(q / at, s);
    sum += power;
  }
  if (at < 12 + s) return sum;
  power = pow(q / at, s);
  double tail = at / (s - 1) + 0.5, factor = s / at;
  for (int k = 0; k < 8; ++k) {
    tail += terms[k] * factor;
    factor *= (s + 2 * k + 1) / at * ((s + 2 * k + 2) / at);
  }
  return sum + power * tail;
}

/* n! over the (n + 1)th powers of the distances q, q + 1, ...: below the first one times 1 + q / n. */
static double sum_over_poles(double n, double q) {
  const double log_first = math_lgamma_of_positive(n + 1) - (n + 1) * log(q);
  if (log_first > 710) return INFINITY;
  if (log_first + log1p(q / n) < -760) return 0;
  if (n > 1e6) return NAN;
  const double first = n <= 150 ? tgamma(n + 1) * pow(q, -n - 1) : 0;
  if (first > 1e-290 && first < 1e290) return first * zeta_over_first(n + 1, q);
  return exp(log_first + log(zeta_over_first(n + 1, q)));
}

/* The n-th derivative of digamma; poles have the sign of their right side. */
static double inlay_s_polygamma(double n, double x) {
  if (!(n >= 0 && n == floor(n)) || isnan(x)) return NAN;
  if (n == 0) return digamma_f64(x, inlay_s_digamma);
  if (n == 1) return trigamma_f64(x, inlay_s_trigamma);
  const bool is_even = fmod(n, 2) == 0;
  if (is_pole_of_gamma(x)) return is_even ? -INFINITY : INFINITY;
  if (x == INFINITY) return is_even ? -0.0 : 0.0;
  double sum;
  if (x > 0) {
    sum = sum_over_poles(n, x);
  } else {
    const double right = x - floor(x), left = floor(x) + 1 - x; /* to the poles beside x, 0 and beyond */
    const double nearer = sum_over_poles(n, fmin(left, right));
    if (isinf(nearer) && (left != right || !is_even)) return is_even && right < left ? -INFINITY : INFINITY;
    const double beyond = sum_over_poles(n, 1 - x);
    if (left == right && is_even && n <= 170) return -beyond; /* these two cancel, infinite or not */
    const double there = sum_over_poles(n, left), here = sum_over_poles(n, right);
    sum = is_even ? here - there + beyond : here + there - beyond;
  }
  return is_even ? -sum : sum;
}
