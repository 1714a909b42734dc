#pragma once
// The standard normal distribution function and its logarithm, from m(y) = e^(y^2/2) ndtr(-y), which is smooth.
#include "coefficients.h"
#include "erf.h"
#include "table_exp.h"
#include "vector_types.h"

/// m(y) for 0 <= y <= 42.
INLAY_INLINE Piece mills_parts(vd y) {
  const Quarter quarter = quarter_of(fma_d(y, splat(kSqrtHalf), splat(2)));
  return PIECEWISE_IN_HALVES(short_product_added(splat(-kSqrt2), quarter.middle - 2, y), quarter.index, kMills,
                             kMillsTerms);
}

/// y^2 as high + low.
typedef struct {
  vd high, low;
} Square;

INLAY_INLINE Square square_in_two(vd y) {
  const vd high = y * y;
  const Square square = {high, product_rest(y, y, high)};
  return square;
}

/// ndtr(-y) = e^(-y^2/2) m(y), so the tail keeps its digits down to the subnormals.
INLAY_INLINE vd normal_tail(Piece m, Square square) {
  const ExpParts e = exp_parts(-0.5 * square.high);
  return times_power(m, e, -0.5 * square.low);
}

INLAY_INLINE vd ndtr_of(vd x) {
  const vd y = min_d(splat(40), abs_d(x));
  const vd tail = normal_tail(mills_parts(y), square_in_two(y));
  return select_d(x > 0, 1 - tail, tail);
}

/// log ndtr(x) for x > -37: log(m(-x)) - x^2/2 left of 0, e^(-x^2/2) times a smooth function right of it. So no
/// logarithm is taken: one polynomial, from eight pieces on each side, is both log(m(y)) and the smooth function.
INLAY_INLINE vd log_ndtr_of(vd x) {
  const vi left = x < 0;
  const vd y = min_d(splat(40), abs_d(x));
  const Square square = square_in_two(y);
  const vd z = fma_d(y, splat(kSqrtHalf), splat(2));
  const Quarter half = half_of(z);
  const vi index =
      half.index |
      (left ? splat_i(8) : splat_i(0));  // a lookup takes four bits, of which the exponent of z leaves this 0
  const vd r = short_product_added(splat(-kSqrt2), half.middle - 2, y);
  const Piece f = PIECEWISE_IN_HALVES(r, index, kLogNdtr, kLogNdtrTerms);
  const vd log = f.first + f.rest;
  return select_d(left, fma_d(splat(-0.5), square.high, fma_d(splat(-0.5), square.low, log)), normal_tail(f, square));
}
