#include <math.h>

/* log(1 - e^x) for x <= 0: each branch where it does not cancel. */
static inline double log1mexp_f64(double x) { return x < -0x1.62e42fefa39efp-1 ? log1p(-exp(x)) : log(-expm1(x)); }

static inline double sigmoid_f64(double x) {
  const double e = exp(-fabs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

/* log(1 + e^x) */
static inline double softplus_f64(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

/* Around 1/2 through 2 x - 1, which is exact there, so that the digits around the root are right. */
static inline double logit_f64(double x) {
  if (x > 0.25 && x < 0.75) return log1p(2 * x - 1) - log1p(1 - 2 * x);
  return log(x) - log1p(-x);
}

/* 0 for x = 0 and any y but NaN. */
static inline double xlogy_f64(double x, double y) { return x == 0 && !isnan(y) ? 0 : x * log(y); }

static inline double xlog1py_f64(double x, double y) { return x == 0 && !isnan(y) ? 0 : x * log1p(y); }

/* log(e^x + e^y) */
static inline double logaddexp_f64(double x, double y) {
  if (x == y) return x + 0x1.62e42fefa39efp-1; /* infinities too */
  if (isnan(x) || isnan(y)) return x + y;
  return (x > y ? x : y) + log1p(exp(-fabs(x - y)));
}

/* e^(scale x^2) f with the digits that x * x loses brought back. */
static inline double times_exp_of_square(double scale, double x, double f) {
  const double high = x * x, low = fma(x, x, -high), e = exp(scale * high) * f;
  return isfinite(e) && isfinite(low) ? fma(e, scale * low, e) : e;
}

/* e^(x^2) erfc(x); from 26 on, before erfc loses digits, by its asymptotic series. */
static inline double erfcx_f64(double x) {
  if (x < 26 || isnan(x)) return times_exp_of_square(1, x, erfc(x));
  const double t = 0.5 / (x * x);
  double sum = 1;
  for (int k = 13; k >= 1; k -= 2) sum = 1 - k * t * sum;
  return 0x1.20dd750429b6dp-1 / x * sum;
}

/* The standard normal distribution function. */
static inline double ndtr_f64(double x) {
  if (x < -1) return times_exp_of_square(-0.5, x, 0.5 * erfcx_f64(-x * 0x1.6a09e667f3bcdp-1));
  return 0.5 * erfc(-x * 0x1.6a09e667f3bcdp-1);
}

static inline double log_ndtr_f64(double x) {
  if (x > 1) return log1p(-times_exp_of_square(-0.5, x, 0.5 * erfcx_f64(x * 0x1.6a09e667f3bcdp-1)));
  if (x > -1) return log1p(-0.5 * erfc(x * 0x1.6a09e667f3bcdp-1));
  return log(0.5 * erfcx_f64(-x * 0x1.6a09e667f3bcdp-1)) - 0.5 * x * x;
}

/* NaN at the negative integers, where gamma has no value. */
static inline double gamma_f64(double x) { return x < 0 && x == floor(x) ? NAN : tgamma(x); }

/* log |gamma(x)|; -inf for -inf, as SciPy. */
static inline double lgamma_f64(double x) { return x == -INFINITY ? x : lgamma(x); }
