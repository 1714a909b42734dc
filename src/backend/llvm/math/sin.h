#pragma once
// sin and cos for |x| up to kSinLimit: x = n pi/2 + r, both polynomials, one of them selected by n.
//
// Beyond the limit pi/2 in three parts is not enough; there a scalar function must do it: see DOMAIN(sin).
#include "coefficients.h"
#include "vector_types.h"

#define kSinLimit 0x1p+19
// 1.5 x 2^52: one unit in the last place is 1.
#define kRoundToQuarterTurns 0x1.8p+52

typedef struct {
  vd sin, sin_low, cos, cos_low;  // low: what rounding lost
  vi turns;                       // quarter turns
} SinCos;

/// sin and cos of r, |r| <= pi/4, where x = turns pi/2 + r.
INLAY_INLINE SinCos sin_cos(vd x) {
  SinCos result;
  const vd shifted = fma_d(x, splat(kTwoOverPi), splat(kRoundToQuarterTurns));
  result.turns = bits_d(shifted);
  const vd n = shifted - splat(kRoundToQuarterTurns);
  const vd exact = fnma_d(n, splat(kHalfPi1), x);
  // The second product in two parts: where x is close to a multiple of pi/2, all of `exact` cancels against it.
  const vd product = n * kHalfPi2;
  const vd product_low = product_rest(n, splat(kHalfPi2), product);
  const vd r = exact - product;
  const vd low = fnma_d(n, splat(kHalfPi3), ((exact - r) - product) - product_low);

  const vd square = r * r;
  const vd sin_rest = fma_d(square * r, POLYNOMIAL(square, kSinPoly), low);
  result.sin = r + sin_rest;
  result.sin_low = (r - result.sin) + sin_rest;
  const vd head = fma_d(splat(-0.5), square, splat(1));
  const vd lost = fma_d(splat(-0.5), square, 1 - head);
  const vd cos_rest = fma_d(square * square, POLYNOMIAL(square, kCosPoly), fnma_d(r, low, lost));
  result.cos = head + cos_rest;
  result.cos_low = (head - result.cos) + cos_rest;
  return result;
}

/// The sign changes where the second bit of `turns` is set.
INLAY_INLINE vd turned(vd x, vi turns) { return of_bits_d(bits_d(x) ^ shifted_left(turns & 2, 62)); }

INLAY_INLINE vd sin_of(vd x) {
  const SinCos s = sin_cos(x);
  const vd value = select_d((s.turns & 1) != 0, s.cos, s.sin);
  return by_class_of(x, turned(value, s.turns), 0x00000122);  // 1: +-0 as it is
}

/// sin / cos, or -cos / sin after an odd number of quarter turns. The quotient has what rounding lost of both.
INLAY_INLINE vd tan_of(vd x) {
  const SinCos s = sin_cos(x);
  const vi sign = shifted_left(s.turns, 63);
  const vi odd = sign < 0;
  const vd n = select_d(odd, s.cos, s.sin), n_low = select_d(odd, s.cos_low, s.sin_low);
  const vd d = select_d(odd, s.sin, s.cos), d_low = select_d(odd, s.sin_low, s.cos_low);
  const vd value = quotient_of_two(n, n_low, d, d_low);
  return by_class_of(x, of_bits_d(bits_d(value) ^ sign), 0x00000122);
}

INLAY_INLINE vd cos_of(vd x) {
  const SinCos s = sin_cos(x);
  const vd value = select_d((s.turns & 1) != 0, s.sin, s.cos);
  return turned(value, s.turns + 1);
}
