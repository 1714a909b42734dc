#pragma once
// lgamma, digamma and trigamma for x > 0: piecewise polynomials below 8, the asymptotic series from there.
//
// Below 1/2 the recurrence leads to x + 1. Between, the roots (1 and 2; 1.4616...) are factored out, so that the
// relative error stays small around them. Negative x is left to a scalar function: see DOMAIN(lgamma).
#include "coefficients.h"
#include "table_log.h"
#include "vector_types.h"

INLAY_INLINE vd lgamma_of_positive(vd x) {
  const vi small = x < 0.5;
  const vd y = select_d(small, x + 1, x);
  const Quarter quarter = quarter_of(y);
  const vd r = y - quarter.middle;
  const Piece piece = PIECEWISE(r, quarter.index, kLgamma, kLgammaTerms);
  const vd first = piece.first, rest = piece.rest;
  const vd from_1 = y - 1, from_2 = y - 2;
  const vd from_2_low = y - (from_2 + 2);  // below 1
  const vd roots = from_1 * from_2;
  const vd roots_low = fma_d(from_1, from_2_low, product_rest(from_1, from_2, roots));
  const vd middle = large_product_added(roots, first, fma_d(roots, rest, roots_low * first));

  // (x - 1/2) (log x - 1) + log(2 pi)/2 - 1/2 + P(1/x^2) / x
  const Log log = log_in_two(x);
  const vd inverse = 1 / x;
  const vd series = fma_d(POLYNOMIAL(inverse * inverse, kStirling), inverse, splat(kStirlingConstant));
  const vd factor = x - 0.5;
  const vd large = large_product_added(factor, log.high - 1, fma_d(factor, log.low, series));

  const vd below_8 = select_d(small, (middle - log.low) - log.high, middle);
  return by_class_of(x, select_d(x < 8, below_8, large), 0x00508522);
}

INLAY_INLINE vd digamma_of_positive(vd x) {
  const vi small = x < 0.5;
  const vd y = select_d(small, x + 1, x);
  const Quarter quarter = quarter_of(y);
  const vd r = y - quarter.middle;
  const Piece piece = PIECEWISE(r, quarter.index, kDigamma, kDigammaTerms);
  const vd first = piece.first, rest = piece.rest;
  const vd from_root = y - kDigammaRoot;
  const vd middle = large_product_added(from_root, first, fma_d(from_root, rest, (first + rest) * -kDigammaRootLow));

  // log x - 1/(2x) - P(1/x^2) / x^2
  const vd inverse = 1 / x;
  const vd square = inverse * inverse;
  const Log log = log_in_two(x);
  const vd series = fma_d(POLYNOMIAL(square, kDigammaTail), square, 0.5 * inverse);
  const vd large = log.high + (log.low - series);

  // Below 1/2 1/x is the larger, in two parts; next to 0 it is infinite.
  const vd sum = middle - inverse;
  const vd inverse_low = rest_of_quotient(x, inverse, splat(1)) * inverse;
  const vd lost = (middle - (sum + inverse)) - inverse_low;
  const vd recurred = sum + select_d(x < 0x1p-1000, splat(0), lost);
  return by_class_of(x, select_d(x < 8, select_d(small, recurred, middle), large), 0x00500022);
}

INLAY_INLINE vd trigamma_of_positive(vd x) {
  const vi small = x < 0.5;
  const vd y = select_d(small, x + 1, x);
  const Quarter quarter = quarter_of(y);
  const Piece middle = PIECEWISE(y - quarter.middle, quarter.index, kTrigamma, kTrigammaTerms);

  // 1/x + (1/2 + P(1/x^2) / x) / x^2
  const vd inverse = 1 / x;
  const vd inverse_low = rest_of_quotient(inverse, x, splat(1)) * inverse;
  const vd square = inverse * inverse;
  const vd series = fma_d(POLYNOMIAL(square, kTrigammaTail), inverse, splat(0.5));
  const vd large = inverse + fma_d(square, series, inverse_low);

  // Below 1/2 1/x^2 is the larger, in two parts; next to 0 it is infinite.
  const vd square_low = fma_d(inverse + inverse, inverse_low, product_rest(inverse, inverse, square));
  const vd sum = square + middle.first;
  const vd lost = ((square - sum) + middle.first) + (middle.rest + square_low);
  const vd recurred = sum + select_d(square < INFINITY, lost, splat(0));
  const vd below_8 = select_d(small, recurred, middle.first + middle.rest);
  return by_class_of(x, select_d(x < 8, below_8, large), 0x00800522);
}
