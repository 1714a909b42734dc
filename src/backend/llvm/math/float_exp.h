#pragma once
// e^x = 2^n e^r with |r| <= ln2/2, sixteen floats at a time.
//
// A polynomial of degree 6 takes one operation more than a table of sixteenths and one of degree 3, and has no rounded
// table in it.
#include "coefficients.h"
#include "float_types.h"

// 1.5 x 2^23: one unit in the last place is 1.
#define kRoundToWhole 0x1.8p+23f

/// x = k ln2 + r + r_low; r is exact.
typedef struct {
  v16f k, r, r_low;
} FloatReduced;

INLAY_INLINE FloatReduced float_reduced(v16f x) {
  FloatReduced f;
  f.k = fma16(x, splat16(kFloatInverseLn2), splat16(kRoundToWhole)) - splat16(kRoundToWhole);
  f.r = fnma16(f.k, splat16(kFloatLn2), x);
  f.r_low = f.k * -kFloatLn2Low;
  return f;
}

/// e^x = 2^k (1 + p).
typedef struct {
  v16f k, p;
} FloatExpParts;

INLAY_INLINE FloatExpParts float_exp_parts(v16f x) {
  const FloatReduced f = float_reduced(x);
  const v16f r = f.r + f.r_low;
  const FloatExpParts e = {f.k, f.r + fma16(r * r, POLYNOMIAL16(r, kFloatExpPoly), f.r_low)};
  return e;
}

INLAY_INLINE v16f float_exp_of(v16f x) {
  const FloatReduced f = float_reduced(clamp16(x, -105, 89));
  const v16f r = fnma16(f.k, splat16(kFloatLn2Low), f.r);
  const v16f slope = fma16(r, POLYNOMIAL16(r, kFloatExpPoly), splat16(1));
  return scale16(fma16(r, slope, splat16(1)), f.k);
}

/// 2^x: what is left after the whole part is exact.
INLAY_INLINE v16f float_exp2_of(v16f x) {
  const v16f y = clamp16(x, -151, 129);
  const v16f k = (y + kRoundToWhole) - splat16(kRoundToWhole);
  const v16f r = y - k;
  const v16f slope = fma16(r, POLYNOMIAL16(r, kFloatExp2Poly), splat16(kFloatLn2));
  return scale16(fma16(r, slope, splat16(1)), k);
}

/// e^-|x| as high + low; the low part is what rounding lost.
typedef struct {
  v16f high, low;
} FloatPair;

INLAY_INLINE FloatPair float_exp_of_minus_abs(v16f x) {
  const FloatExpParts e = float_exp_parts(at_least16(-105, -abs16(x)));
  const v16f high = 1 + e.p;
  const FloatPair pair = {scale16(high, e.k), scale16(e.p - (high - 1), e.k)};
  return pair;
}

/// 2^k ((1 - 2^-k) + (e^r - 1)), the large parts first. 1 - 2^-k + r is exact where much of it cancels (k = 1).
INLAY_INLINE v16f float_expm1_of(v16f x) {
  const FloatReduced f = float_reduced(clamp16(x, -20, 89));
  const v16f r = f.r + f.r_low;
  const v16f rest = fma16(r * r, POLYNOMIAL16(r, kFloatExpPoly), f.r_low);
  const v16f sum = (1 - scale16(splat16(1), -f.k)) + f.r;
  return with_sign_of16(scale16(sum + rest, f.k), x);
}

/// e^-|x| never overflows: 1 / (1 + e) on the right, e / (1 + e) on the left. The quotient is corrected by what
/// rounding lost of its parts.
INLAY_INLINE v16f float_sigmoid_of(v16f x) {
  const FloatPair e = float_exp_of_minus_abs(x);
  const v16i left = x < 0;
  const v16f n = select16(left, e.high, splat16(1)), n_low = select16(left, e.low, splat16(0));
  const v16f d = 1 + e.high, d_low = ((1 - d) + e.high) + e.low;
  const v16f inverse = near_reciprocal16(d);
  const v16f q = n * inverse;
  return fma16(fnma16(q, d, n) + fnma16(q, d_low, n_low), inverse, q);
}

/// Up to 0.6 a polynomial, from there 1 - 2 / (e^2|x| + 1).
INLAY_INLINE v16f float_tanh_of(v16f x) {
  const v16f y = at_most16(15, abs16(x));
  const FloatReduced f = float_reduced(y + y);
  const v16f r = fnma16(f.k, splat16(kFloatLn2Low), f.r);
  const v16f slope = fma16(r, POLYNOMIAL16(r, kFloatExpPoly), splat16(1));
  const v16f power = scale16(fma16(r, slope, splat16(1)), f.k);
  const v16f far = fnma16(splat16(2), near_reciprocal16(power + 1), splat16(1));
  const v16f square = y * y;
  const v16f near = fma16(y * square, POLYNOMIAL16(square, kFloatTanhPoly), y);
  return with_sign_of16(select16(y < 0.6f, near, far), x);
}
