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
  vd k, high, low, p;  // low: what rounding lost of high
} ExpParts;

/// |x| must stay below 1e4.
INLAY_INLINE ExpParts exp_parts(vd x) {
  ExpParts e;
  const vd shifted = fma_d(x, splat(kInverseLn2), splat(kRoundToSixteenths));
  e.k = shifted - splat(kRoundToSixteenths);
  const vd r = fnma_d(e.k, splat(kLn2Low), fnma_d(e.k, splat(kLn2), x));
  vd power[2];
  lookup_2(&kExp[0][0], 2, (vi)shifted, power);
  e.high = power[0];
  e.low = power[1];
  e.p = fma_d(r * r, POLYNOMIAL(r, kExpPoly), r);
  return e;
}

INLAY_INLINE vd exp_of(vd x) {
  const ExpParts e = exp_parts(clamp(x, -800, 800));
  return scale(fma_d(e.high, e.p, e.high), e.k);
}

/// e^-|x|, a little closer than exp_of: what follows it has errors of its own.
INLAY_INLINE vd exp_of_minus_abs(vd x) {
  const ExpParts e = exp_parts(max_d(splat(-800), -abs_d(x)));
  return scale(e.high + fma_d(e.high, e.p, e.low), e.k);
}

/// 2^x: the rest after sixteenths is exact, so only its product with ln2 is rounded.
INLAY_INLINE vd exp2_of(vd x) {
  const vd y = clamp(x, -1100, 1100);
  const vd shifted = y + kRoundToSixteenths;
  const vd k = shifted - splat(kRoundToSixteenths);
  const vd r = (y - k) * kLn2;
  const vd high = lookup_1(&kExp[0][0], 2, (vi)shifted);
  return scale(fma_d(high, fma_d(r * r, POLYNOMIAL(r, kExpPoly), r), high), k);
}

/// e^x - 1 as 2^floor(k) (high + low); the sum is not yet rounded.
///
/// Around 0 (|k| <= 1/16) the table is not used, so that nothing cancels: the polynomial reaches three times as far.
typedef struct {
  vd k, high, low;
  vd table, table_low, p;  // e^x itself is 2^floor(k) (table (1 + p) + table_low)
} Expm1Parts;

INLAY_INLINE Expm1Parts expm1_parts(vd x) {
  Expm1Parts e;
  const vd shifted = fma_d(x, splat(kInverseLn2), splat(kRoundToSixteenths));
  const vd rounded = shifted - splat(kRoundToSixteenths);
  const vi far = abs_d(rounded) > splat(0.0625);
  e.k = select_d(far, rounded, splat(0));
  const vi index = far ? (vi)shifted : (vi)splat(0);
  const vd r = fnma_d(e.k, splat(kLn2ShortLow), fnma_d(e.k, splat(kLn2Short), x));
  vd power[2];
  lookup_2(&kExp[0][0], 2, index, power);
  e.table = power[0];
  e.table_low = power[1];
  e.p = fma_d(r * r, POLYNOMIAL(r, kExpm1Poly), r);
  // table (1 + p) - 2^-n, the large parts first.
  const vd one = scale(splat(1), -floor_d(e.k));
  e.high = e.table - one;
  const vd lost = e.table - (e.high + one);
  e.low = fma_d(e.table, e.p, e.table_low + lost);
  return e;
}
