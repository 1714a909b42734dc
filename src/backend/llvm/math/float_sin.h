#pragma once
// sin and cos of sixteen floats for |x| up to kSinLimit, as in sin.h.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"
#include "sin.h"

/// sin and cos of r, |r| <= pi/4, where x = turns pi/2 + r.
typedef struct {
  vf sin, cos;
  vfi turns;  // quarter turns
} FloatSinCos;

INLAY_INLINE FloatSinCos float_sin_cos(vf x) {
  FloatSinCos result;
  const vf shifted = fma_f(x, splat_f(kFloatTwoOverPi), splat_f(kRoundToWhole));
  result.turns = bits_f(shifted);
  const vf n = shifted - splat_f(kRoundToWhole);
  const vf exact = rest_of_quotient_f(n, splat_f(kFloatHalfPi1), x);
  const vf product = n * kFloatHalfPi2;
  const vf product_low = product_rest_f(n, splat_f(kFloatHalfPi2), product);
  const vf r = exact - product;
  const vf low = fnma_f(n, splat_f(kFloatHalfPi3), ((exact - r) - product) - product_low);

  const vf square = r * r;
  result.sin = r + fma_f(square * r, POLYNOMIAL_F(square, kFloatSinPoly), low);
  const vf head = fma_f(splat_f(-0.5F), square, splat_f(1));
  const vf lost = fma_f(splat_f(-0.5F), square, 1 - head);
  result.cos = head + fma_f(square * square, POLYNOMIAL_F(square, kFloatCosPoly), fnma_f(r, low, lost));
  return result;
}

/// The sign changes where the second bit of `turns` is set.
INLAY_INLINE vf turned_f(vf x, vfi turns) { return of_bits_f(bits_f(x) ^ shifted_left_f(turns & 2, 30)); }

INLAY_INLINE vf float_sin_of(vf x) {
  const FloatSinCos s = float_sin_cos(x);
  const vf value = select_f((s.turns & 1) != 0, s.cos, s.sin);
  return by_class_of_f(x, turned_f(value, s.turns), 0x00000122);  // 1: +-0 as it is
}

INLAY_INLINE vf float_cos_of(vf x) {
  const FloatSinCos s = float_sin_cos(x);
  const vf value = select_f((s.turns & 1) != 0, s.sin, s.cos);
  return turned_f(value, s.turns + 1);
}
