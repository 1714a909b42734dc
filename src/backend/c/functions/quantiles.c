#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The inverses of the incomplete gamma and beta functions by their last operand, by halving the doubles in between. */

static inline double double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* How much lies below x, for `upper` above it: of a gamma distribution (a), or of a beta distribution (a, b). */
static inline double part_at(double a, double b, double x, bool of_beta, bool upper) {
  if (!of_beta) return part_of_gamma(a, x, upper);
  if (x == 0 || x == 1) return upper == (x == 0);
  return upper ? part_of_beta(b, a, 1 - x, x) : part_of_beta(a, b, x, 1 - x);
}

/* The x in [0, most] that has p below it and q above, p + q = 1, by the smaller of them, which has the digits. */
static double quantile(double a, double b, bool of_beta, double p, double q) {
  const double most = of_beta ? 1 : INFINITY, least = 0x1p-1074;
  const bool upper = p > q;
  uint64_t low = 0, high;
  memcpy(&high, &most, sizeof most);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const double x = double_of_bits(middle), part = part_at(a, b, x, of_beta, upper);
    if (x == most || (x > 0 && (upper ? part <= q : part >= p))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const double x = double_of_bits(low);
  if (x != least) return x;
  /* Next to 0 the part below x grows as x^a: is it less than half of the smallest number? */
  const double below = part_at(a, b, least, of_beta, false), part = part_at(a, b, least, of_beta, upper);
  return (upper ? q - part : part - p) > -expm1(-a * 0x1.62e42fefa39efp-1) * below ? 0 : x;
}

static double inlay_s_gammaincinv(double a, double p) {
  if (!(a >= 0 && p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? 0 : INFINITY;
  return a == 0 || isinf(a) ? NAN : quantile(a, 0, false, p, 1 - p);
}

static double inlay_s_gammainccinv(double a, double q) {
  if (!(a >= 0 && q >= 0 && q <= 1)) return NAN;
  if (q == 0 || q == 1) return q == 1 ? 0 : INFINITY;
  return a == 0 || isinf(a) ? NAN : quantile(a, 0, false, 1 - q, q);
}

static double inlay_s_betaincinv(double a, double b, double p) {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 1;
  if (isinf(b) && a == 1) return 0; /* as SciPy, of 1 alone */
  if (isinf(a) && b == 1) return 1;
  if (isinf(a) || isinf(b)) return NAN;
  if (a == b && p == 0.5) return 0.5;
  return quantile(a, b, true, p, 1 - p);
}
