#pragma once
// The cube root: a polynomial to 20 bits, then one step of Halley's method, whose correction is all that is rounded.
#include "coefficients.h"
#include "vector_types.h"

INLAY_INLINE vd cbrt_of(vd x) {
  const vd n = exponent_d(x);
  const vd m = mantissa_d(x);
  // n = 3 third + j, and |x| = 2^(3 third) (2^j m). Around no multiple of 3 is a rounding of n / 3 wrong.
  const vd third = floor_d(fma_d(n, splat(0x1.5555555555555p-2), splat(0x1p-10)));
  const vd j = fnma_d(splat(3), third, n);
  const vd a = scale_near(m, j);
  const vd root = select_d(j > 1.5, splat(kCbrt4), select_d(j > 0.5, splat(kCbrt2), splat(1)));
  const vd y = POLYNOMIAL(m, kCbrtPoly) * root;
  const vd square = y * y;
  const vd rest = product_rest(square, y, a) + product_rest(y, y, square) * y;  // y^3 - a
  const vd better = fnma_d(y, rest / fma_d(splat(3), a, 2 * rest), y);
  return by_class_of(x, with_sign_of(scale_near(better, third), x), 0x00111122);
}
