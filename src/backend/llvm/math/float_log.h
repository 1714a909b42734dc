#pragma once
// log(2^n m) = n ln2 - log(c) + log(1 + r), as in table_log.h, sixteen floats at a time.
//
// There is no second table for what rounding loses of log(c): c was chosen so that it loses nothing (fit.py), nor does
// n ln2 - log(c) for n = -1 and 0, where the result is small.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"

INLAY_INLINE v16f float_log_by_class_of(v16f x, v16f result) { return by_class_of16(x, result, 0x03530422); }

/// `high` is everything but log(1 + r).
typedef struct {
  v16f n, c, r, high;
} FloatLogParts;

INLAY_INLINE FloatLogParts float_log_parts(v16f x) {
  FloatLogParts l;
  l.n = _mm512_getexp_ps(x);
  const v16f m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const v16i index = (v16i)m >> 19;
  l.c = entry16(kFloatLogReciprocal, index);
  l.r = fma16(m, l.c, splat16(-1));
  l.high = fma16(l.n, splat16(kFloatLn2), entry16(kFloatLogTable, index));
  return l;
}

INLAY_INLINE v16f float_log1p_of_small(v16f r) { return fma16(r * r, POLYNOMIAL16(r, kFloatLogPoly), r); }

INLAY_INLINE v16f float_log_of(v16f x) {
  const FloatLogParts l = float_log_parts(x);
  return float_log_by_class_of(x, l.high + float_log1p_of_small(l.r));
}

/// What 1 + x loses is added to r.
INLAY_INLINE v16f float_log1p_of(v16f x) {
  const v16f u = x + 1;
  const v16f rest = x - (u - 1);
  const FloatLogParts l = float_log_parts(u);
  const v16f r = fma16(scale16(rest, -l.n), l.c, l.r);
  return with_sign_of16(float_log_by_class_of(u, l.high + float_log1p_of_small(r)), x);
}

/// log(1 + e + e_low) for 0 <= e <= 1: 1 + e is its own mantissa.
INLAY_INLINE v16f float_log1p_of_fraction(FloatPair e) {
  const v16f u = at_most16(0x1.fffffep+0f, e.high + 1);
  const v16f rest = (e.high - (u - 1)) + e.low;
  const v16i index = (v16i)u >> 19;
  const v16f c = entry16(kFloatLogReciprocal, index);
  const v16f first = fma16(u, c, splat16(-1)), second = rest * c, r = first + second;
  return entry16(kFloatLogTable, index) + (first + fma16(r * r, POLYNOMIAL16(r, kFloatLogPoly), second));
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
INLAY_INLINE v16f float_softplus_of(v16f x) {
  return at_least16(0, x) + float_log1p_of_fraction(float_exp_of_minus_abs(x));
}

/// n + log2(1/c) + log2(1 + r), the factor of r in two parts.
INLAY_INLINE v16f float_log2_of(v16f x) {
  const v16f n = _mm512_getexp_ps(x);
  const v16f m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const v16i index = (v16i)m >> 19;
  const v16f r = fma16(m, entry16(kFloatLog2Reciprocal, index), splat16(-1));
  const v16f low = r * fma16(r, POLYNOMIAL16(r, kFloatLog2Poly), splat16(kFloatLog2ELow));
  const v16f sum = fma16(r, splat16(kFloatLog2E), low);
  return float_log_by_class_of(x, (n + entry16(kFloatLog2Table, index)) + sum);
}
