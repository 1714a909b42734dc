#pragma once
// The inverses of erf, erfc and ndtr: x f(w) with w = -log(1 - x^2), which is 0 at the root and grows as the square of
// the value in the tails, so one table serves all of both (the variable is that of Giles, 2010).
#include "coefficients.h"
#include "table_log.h"
#include "vector_types.h"

/// erfinv(x) / x by 1 - x^2, down to the subnormals.
INLAY_INLINE Piece quantile_slope(vd complement) {
  const Log log = log_in_two(complement);
  const Quarter half = half_of(4 - log.high);
  const vd r = ((4 - half.middle) - log.high) - log.low;
  return PIECEWISE_IN_HALVES(r, half.index, kQuantile, kQuantileTerms);
}

/// 1 - x^2 from (1 - x)(1 + x), which is rounded three times: next to 0 that is more than f can take.
INLAY_INLINE vd complement_of(vd x, vd product) { return select_d(abs_d(x) < 0.5, fnma_d(x, x, splat(1)), product); }

/// x f with the sign of x: infinite where 1 - x^2 is 0, nan where it is negative.
INLAY_INLINE vd quantile(vd x, vd x_low, Piece f, vd complement) {
  const vd value = large_product_added(x, f.first, fma_d(x, f.rest, x_low * f.first));
  return with_sign_of(by_class_of(complement, value, 0x03030522), x);
}

INLAY_INLINE vd erfinv_of(vd x) {
  const vd y = abs_d(x);
  const vd complement = complement_of(y, (1 - y) * (1 + y));
  return quantile(x, splat(0), quantile_slope(complement), complement);
}

/// erfinv(1 - x), where x is as it is given.
INLAY_INLINE vd erfcinv_of(vd x) {
  const vd u = 1 - x;
  const vd complement = complement_of(u, x * (2 - x));
  return quantile(u, (1 - u) - x, quantile_slope(complement), complement);
}

/// sqrt 2 erfinv(2 p - 1)
INLAY_INLINE vd ndtri_of(vd p) {
  const vd u = p - 0.5;
  const vd u_low = p - (u + 0.5);
  const vd x = u * kSqrt8;
  const vd x_low = fma_d(u, splat(kSqrt8Low), fma_d(u_low, splat(kSqrt8), product_rest(u, splat(kSqrt8), x)));
  const vd complement = complement_of(u + u, 4 * p * (1 - p));
  return quantile(x, x_low, quantile_slope(complement), complement);
}
