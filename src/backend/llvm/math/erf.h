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

/// e^(y^2) erfc(y) for 0 <= y <= 28 as first + rest.
typedef struct {
  v8d first, rest;
} Erfcx;

INLAY_INLINE Erfcx erfcx_parts(v8d y) {
  const Quarter quarter = quarter_of(y + 2);
  const v8d r = y - (quarter.middle - 2);
  Erfcx f;
  f.rest = fma8(r, PIECEWISE(r, quarter.index, kErfcx), lookup16(kErfcxLow, quarter.index));
  f.first = lookup16(kErfcxFirst, quarter.index);
  return f;
}

/// erfc(x) = e^(-x^2) f(x) with a smooth f, so the tail keeps its digits down to the subnormals; 2 - erfc(-x) on the
/// left.
INLAY_INLINE v8d erfc_of(v8d x) {
  const v8d y = _mm512_min_pd(splat(28), abs8(x));
  const Erfcx f = erfcx_parts(y);

  const v8d square = y * y;
  const v8d square_low = fma8(y, y, -square);
  const ExpParts e = exp_parts(-square);
  const v8d power_low = fma8(e.high, e.p, lookup16(kExpTableLow, e.index));
  const v8d product = fma8(e.high, f.first, fma8(e.high, f.rest, power_low * (f.first + f.rest)));
  const v8d tail = scale(fnma8(product, square_low, product), e.k);
  return select8(x < 0, 2 - tail, tail);
}

/// e^(x^2) erfc(x) for -26 < x < 28: left of 0 it is 2 e^(x^2) less its mirror.
INLAY_INLINE v8d erfcx_of(v8d x) {
  const v8d y = _mm512_min_pd(splat(28), abs8(x));
  const Erfcx f = erfcx_parts(y);
  const v8d right = f.first + f.rest;

  const v8d square = y * y;
  const v8d square_low = fma8(y, y, -square);
  const ExpParts e = exp_parts(square);
  const v8d power = e.high + fma8(e.high, e.p, lookup16(kExpTableLow, e.index));
  const v8d twice = scale(fma8(power, square_low, power), e.k + 1);
  return select8(x < 0, twice - right, right);
}
