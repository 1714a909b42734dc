#pragma once
// e^x = 2^n 2^(j/16) e^r with |r| <= ln2/32: a table in registers and a short polynomial.
//
// Adding a large constant rounds x / ln2 to sixteenths, leaves j in the low bits and n + j/16 as a number, whose floor
// the scaling instruction takes itself. So there is no integer arithmetic, and gradual underflow and overflow are
// right.
#include "coefficients.h"
#include "vector_types.h"

// 1.5 x 2^48: one unit in the last place is 1/16.
#define kRoundToSixteenths 0x1.8p+48

/// e^x in parts: 2^floor(k) (high + high * p) with p = e^r - 1.
typedef struct {
  v8d k, high, p;
  v8i index;
} ExpParts;

/// |x| must stay below 1e4.
INLAY_INLINE ExpParts exp_parts(v8d x) {
  ExpParts e;
  const v8d shifted = fma8(x, splat(kInverseLn2), splat(kRoundToSixteenths));
  e.index = (v8i)shifted;
  e.k = shifted - splat(kRoundToSixteenths);
  const v8d r = fnma8(e.k, splat(kLn2Low), fnma8(e.k, splat(kLn2), x));
  e.high = lookup16(kExpTable, e.index);
  e.p = fma8(r * r, POLYNOMIAL(r, kExpPoly), r);
  return e;
}

INLAY_INLINE v8d exp_of(v8d x) {
  const ExpParts e = exp_parts(clamp(x, -800, 800));
  return scale(fma8(e.high, e.p, e.high), e.k);
}

/// e^-|x|, a little closer than exp_of: what follows it has errors of its own.
INLAY_INLINE v8d exp_of_minus_abs(v8d x) {
  const ExpParts e = exp_parts(_mm512_max_pd(splat(-800), -abs8(x)));
  return scale(e.high + fma8(e.high, e.p, lookup16(kExpTableLow, e.index)), e.k);
}

/// 2^x: the rest after sixteenths is exact, so only its product with ln2 is rounded.
INLAY_INLINE v8d exp2_of(v8d x) {
  const v8d y = clamp(x, -1100, 1100);
  const v8d shifted = y + kRoundToSixteenths;
  const v8d k = shifted - splat(kRoundToSixteenths);
  const v8d r = (y - k) * kLn2;
  const v8d high = lookup16(kExpTable, (v8i)shifted);
  return scale(fma8(high, fma8(r * r, POLYNOMIAL(r, kExpPoly), r), high), k);
}

/// e^x - 1 as 2^floor(k) (high + low); the sum is not yet rounded.
///
/// Around 0 (|k| <= 1/16) the table is not used, so that nothing cancels: the polynomial reaches three times as far.
typedef struct {
  v8d k, high, low;
  v8d table, table_low, p;  // e^x itself is 2^floor(k) (table (1 + p) + table_low)
} Expm1Parts;

INLAY_INLINE Expm1Parts expm1_parts(v8d x) {
  Expm1Parts e;
  const v8d shifted = fma8(x, splat(kInverseLn2), splat(kRoundToSixteenths));
  const v8d rounded = shifted - splat(kRoundToSixteenths);
  const v8i far = abs8(rounded) > splat(0.0625);
  e.k = select8(far, rounded, splat(0));
  const v8i index = far ? (v8i)shifted : (v8i)splat(0);
  const v8d r = fnma8(e.k, splat(kLn2ShortLow), fnma8(e.k, splat(kLn2Short), x));
  e.table = lookup16(kExpTable, index);
  e.table_low = lookup16(kExpTableLow, index);
  e.p = fma8(r * r, POLYNOMIAL(r, kExpm1Poly), r);
  // table (1 + p) - 2^-n, the large parts first.
  const v8d one = scale(splat(1), -_mm512_floor_pd(e.k));
  e.high = e.table - one;
  const v8d lost = e.table - (e.high + one);
  e.low = fma8(e.table, e.p, e.table_low + lost);
  return e;
}
