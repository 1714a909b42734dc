#pragma once
// erf and erfc by piecewise polynomials whose coefficients are looked up in registers.
#include "coefficients.h"
#include "table_exp.h"
#include "vector_types.h"

// 1.5 x 2^52: one unit in the last place is 1.
#define kRoundToIntegers 0x1.8p+52

/// |x| = 25/64 j + r; at j = 0 the value is r times a polynomial, so that no digit is lost near 0. From 6.05 on it
/// is 1.
INLAY_INLINE v8d erf_of(v8d x) {
  const v8d y = _mm512_min_pd(splat(6.05), abs8(x));
  const v8d shifted = fma8(y, splat(kErfInverseWidth), splat(kRoundToIntegers));
  const v8d r = fnma8(shifted - splat(kRoundToIntegers), splat(kErfWidth), y);
  const v8i index = (v8i)shifted;
  const v8d rest = fma8(r, PIECEWISE(r, index, kErf), lookup16(kErfLow, index));
  return with_sign_of(lookup16(kErfFirst, index) + rest, x);
}

/// erfc(x) = e^(-x^2) f(x) with a smooth f, so the tail keeps its digits down to the subnormals; 2 - erfc(-x) on the
/// left.
INLAY_INLINE v8d erfc_of(v8d x) {
  const v8d y = _mm512_min_pd(splat(28), abs8(x));
  const Quarter quarter = quarter_of(y + 2);
  const v8d r = y - (quarter.middle - 2);
  const v8d rest = fma8(r, PIECEWISE(r, quarter.index, kErfcx), lookup16(kErfcxLow, quarter.index));
  const v8d first = lookup16(kErfcxFirst, quarter.index);

  const v8d square = y * y;
  const v8d square_low = fma8(y, y, -square);
  const ExpParts e = exp_parts(-square);
  const v8d power_low = fma8(e.high, e.p, lookup16(kExpTableLow, e.index));
  const v8d product = fma8(e.high, first, fma8(e.high, rest, power_low * (first + rest)));
  const v8d tail = scale(fnma8(product, square_low, product), e.k);
  return select8(x < 0, 2 - tail, tail);
}
