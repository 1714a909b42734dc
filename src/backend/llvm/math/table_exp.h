#pragma once
// e^x = 2^n 2^(j/4) e^r with |r| <= ln2/8: a table of four numbers, which is one register of AVX2, and a polynomial.
//
// Adding a large constant (ROUND_TO) rounds k = x / ln2 to quarters and leaves j in the low bits, with n before it:
// what a lookup and a scaling by 2^n need. Gradual underflow and overflow are right.
#include "coefficients.h"
#include "vector_types.h"

#define kQuarters 2
#define kSixteenths 4

/// e^x in parts: 2^floor(k) (high + rest), rest = high (e^r - 1) and what rounding lost of high; below 0.16. `shifted`
/// is k rounded to quarters.
typedef struct {
  vd shifted, high, rest;
} ExpParts;

/// x - k ln2 for a k of at most 15 bits. Without fused multiply-adds ln2 is in two parts of which k times the first is
/// exact.
INLAY_INLINE vd less_ln2(vd x, vd k) {
#if INLAY_FUSED
  return fnma_d(k, splat(kLn2Low), fnma_d(k, splat(kLn2), x));
#else
  return (x - k * kLn2Short) - k * kLn2ShortLow;
#endif
}

/// e^r for what rounding to quarters left.
INLAY_INLINE ExpParts exp_parts_of(vd shifted, vd r) {
  vd power[2];
  lookup_quarter(&kExp[0][0], bits_d(shifted), power);
  const ExpParts e = {shifted, power[0],
                      fma_d(power[0], fma_d(r * r, POLYNOMIAL_IN_PAIRS(r, r * r, kExpPoly), r), power[1])};
  return e;
}

/// |x| must stay below 800.
INLAY_INLINE ExpParts exp_parts(vd x) {
  const vd shifted = fma_d(x, splat(kInverseLn2), splat(ROUND_TO(kQuarters)));
  return exp_parts_of(shifted, less_ln2(x, shifted - splat(ROUND_TO(kQuarters))));
}

INLAY_INLINE vd exp_from(ExpParts e) { return scale_rounded(e.high + e.rest, e.shifted, kQuarters); }

INLAY_INLINE vd exp_of(vd x) { return exp_from(exp_parts(clamp(x, -800, 800))); }

/// e^-|x| and what rounding lost of it.
typedef struct {
  vd high, low;
} Power;

INLAY_INLINE Power exp_of_minus_abs(vd x) {
  const ExpParts e = exp_parts(max_d(splat(-800), -abs_d(x)));
  const vd sum = e.high + e.rest;
  const Power power = {scale_rounded(sum, e.shifted, kQuarters),
                       scale_rounded((e.high - sum) + e.rest, e.shifted, kQuarters)};
  return power;
}

/// 2^x: the rest after quarters is exact, so only its product with ln2 is rounded.
INLAY_INLINE vd exp2_of(vd x) {
  const vd y = clamp(x, -1100, 1100);
  const vd shifted = y + ROUND_TO(kQuarters);
  return exp_from(exp_parts_of(shifted, (y - (shifted - splat(ROUND_TO(kQuarters)))) * kLn2));
}

/// e^x - 1 as 2^floor(k) (high + low); the sum is not yet rounded.
///
/// k is in sixteenths here. Around 0 (|k| <= 1/16) the table is not used, so that nothing cancels: the polynomial
/// reaches three times as far.
typedef struct {
  vd shifted, k, high, low;
  vd table, rest;  // e^x itself is 2^floor(k) (table + rest)
} Expm1Parts;

INLAY_INLINE Expm1Parts expm1_parts(vd x) {
  Expm1Parts e;
  const vd none = splat(ROUND_TO(kSixteenths));
  const vd shifted = fma_d(x, splat(kInverseLn2), none);
  e.shifted = select_d(abs_d(shifted - none) > splat(0.0625), shifted, none);
  e.k = e.shifted - none;
  const vd r = fnma_d(e.k, splat(kLn2ShortLow), fnma_d(e.k, splat(kLn2Short), x));
  vd power[2];
  lookup_2(&kExpm1[0][0], 2, bits_d(e.shifted), power);
  e.table = power[0];
  // table (1 + r + tail) - 2^-n, the large parts first; what is lost around 0 is nothing but the rounding of r^2 / 2.
  const vd tail = fma_d(e.table, (r * r) * POLYNOMIAL_IN_PAIRS(r, r * r, kExpm1Poly), power[1]);
  e.rest = fma_d(e.table, r, tail);
  const vd one = scale_near(splat(1), max_d(splat(-1000), -floor_d(e.k)));
  const vd difference = e.table - one;
  const vd added = difference - e.table;
  const vd lost_one = (e.table - (difference - added)) - (one + added);
  const Sum sum = product_added(e.table, r, difference);
  e.high = sum.high;
  e.low = lost_one + (sum.low + tail);
  return e;
}

INLAY_INLINE vd expm1_of(vd x) {
  const Expm1Parts e = expm1_parts(clamp(x, -60, 800));
  return with_sign_of(scale_rounded(e.high + e.low, e.shifted, kSixteenths), x);
}

/// 1 / (1 + e^-x), or e^x / (1 + e^x) left of 0: of e^-|x|, which softplus has too.
INLAY_INLINE vd sigmoid_of(vd x) {
  const Power e = exp_of_minus_abs(x);
  const vi left = x < 0;
  const vd d = 1 + e.high;
  const vd d_low = ((1 - d) + e.high) + e.low;
  return quotient_of_two(select_d(left, e.high, splat(1)), select_d(left, e.low, splat(0)), d, d_low);
}
