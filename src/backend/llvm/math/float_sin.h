#pragma once
// sin and cos of sixteen floats for |x| up to kSinLimit, as in sin.h.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"
#include "sin.h"

/// sin and cos of r, |r| <= pi/4, where x = turns pi/2 + r.
typedef struct {
  v16f sin, cos;
  v16i turns;  // quarter turns
} FloatSinCos;

INLAY_INLINE FloatSinCos float_sin_cos(v16f x) {
  FloatSinCos result;
  const v16f shifted = fma16(x, splat16(kFloatTwoOverPi), splat16(kRoundToWhole));
  result.turns = (v16i)shifted;
  const v16f n = shifted - splat16(kRoundToWhole);
  const v16f exact = fnma16(n, splat16(kFloatHalfPi1), x);
  const v16f product = n * kFloatHalfPi2;
  const v16f product_low = fma16(n, splat16(kFloatHalfPi2), -product);
  const v16f r = exact - product;
  const v16f low = fnma16(n, splat16(kFloatHalfPi3), ((exact - r) - product) - product_low);

  const v16f square = r * r;
  result.sin = r + fma16(square * r, POLYNOMIAL16(square, kFloatSinPoly), low);
  const v16f head = fma16(splat16(-0.5F), square, splat16(1));
  const v16f lost = fma16(splat16(-0.5F), square, 1 - head);
  result.cos = head + fma16(square * square, POLYNOMIAL16(square, kFloatCosPoly), fnma16(r, low, lost));
  return result;
}

/// The sign changes where the second bit of `turns` is set.
INLAY_INLINE v16f turned16(v16f x, v16i turns) { return (v16f)((v16i)x ^ ((turns & 2) << 30)); }

INLAY_INLINE v16f float_sin_of(v16f x) {
  const FloatSinCos s = float_sin_cos(x);
  const v16f value = select16((s.turns & 1) != 0, s.cos, s.sin);
  return by_class_of16(x, turned16(value, s.turns), 0x00000122);  // 1: +-0 as it is
}

INLAY_INLINE v16f float_cos_of(v16f x) {
  const FloatSinCos s = float_sin_cos(x);
  const v16f value = select16((s.turns & 1) != 0, s.sin, s.cos);
  return turned16(value, s.turns + 1);
}
