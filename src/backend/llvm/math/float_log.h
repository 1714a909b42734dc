#pragma once
// log(2^n m) = n ln2 - log(c) + log(1 + r), as in table_log.h, sixteen floats at a time.
//
// There is no second table for what rounding loses of log(c): c was chosen so that it loses nothing (fit.py), nor does
// n ln2 - log(c) for n = -1 and 0, where the result is small.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"

INLAY_INLINE vf float_log_by_class_of(vf x, vf result) { return by_class_of_f(x, result, 0x03530422); }

/// `high` is everything but log(1 + r).
typedef struct {
  vf n, c, r, high;
} FloatLogParts;

INLAY_INLINE FloatLogParts float_log_parts(vf x) {
  FloatLogParts l;
  l.n = exponent_f(x);
  const vf m = mantissa_f(x);
  const vfi index = (vfi)m >> 19;
  l.c = lookup_f(kFloatLogReciprocal, index);
  l.r = fma_f(m, l.c, splat_f(-1));
  l.high = fma_f(l.n, splat_f(kFloatLn2), lookup_f(kFloatLogTable, index));
  return l;
}

INLAY_INLINE vf float_log1p_of_small(vf r) { return fma_f(r * r, POLYNOMIAL_F(r, kFloatLogPoly), r); }

INLAY_INLINE vf float_log_of(vf x) {
  const FloatLogParts l = float_log_parts(x);
  return float_log_by_class_of(x, l.high + float_log1p_of_small(l.r));
}

/// What 1 + x loses is added to r.
INLAY_INLINE vf float_log1p_of(vf x) {
  const vf u = x + 1;
  const vf rest = x - (u - 1);
  const FloatLogParts l = float_log_parts(u);
  const vf r = fma_f(scale_f(rest, -l.n), l.c, l.r);
  return with_sign_of_f(float_log_by_class_of(u, l.high + float_log1p_of_small(r)), x);
}

/// log(1 + e + e_low) for 0 <= e <= 1: 1 + e is its own mantissa.
INLAY_INLINE vf float_log1p_of_fraction(FloatPair e) {
  const vf u = at_most_f(0x1.fffffep+0f, e.high + 1);
  const vf rest = (e.high - (u - 1)) + e.low;
  const vfi index = (vfi)u >> 19;
  const vf c = lookup_f(kFloatLogReciprocal, index);
  const vf first = fma_f(u, c, splat_f(-1)), second = rest * c, r = first + second;
  return lookup_f(kFloatLogTable, index) + (first + fma_f(r * r, POLYNOMIAL_F(r, kFloatLogPoly), second));
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
INLAY_INLINE vf float_softplus_of(vf x) {
  return at_least_f(0, x) + float_log1p_of_fraction(float_exp_of_minus_abs(x));
}

/// n + log2(1/c) + log2(1 + r), the factor of r in two parts.
INLAY_INLINE vf float_log2_of(vf x) {
  const vf n = exponent_f(x);
  const vf m = mantissa_f(x);
  const vfi index = (vfi)m >> 19;
  const vf r = fma_f(m, lookup_f(kFloatLog2Reciprocal, index), splat_f(-1));
  const vf low = r * fma_f(r, POLYNOMIAL_F(r, kFloatLog2Poly), splat_f(kFloatLog2ELow));
  const vf sum = fma_f(r, splat_f(kFloatLog2E), low);
  return float_log_by_class_of(x, (n + lookup_f(kFloatLog2Table, index)) + sum);
}
