#include <math.h>
#include <stdbool.h>

/* e^(scale x^2) f with the digits that x * x loses brought back. */
static inline double times_exp_of_square(double scale, double x, double f) {
  const double high = x * x, low = fma(x, x, -high), e = exp(scale * high) * f;
  return isfinite(e) && isfinite(low) ? fma(e, scale * low, e) : e;
}

/* e^(x^2) erfc(x); from 28 on by its asymptotic series. */
static inline double erfcx_f64(double x) {
  if (x > -26 && x < 28) return math_erfcx_of(x);
  if (x < 0 || isnan(x)) return times_exp_of_square(1, x, erfc(x));
  const double t = 0.5 / (x * x);
  double sum = 1;
  for (int k = 13; k >= 1; k -= 2) sum = 1 - k * t * sum;
  return 0x1.20dd750429b6dp-1 / x * sum;
}

static inline double log_ndtr_f64(double x) {
  if (x > -37) return math_log_ndtr_of(x);
  return log(0.5 * erfcx_f64(-x * 0x1.6a09e667f3bcdp-1)) - 0.5 * x * x;
}

/* NaN at the negative integers, where gamma has no value. */
static inline double gamma_f64(double x) { return x < 0 && x == floor(x) ? NAN : tgamma(x); }

/* log |gamma(x)|; -inf for -inf, as SciPy. */
static inline double lgamma_f64(double x) {
  if (!(x < 0)) return math_lgamma_of_positive(x);
  return x == -INFINITY ? x : lgamma(x);
}

/* Left of 0 by a function of whoever links this. */
static inline double digamma_f64(double x, double (*of_negative)(double)) {
  return x < 0 ? of_negative(x) : math_digamma_of_positive(x);
}

/* What Stirling's formula leaves of lgamma, for x >= 10. */
static inline double stirling_rest(double x) {
  const double t = 1 / (x * x);
  const double series =
      1.0 / 12 +
      t * (-1.0 / 360 +
           t * (1.0 / 1260 +
                t * (-1.0 / 1680 + t * (1.0 / 1188 + t * (-691.0 / 360360 + t * (1.0 / 156 - t * 3617.0 / 122400))))));
  return series / x;
}

/* log(gamma(b) / gamma(a + b)) where b and a + b are at least 10. */
static inline double log_gamma_quotient(double a, double b) {
  const double rest = stirling_rest(b) - stirling_rest(a + b);
  return (b - 0.5) * log1p(-a / (a + b)) + a - a * log(a + b) + rest;
}

/* log B(a, b) for positive a <= b. Where an operand is large the leading terms of the three logarithms, which cancel,
   are taken together (Didonato and Morris, 1992). */
static inline double lbeta_of_positive(double a, double b) {
  const double ratio = a / (a + b);
  if (isinf(b)) return isinf(a) ? NAN : -INFINITY;
  if (a >= 10) {
    const double rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
    return (a - 0.5) * log(ratio) + b * log1p(-ratio) + 0x1.d67f1c864beb5p-1 - 0.5 * log(b) + rest;
  }
  if (b >= 10) return lgamma(a) + log_gamma_quotient(a, b);
  if (a < 1e-300) return log1p(a / b) - log(a);
  return log(tgamma(a) / tgamma(a + b) * tgamma(b));
}

static inline bool is_pole_of_gamma(double x) { return x <= 0 && x == floor(x); }

/* Of gamma(a) at a, where b is such that the pole of gamma(a + b) cancels it. */
static inline bool pole_cancels(double a, double b) {
  return is_pole_of_gamma(a) && b > 0 && b == floor(b) && 1 - a - b > 0;
}

/* log |B(a, b)| */
static inline double lbeta_f64(double a, double b) {
  const double greater = a > b ? a : b, less = a > b ? b : a;
  if (isnan(a) || isnan(b) || less == -INFINITY) return NAN; /* poles and roots to the end */
  if (less > 0) return lbeta_of_positive(less, greater);
  if (pole_cancels(less, greater)) { /* (-1)^b B(1 - a - b, b) */
    const double other = 1 - less - greater;
    return lbeta_of_positive(other < greater ? other : greater, other < greater ? greater : other);
  }
  if (is_pole_of_gamma(a) || is_pole_of_gamma(b)) return INFINITY;
  /* gamma(a) / gamma(a + b) is a^-b but for b^2 / a. */
  if (greater > 1e17 * (1 + less * less)) return lgamma(less) - less * log(greater);
  if (greater >= 10 && a + b >= 10) return lgamma(less) + log_gamma_quotient(less, greater);
  return lgamma(greater) + lgamma(less) - lgamma(a + b);
}

/* Left of 0 by a function of whoever links this. */
static inline double trigamma_f64(double x, double (*of_negative)(double)) {
  return x < 0 ? of_negative(x) : math_trigamma_of_positive(x);
}

/* Of other orders than 0, 1 and -1 by a function of whoever links this. */
static inline double ive_f64(double v, double x, double (*of_order)(double, double)) {
  return v == 0 || fabs(v) == 1 ? math_ive_of(v, x) : of_order(v, x);
}
