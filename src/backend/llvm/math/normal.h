#pragma once
// The standard normal distribution function and its logarithm, from the parts of erfc.
#include "coefficients.h"
#include "erf.h"
#include "table_log.h"
#include "vector_types.h"

/// The standard normal distribution function: erfc(-x / sqrt 2) / 2, with -x / sqrt 2 in two parts.
INLAY_INLINE v8d ndtr_of(v8d any) {
  const v8d x = clamp(any, -40, 40);
  const v8d y = x * -kSqrtHalf;
  const v8d low = fma8(x, splat(-kSqrtHalfLow), fma8(x, splat(-kSqrtHalf), -y));
  return 0.5 * erfc_of_two(y, with_sign_of(abs8(low), (v8d)((v8i)low ^ (v8i)y)));
}

/// log ndtr(x) for x > -37. Left of -1 it is log(erfcx(-x / sqrt 2) / 2) - x^2 / 2, right of it log1p(-ndtr(-x)), and
/// both logarithms are one.
INLAY_INLINE v8d log_ndtr_of(v8d x) {
  const v8i left = x < -1;
  const v8d y = _mm512_min_pd(splat(28), abs8(x * kSqrtHalf));
  const Erfcx f = erfcx_parts(y);
  const v8d above = ndtr_of(-x);
  const v8d u_right = 1 - above;
  const v8d rest_right = (1 - u_right) - above;
  const v8d u_left = 0.5 * (f.first + f.rest);
  const v8d u = select8(left, u_left, u_right);
  const LogParts l = log_parts(u);
  const v8d log = log_of_parts(l, scale(select8(left, splat(0), rest_right), -l.n));
  const v8d square = x * x;
  const v8d square_low = fma8(x, x, -square);
  return select8(left, fma8(splat(-0.5), square, fma8(splat(-0.5), square_low, log)), log_by_class_of(u, -abs8(log)));
}
