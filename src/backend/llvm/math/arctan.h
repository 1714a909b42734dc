#pragma once
// arctan and arctan2 from one function: the angle of a point in the first quadrant.
#include "coefficients.h"
#include "vector_types.h"

/// arctan(a / b) for a, b >= 0, not both 0 or infinite, whose products with numbers up to 8 are normal.
///
/// a / b falls into one of sixteen pieces [c - ..., c + ...], and arctan(a / b) = arctan(c) + arctan(t) with
/// t = (a - c b) / (b + c a), |t| < 1/6. The first c is 0, so that small angles keep their digits; the last is
/// infinite: t = -b / a. `ratio` is a / b to 13 bits: it only picks the piece, and the polynomial reaches a bit
/// further.
INLAY_INLINE v8d angle_of(v8d a, v8d b, v8d ratio) {
  const v8i index = quarter_of(_mm512_min_pd(splat(7.75), ratio + 0.5)).index;
  const v8d c = lookup16(kArctanCentre, index);     // 1 where c is infinite
  const v8d scale = lookup16(kArctanScale, index);  // 0 where c is infinite, else 1
  const v8d n = fnma8(c, b, scale * a), d = fma8(c, a, scale * b);
  const v8d t = n / d;
  const v8d square = t * t;
  const v8d series = fma8(t * square, POLYNOMIAL(square, kArctanPoly), lookup16(kArctanLow, index));
  return lookup16(kArctanHigh, index) + (t + series);
}

INLAY_INLINE v8d arctan_of(v8d x) {
  // From 2^60 on the angle is a right one.
  const v8d y = _mm512_min_pd(splat(0x1p60), abs8(x));
  return by_class_of(x, with_sign_of(angle_of(y, splat(1), y), x), 0x00000122);
}

/// The angle of (x, y), with the sign of y.
INLAY_INLINE v8d arctan2_of(v8d y, v8d x) {
  const v8d a = abs8(y), b = abs8(x);
  const v8d angle = angle_of(a, b, a * rough_reciprocal(b));
  return with_sign_of(select8(x < 0, (kPi - angle) + kPiLow, angle), y);
}
