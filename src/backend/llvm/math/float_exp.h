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
  vf k, r, r_low;
} FloatReduced;

INLAY_INLINE FloatReduced float_reduced(vf x) {
  FloatReduced f;
  f.k = fma_f(x, splat_f(kFloatInverseLn2), splat_f(kRoundToWhole)) - splat_f(kRoundToWhole);
  f.r = rest_of_quotient_f(f.k, splat_f(kFloatLn2), x);
  f.r_low = f.k * -kFloatLn2Low;
  return f;
}

/// e^x = 2^k (1 + p).
typedef struct {
  vf k, p;
} FloatExpParts;

INLAY_INLINE FloatExpParts float_exp_parts(vf x) {
  const FloatReduced f = float_reduced(x);
  const vf r = f.r + f.r_low;
  const FloatExpParts e = {f.k, f.r + fma_f(r * r, POLYNOMIAL_F(r, kFloatExpPoly), f.r_low)};
  return e;
}

/// 1 + r slope + r^2 p; without fused multiply-adds with what the first sum loses, where the product would be rounded.
INLAY_INLINE vf float_one_plus(vf r, float slope, vf p) {
#if INLAY_FUSED_FLOATS
  return fma_f(r, fma_f(r, p, splat_f(slope)), splat_f(1));
#else
  const vf first = r * slope, high = 1 + first;
  return high + (((1 - high) + first) + r * r * p);
#endif
}

INLAY_INLINE vf float_exp_of(vf x) {
  const FloatReduced f = float_reduced(clamp_f(x, -105, 89));
  const vf r = fnma_f(f.k, splat_f(kFloatLn2Low), f.r);
  return scale_f(float_one_plus(r, 1, POLYNOMIAL_F(r, kFloatExpPoly)), f.k);
}

/// 2^x: what is left after the whole part is exact.
INLAY_INLINE vf float_exp2_of(vf x) {
  const vf y = clamp_f(x, -151, 129);
  const vf k = (y + kRoundToWhole) - splat_f(kRoundToWhole);
  const vf r = y - k;
  return scale_f(float_one_plus(r, kFloatLn2, POLYNOMIAL_F(r, kFloatExp2Poly)), k);
}

/// e^-|x| as high + low; the low part is what rounding lost.
typedef struct {
  vf high, low;
} FloatPair;

INLAY_INLINE FloatPair float_exp_of_minus_abs(vf x) {
  const FloatExpParts e = float_exp_parts(at_least_f(-105, -abs_f(x)));
  const vf high = 1 + e.p;
  const FloatPair pair = {scale_f(high, e.k), scale_f(e.p - (high - 1), e.k)};
  return pair;
}

/// 2^k ((1 - 2^-k) + (e^r - 1)), the large parts first, with what their sums lose.
INLAY_INLINE vf float_expm1_of(vf x) {
  const FloatReduced f = float_reduced(clamp_f(x, -17.4f, 89));
  const vf r = f.r + f.r_low;
  const vf one = scale_f(splat_f(1), -f.k);
  const vf difference = 1 - one;
  const vf lost_one = (1 - difference) - one;
  const vf sum = difference + f.r;
  const vf lost = (difference - sum) + f.r;
  const vf tail = fma_f(r * (r * r), POLYNOMIAL_F(r, kFloatExpCubic), f.r_low + (lost + lost_one));
  const vf rest = fma_f(0.5f * r, r, tail);
  return with_sign_of_f(scale_f(sum + rest, f.k), x);
}

/// e^-|x| never overflows: 1 / (1 + e) on the right, e / (1 + e) on the left. The quotient is corrected by what
/// rounding lost of its parts.
INLAY_INLINE vf float_sigmoid_of(vf x) {
  const FloatPair e = float_exp_of_minus_abs(x);
  const vfi left = x < 0;
  const vf n = select_f(left, e.high, splat_f(1)), n_low = select_f(left, e.low, splat_f(0));
  const vf d = 1 + e.high, d_low = ((1 - d) + e.high) + e.low;
  const vf inverse = reciprocal_f(d);
  const vf q = n * inverse;
  return fma_f(rest_of_quotient_f(q, d, n) + fnma_f(q, d_low, n_low), inverse, q);
}

/// Up to 0.9 a polynomial, from there 1 - 2 / (e^2|x| + 1), with e^2|x| + 1 = 2^k (1 + 2^-k + p).
INLAY_INLINE vf float_tanh_of(vf x) {
  const vf y = at_most_f(15, abs_f(x));
  const FloatExpParts e = float_exp_parts(y + y);
  const vf s = scale_f(splat_f(1), -e.k);
  const vf one = 1 + s;
  const vf d = one + e.p;
  const vf inverse = reciprocal_f(d);
  const vf far = fnma_f(s + s, fnma_f(inverse * inverse, (one - d) + e.p, inverse), splat_f(1));
  const vf square = y * y;
  const vf near = fma_f(y * square, POLYNOMIAL_F(square, kFloatTanhPoly), y);
  return with_sign_of_f(select_f(y < 0.9f, near, far), x);
}
