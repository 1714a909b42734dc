#include <math.h>

/* T(h, a) for h >= 0 and 0 <= a <= 1 by its integral (Owen, 1956), of exp(-h^2 (1 + x^2) / 2) / (1 + x^2) over 2 pi
   from 0 to a, by Gauss's rule of 32 points: positive terms, of which nothing cancels. Where h a > 8.7 what is beyond
   is nothing. `low` is what rounding h lost. */
static double owens_t_by_rule(double h, double low, double a) {
  static const double points[] = {
      0x1.8bbc8488cc499p-5, 0x1.27e0ea717f237p-3, 0x1.ea0f7e19c094bp-3, 0x1.53d55ce57bdf6p-2,
      0x1.af76b57c6f8f1p-2, 0x1.038862866b29dp-1, 0x1.2ce9146962ca4p-1, 0x1.537a89c487f8ap-1,
      0x1.76e0931d693bap-1, 0x1.96c69481c4bc5p-1, 0x1.b2e04fd686a13p-1, 0x1.caea9b4574cb9p-1,
      0x1.deac0259f7f42p-1, 0x1.edf5518053baap-1, 0x1.f8a212714bcdcp-1, 0x1.fe995e70409b6p-1};
  static const double weights[] = {
      0x1.8b6d9eaec77adp-4, 0x1.87bc776f8c6d7p-4, 0x1.8062fc0f6fef9p-4, 0x1.7572bdb3f6e51p-4,
      0x1.6705e18e13ed1p-4, 0x1.553ee25ebebc6p-4, 0x1.40483e126fd14p-4, 0x1.2854103b35e0cp-4,
      0x1.0d9b9a62cac10p-4, 0x1.e0bd76c924981p-5, 0x1.a1c6ae961fbfap-5, 0x1.5ee963a335495p-5,
      0x1.18c5800a355d9p-5, 0x1.a0060a8531ffap-6, 0x1.0aa3c248696c9p-6, 0x1.cbf8bc743cc5cp-8};
  const double half = h * a > 8.7 ? 4.35 / h : 0.5 * a;
  double sum = 0;
  if (h > 40) return 0;
  for (int k = 15; k >= 0; --k) {
    for (int side = -1; side <= 1; side += 2) {
      const double x = half * (1 + side * points[k]), t = h * x;
      sum += weights[k] * (exp(-0.5 * t * t) / (1 + x * x));
    }
  }
  return times_exp_of_square(-0.5, h, half * sum * 0x1.45f306dc9c883p-3) * (1 - h * low);
}

/* For a > 1 what lies above the line: half of all beyond h, without what is beyond a h the other way round. */
static double owens_t_of_steep(double h, double a) {
  const double high = a * h, low = high < 40 ? fma(a, h, -high) : 0, beyond = math_ndtr_of(-h);
  const double density = 0x1.9884533d43651p-2 * exp(-0.5 * high * high);
  const double beyond_product = math_ndtr_of(-high) - low * density;
  return 0.5 * beyond + (beyond_product * (0.5 - beyond) - owens_t_by_rule(high, low, 1 / a));
}

/* The probability of X > h and 0 < Y < a X of two independent standard normal variables. */
static double inlay_s_owens_t(double h, double a) {
  if (isnan(h) || isnan(a)) return NAN;
  if (isinf(h) || a == 0) return copysign(0.0, a);
  const double above = fabs(h), slope = fabs(a);
  if (isinf(a)) return copysign(0.5 * math_ndtr_of(-above), a);
  return copysign(slope > 1 ? owens_t_of_steep(above, slope) : owens_t_by_rule(above, 0, slope), a);
}
