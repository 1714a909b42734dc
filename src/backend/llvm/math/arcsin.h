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
  vi near;
  vd s, rest;
} ArcsinParts;

INLAY_INLINE ArcsinParts arcsin_parts(vd x) {
  const vd y = abs_d(x);
  ArcsinParts a;
  a.near = y < 0.5;
  const vd square = select_d(a.near, y * y, fnma_d(y, splat(0.5), splat(0.5)));
  const Root root = root_parts(square);
  a.s = select_d(a.near, y, root.high);
  const vd low = select_d(a.near, splat(0), root.rest * root.half_inverse);
  a.rest = fma_d((a.s + low) * square, POLYNOMIAL(square, kArcsinPoly), low);
  return a;
}

/// angle + factor arcsin(s), where the angle is a multiple of pi / 2 and not smaller than the other, or 0.
INLAY_INLINE vd add_to_angle(vd angle, vd factor, ArcsinParts a) {
  const vd sum = fma_d(factor, a.s, angle);
  const vd lost = fma_d(factor, a.s, angle - sum);
  return sum + fma_d(factor, a.rest, fma_d(angle, splat(kPiLost), lost));
}

INLAY_INLINE vd arcsin_of(vd x) {
  const ArcsinParts a = arcsin_parts(x);
  const vd angle = select_d(a.near, splat(0), splat(kHalfPi));
  const vd factor = select_d(a.near, splat(1), splat(-2));
  return with_sign_of(add_to_angle(angle, factor, a), x);
}

/// pi/2 - arcsin(x) up to 1/2; 2 arcsin(s) from there on, and pi less that on the left.
INLAY_INLINE vd arccos_of(vd x) {
  const ArcsinParts a = arcsin_parts(x);
  const vd angle = select_d(a.near, splat(kHalfPi), select_d(x < 0, splat(kPi), splat(0)));
  const vd factor = of_bits_d(bits_d(select_d(a.near, splat(-1), splat(2))) ^ (bits_d(x) & INT64_MIN));
  return add_to_angle(angle, factor, a);
}
