#pragma once
// The standard normal distribution function and its logarithm, from m(y) = e^(y^2/2) ndtr(-y), which is smooth.
#include "coefficients.h"
#include "table_exp.h"
#include "vector_types.h"

/// m(y) = first + rest for 0 <= y <= 42.
typedef struct {
  v8d first, rest;
} Mills;

INLAY_INLINE Mills mills_parts(v8d y) {
  const Quarter quarter = quarter_of(fma8(y, splat(kSqrtHalf), splat(2)));
  const v8d r = fnma8(quarter.middle - 2, splat(kSqrt2), y);
  Mills m;
  m.rest = fma8(r, PIECEWISE_IN_HALVES(r, quarter.index, kMills), lookup16(kMillsLow, quarter.index));
  m.first = lookup16(kMillsFirst, quarter.index);
  return m;
}

/// y^2 as high + low.
typedef struct {
  v8d high, low;
} Square;

INLAY_INLINE Square square_in_two(v8d y) {
  const v8d high = y * y;
  const Square square = {high, fma8(y, y, -high)};
  return square;
}

/// ndtr(-y) = e^(-y^2/2) m(y), so the tail keeps its digits down to the subnormals.
INLAY_INLINE v8d normal_tail(Mills m, Square square) {
  const ExpParts e = exp_parts(-0.5 * square.high);
  const v8d power_low = fma8(e.high, e.p, lookup16(kExpTableLow, e.index));
  const v8d product = fma8(e.high, m.first, fma8(e.high, m.rest, power_low * (m.first + m.rest)));
  return scale(fnma8(product, 0.5 * square.low, product), e.k);
}

INLAY_INLINE v8d ndtr_of(v8d x) {
  const v8d y = _mm512_min_pd(splat(40), abs8(x));
  const v8d tail = normal_tail(mills_parts(y), square_in_two(y));
  return select8(x > 0, 1 - tail, tail);
}

/// log ndtr(x) for x > -37: log(m(-x)) - x^2/2 left of 0, e^(-x^2/2) times a smooth function right of it. So no
/// logarithm is taken: one polynomial, from eight pieces on each side, is both log(m(y)) and the smooth function.
INLAY_INLINE v8d log_ndtr_of(v8d x) {
  const v8i left = x < 0;
  const v8d y = _mm512_min_pd(splat(40), abs8(x));
  const Square square = square_in_two(y);
  const v8d z = fma8(y, splat(kSqrtHalf), splat(2));
  const Quarter half = half_of(z);
  const v8i index = half.index | (left & 8);  // lookup16 takes four bits, of which the exponent of z leaves this 0
  const v8d r = fnma8(half.middle - 2, splat(kSqrt2), y);
  Mills f;
  f.rest = fma8(r, PIECEWISE_IN_HALVES(r, index, kLogNdtr), lookup16(kLogNdtrLow, index));
  f.first = lookup16(kLogNdtrFirst, index);
  const v8d log = f.first + f.rest;
  return select8(left, fma8(splat(-0.5), square.high, fma8(splat(-0.5), square.low, log)), normal_tail(f, square));
}
