#pragma once
// arcsin and arccos from one polynomial: arcsin(s) = s + s^3 P(s^2) for 0 <= s <= 1/2.
//
// From 1/2 on arcsin(x) = pi/2 - 2 arcsin(s) with s^2 = (1 - x) / 2, which is exact. The polynomial needs s^2 only, so
// it does not wait for the root.
#include "coefficients.h"
#include "sqrt.h"
#include "vector_types.h"

/// arcsin(s) = s + rest, where s is |x| up to 1/2 (`near`), else sqrt((1 - |x|) / 2).
typedef struct {
  v8i near;
  v8d s, rest;
} ArcsinParts;

INLAY_INLINE ArcsinParts arcsin_parts(v8d x) {
  const v8d y = abs8(x);
  ArcsinParts a;
  a.near = y < 0.5;
  const v8d square = select8(a.near, y * y, fnma8(y, splat(0.5), splat(0.5)));
  const Root root = root_parts(square);
  a.s = select8(a.near, y, root.high);
  const v8d low = select8(a.near, splat(0), root.rest * root.half_inverse);
  a.rest = fma8((a.s + low) * square, POLYNOMIAL(square, kArcsinPoly), low);
  return a;
}

/// angle + factor arcsin(s), where the angle is a multiple of pi / 2 and not smaller than the other, or 0.
INLAY_INLINE v8d add_to_angle(v8d angle, v8d factor, ArcsinParts a) {
  const v8d sum = fma8(factor, a.s, angle);
  const v8d lost = fma8(factor, a.s, angle - sum);
  return sum + fma8(factor, a.rest, fma8(angle, splat(kPiLost), lost));
}

INLAY_INLINE v8d arcsin_of(v8d x) {
  const ArcsinParts a = arcsin_parts(x);
  const v8d angle = select8(a.near, splat(0), splat(kHalfPi));
  const v8d factor = select8(a.near, splat(1), splat(-2));
  return with_sign_of(add_to_angle(angle, factor, a), x);
}

/// pi/2 - arcsin(x) up to 1/2; 2 arcsin(s) from there on, and pi less that on the left.
INLAY_INLINE v8d arccos_of(v8d x) {
  const ArcsinParts a = arcsin_parts(x);
  const v8d angle = select8(a.near, splat(kHalfPi), select8(x < 0, splat(kPi), splat(0)));
  const v8d factor = (v8d)((v8i)select8(a.near, splat(-1), splat(2)) ^ ((v8i)x & (long)0x8000000000000000L));
  return add_to_angle(angle, factor, a);
}
