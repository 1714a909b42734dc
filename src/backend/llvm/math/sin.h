#pragma once
// sin and cos for |x| up to kSinLimit: x = n pi/2 + r, both polynomials, one of them selected by n.
//
// Beyond the limit pi/2 in three parts is not enough; there a scalar function must do it: see inlay_v8_sin_domain.
#include "coefficients.h"
#include "vector_types.h"

#define kSinLimit 0x1p+19
// 1.5 x 2^52: one unit in the last place is 1.
#define kRoundToQuarterTurns 0x1.8p+52

typedef struct {
  v8d sin, cos;
  v8i turns;  // quarter turns
} SinCos;

/// sin and cos of r, |r| <= pi/4, where x = turns pi/2 + r.
INLAY_INLINE SinCos sin_cos(v8d x) {
  SinCos result;
  const v8d shifted = fma8(x, splat(kTwoOverPi), splat(kRoundToQuarterTurns));
  result.turns = (v8i)shifted;
  const v8d n = shifted - splat(kRoundToQuarterTurns);
  const v8d exact = fnma8(n, splat(kHalfPi1), x);
  // The second product in two parts: where x is close to a multiple of pi/2, all of `exact` cancels against it.
  const v8d product = n * kHalfPi2;
  const v8d product_low = fma8(n, splat(kHalfPi2), -product);
  const v8d r = exact - product;
  const v8d low = fnma8(n, splat(kHalfPi3), ((exact - r) - product) - product_low);

  const v8d square = r * r;
  result.sin = r + fma8(square * r, POLYNOMIAL(square, kSinPoly), low);
  const v8d head = fma8(splat(-0.5), square, splat(1));
  const v8d lost = fma8(splat(-0.5), square, 1 - head);
  result.cos = head + fma8(square * square, POLYNOMIAL(square, kCosPoly), fnma8(r, low, lost));
  return result;
}

/// The sign changes where the second bit of `turns` is set.
INLAY_INLINE v8d turned(v8d x, v8i turns) { return (v8d)((v8i)x ^ ((turns & 2) << 62)); }

INLAY_INLINE v8d sin_of(v8d x) {
  const SinCos s = sin_cos(x);
  const v8d value = select8((s.turns & 1) != 0, s.cos, s.sin);
  return by_class_of(x, turned(value, s.turns), 0x00000122);  // 1: +-0 as it is
}

INLAY_INLINE v8d tan_of(v8d x) {
  const SinCos s = sin_cos(x);
  const v8i odd = (s.turns & 1) != 0;
  const v8d value = select8(odd, -s.cos, s.sin) / select8(odd, s.sin, s.cos);
  return by_class_of(x, value, 0x00000122);
}

INLAY_INLINE v8d cos_of(v8d x) {
  const SinCos s = sin_cos(x);
  const v8d value = select8((s.turns & 1) != 0, s.sin, s.cos);
  return turned(value, s.turns + 1);
}
