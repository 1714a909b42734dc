#pragma once
// log(2^n m) = n ln2 - log(c) + log(1 + r) with 1 <= m < 2, c near 1/m from a table in registers, r = m c - 1.
//
// c has 5 bits behind the point, so r is exact. The first c is 1 and the last 1/2: near x = 1, from either side,
// n ln2 - log(c) is exactly 0 and log(1 + r) stands alone, with all its digits.
#include "coefficients.h"
#include "vector_types.h"

INLAY_INLINE v8d log_by_class_of(v8d x, v8d result) { return by_class_of(x, result, 0x03530422); }

/// Everything of the sum but log(1 + r): `high` is exact, or 0, and larger than r.
typedef struct {
  v8d n, c, r, high, low;
} LogParts;

INLAY_INLINE LogParts log_parts(v8d x) {
  LogParts l;
  l.n = _mm512_getexp_pd(x);
  const v8d m = _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const v8i index = (v8i)m >> 48;
  l.c = lookup16(kLogReciprocal, index);
  l.r = fma8(m, l.c, splat(-1));
  l.high = fma8(l.n, splat(kLogLn2), lookup16(kLogTable, index));
  l.low = fma8(l.n, splat(kLogLn2Low), lookup16(kLogTableLow, index));
  return l;
}

/// log(x) as high + low for x > 0; infinity and nan give nan.
typedef struct {
  v8d high, low;
} Log;

INLAY_INLINE Log log_in_two(v8d x) {
  const LogParts l = log_parts(x);
  Log result;
  result.high = l.high + l.r;
  const v8d lost = (l.high - result.high) + l.r;
  result.low = fma8(l.r * l.r, POLYNOMIAL(l.r, kLogPoly), l.low + lost);
  return result;
}

/// log(x (1 + rest / x)) but for the class of x; with x = 1 + y rounded and rest what the rounding lost it is log1p(y).
INLAY_INLINE v8d log_of_parts(LogParts l, v8d rest) {
  const v8d scaled = rest * l.c;
  const v8d r = l.r + scaled;
  const v8d sum = l.high + l.r;
  const v8d lost = (l.high - sum) + l.r;
  return sum + fma8(r * r, POLYNOMIAL(r, kLogPoly), l.low + (lost + scaled));
}

INLAY_INLINE v8d log_of(v8d x) {
  const Log l = log_in_two(x);
  return log_by_class_of(x, l.high + l.low);
}

/// log(x) times a constant in two parts.
INLAY_INLINE v8d log_scaled(v8d x, double factor, double factor_low) {
  const Log log = log_in_two(x);
  const v8d product = log.high * factor;
  const v8d rest = fma8(log.high, splat(factor), -product);
  return log_by_class_of(x, product + fma8(log.low, splat(factor), fma8(log.high, splat(factor_low), rest)));
}

/// log((n + n_low) / (d + d_low)), where the lows are what rounding lost of n and d: the quotient in two parts.
INLAY_INLINE v8d log_of_quotient(v8d n, v8d n_low, v8d d, v8d d_low) {
  const v8d inverse = 1 / d;
  const v8d q = n * inverse;
  const v8d rest = (fnma8(q, d, n) + fnma8(q, d_low, n_low)) * inverse;
  const LogParts l = log_parts(q);
  return log_by_class_of(q, log_of_parts(l, scale(rest, -l.n)));
}

INLAY_INLINE v8d log1p_of(v8d x) {
  const v8d u = x + 1;
  const v8d rest = x - (u - 1);
  const LogParts l = log_parts(u);
  return with_sign_of(log_by_class_of(u, log_of_parts(l, scale(rest, -l.n))), x);
}

/// log(1 + x) for 0 <= x <= 1: 1 + x is its own mantissa.
INLAY_INLINE v8d log1p_of_fraction(v8d x) {
  const v8d u = _mm512_min_pd(splat(0x1.fffffffffffffp+0), x + 1);
  const v8d rest = x - (u - 1);
  LogParts l;
  const v8i index = (v8i)u >> 48;
  l.c = lookup16(kLogReciprocal, index);
  l.r = fma8(u, l.c, splat(-1));
  l.high = lookup16(kLogTable, index);
  l.low = lookup16(kLogTableLow, index);
  return log_of_parts(l, rest);
}
