#pragma once
// The cube root: a polynomial to 20 bits, then one step of Halley's method, whose correction is all that is rounded.
#include "coefficients.h"
#include "vector_types.h"

INLAY_INLINE v8d cbrt_of(v8d x) {
  const v8d n = _mm512_getexp_pd(x);
  const v8d m = _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  // n = 3 third + j, and |x| = 2^(3 third) (2^j m). Around no multiple of 3 is a rounding of n / 3 wrong.
  const v8d third = _mm512_floor_pd(fma8(n, splat(0x1.5555555555555p-2), splat(0x1p-10)));
  const v8d j = fnma8(splat(3), third, n);
  const v8d a = scale(m, j);
  const v8d root = select8(j > 1.5, splat(kCbrt4), select8(j > 0.5, splat(kCbrt2), splat(1)));
  const v8d y = POLYNOMIAL(m, kCbrtPoly) * root;
  const v8d square = y * y;
  const v8d rest = fma8(square, y, -a) + fma8(y, y, -square) * y;  // y^3 - a
  const v8d better = fnma8(y, rest / fma8(splat(3), a, 2 * rest), y);
  return by_class_of(x, with_sign_of(scale(better, third), x), 0x00111122);
}
