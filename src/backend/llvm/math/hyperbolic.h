#pragma once
// Hyperbolic functions and their inverses, from the parts of e^x and of the logarithm.
#include "coefficients.h"
#include "table_exp.h"
#include "table_log.h"
#include "vector_types.h"

/// e^|x| / 2, without overflow before its last bit.
INLAY_INLINE v8d half_exp_of_abs(v8d x) {
  const ExpParts e = exp_parts(_mm512_min_pd(splat(800), abs8(x)));
  return scale(e.high + fma8(e.high, e.p, lookup16(kExpTableLow, e.index)), e.k - 1);
}

INLAY_INLINE v8d cosh_of(v8d x) {
  const v8d half = half_exp_of_abs(x);
  return half + 0.25 / half;
}

/// Up to 1 a polynomial, from there e^x / 2 - e^-x / 2.
INLAY_INLINE v8d sinh_of(v8d x) {
  const v8d half = half_exp_of_abs(x);
  const v8d y = abs8(x);
  const v8d square = y * y;
  const v8d near = fma8(y * square, POLYNOMIAL(square, kSinhPoly), y);
  return with_sign_of(select8(y < 1, near, half - 0.25 / half), x);
}

/// (1 - e^-2|x|) / (1 + e^-2|x|), from t = e^-2|x| - 1 so that nothing cancels at 0: t / (t + 2), with what rounding
/// lost of t and of t + 2 brought back.
INLAY_INLINE v8d tanh_of(v8d x) {
  const Expm1Parts e = expm1_parts(_mm512_max_pd(splat(-60), -2 * abs8(x)));
  const v8d sum = e.high + e.low;
  const v8d t = scale(sum, e.k);
  const v8d t_low = scale((e.high - sum) + e.low, e.k);
  const v8d d = t + 2;
  const v8d d_low = (t - (d - 2)) + t_low;
  const v8d inverse = 1 / d;
  const v8d q = t * inverse;
  return with_sign_of(fma8(fnma8(q, d, t) + fnma8(q, d_low, t_low), inverse, q), x);
}

/// log((1 + |x|) / (1 - |x|)) / 2
INLAY_INLINE v8d arctanh_of(v8d x) {
  const v8d y = abs8(x);
  const v8d n = 1 + y, d = 1 - y;
  return with_sign_of(0.5 * log_of_quotient(n, y - (n - 1), d, (1 - d) - y), x);
}

/// log(x / (1 - x))
INLAY_INLINE v8d logit_of(v8d x) {
  const v8d d = 1 - x;
  return log_of_quotient(x, splat(0), d, (1 - d) - x);
}

/// log(1 + s) for s >= 0, and log(2 y) where y is so large that s is y + y.
INLAY_INLINE v8d log1p_or_log_twice(v8d s, v8d y) {
  const v8i far = y > 0x1p28;
  const v8d u = select8(far, y, 1 + s);
  const v8d rest = select8(far, splat(0), s - (u - 1));
  LogParts l = log_parts(u);
  const v8d scaled = scale(rest, -l.n);
  const v8d more = select8(far, splat(1), splat(0));
  l.high += more * kLogLn2;
  l.low += more * kLogLn2Low;
  return log_by_class_of(u, log_of_parts(l, scaled));
}

/// log(y + sqrt(y^2 + 1)) with y = |x|, as log1p of y + y^2 / (1 + sqrt(y^2 + 1)).
INLAY_INLINE v8d arcsinh_of(v8d x) {
  const v8d y = abs8(x);
  const v8d square = y * y;
  return with_sign_of(log1p_or_log_twice(y + square / (1 + sqrt8(square + 1)), y), x);
}

/// log(x + sqrt(x^2 - 1)) as log1p of d + sqrt(d (x + 1)) with d = x - 1, which is exact up to 2.
INLAY_INLINE v8d arccosh_of(v8d x) {
  const v8d d = x - 1;
  return select8(x < 1, splat(__builtin_nan("")), log1p_or_log_twice(d + sqrt8(d * (x + 1)), x));
}
