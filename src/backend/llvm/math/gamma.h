#pragma once
// lgamma and digamma for x > 0: piecewise polynomials below 8, the asymptotic series from there.
//
// Below 1/2 the recurrence leads to x + 1. Between, the roots (1 and 2; 1.4616...) are factored out, so that the
// relative error stays small around them. Negative x is left to a scalar function: see inlay_v8_lgamma_domain.
#include "coefficients.h"
#include "table_log.h"
#include "vector_types.h"

INLAY_INLINE v8d lgamma_of_positive(v8d x) {
  const v8i small = x < 0.5;
  const v8d y = select8(small, x + 1, x);
  const Quarter quarter = quarter_of(y);
  const v8d r = y - quarter.middle;
  const v8d rest = fma8(r, PIECEWISE(r, quarter.index, kLgamma), lookup16(kLgammaLow, quarter.index));
  const v8d first = lookup16(kLgammaFirst, quarter.index);
  const v8d roots = (y - 1) * (y - 2);
  const v8d roots_low = fma8(y - 1, y - 2, -roots);
  const v8d middle = fma8(roots, first, fma8(roots, rest, roots_low * first));

  // (x - 1/2) (log x - 1) + log(2 pi)/2 - 1/2 + P(1/x^2) / x
  const Log log = log_in_two(x);
  const v8d inverse = 1 / x;
  const v8d series = fma8(POLYNOMIAL(inverse * inverse, kStirling), inverse, splat(kStirlingConstant));
  const v8d factor = x - 0.5;
  const v8d large = fma8(factor, log.high - 1, fma8(factor, log.low, series));

  const v8d below_8 = select8(small, (middle - log.low) - log.high, middle);
  return by_class_of(x, select8(x < 8, below_8, large), 0x00508522);
}

INLAY_INLINE v8d digamma_of_positive(v8d x) {
  const v8i small = x < 0.5;
  const v8d y = select8(small, x + 1, x);
  const Quarter quarter = quarter_of(y);
  const v8d r = y - quarter.middle;
  const v8d rest = fma8(r, PIECEWISE(r, quarter.index, kDigamma), lookup16(kDigammaLow, quarter.index));
  const v8d first = lookup16(kDigammaFirst, quarter.index);
  const v8d from_root = y - kDigammaRoot;
  const v8d middle = fma8(from_root, first, fma8(from_root, rest, (first + rest) * -kDigammaRootLow));

  // log x - 1/(2x) - P(1/x^2) / x^2
  const v8d inverse = 1 / x;
  const v8d square = inverse * inverse;
  const Log log = log_in_two(x);
  const v8d series = fma8(POLYNOMIAL(square, kDigammaTail), square, 0.5 * inverse);
  const v8d large = log.high + (log.low - series);

  return by_class_of(x, select8(x < 8, select8(small, middle - inverse, middle), large), 0x00500022);
}
