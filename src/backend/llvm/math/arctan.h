#pragma once
// arctan and arctan2 from one function: the angle of a point in the first quadrant.
#include "coefficients.h"
#include "vector_types.h"

/// arctan(a / b) for a, b >= 0, not both 0 or infinite, whose products with numbers up to 8 are normal.
///
/// a / b falls into one of sixteen pieces [c - ..., c + ...], and arctan(a / b) = arctan(c) + arctan(t) with
/// t = (a - c b) / (b + c a), |t| < 1/6. The first c is 0, so that small angles keep their digits; the last is
/// infinite: t = -b / a. `ratio` is a / b, rounded: it only picks the piece, and the polynomial reaches a bit
/// further.
INLAY_INLINE vd angle_of(vd a, vd b, vd ratio) {
  const vi index = quarter_of(min_d(splat(7.75), ratio + 0.5)).index;
  vd row[4];  // c, or 1 where it is infinite; 0 there, else 1; arctan(c) in two parts
  lookup_4(&kArctan[0][0], 4, index, row);
  const vd c = row[0], one = row[1];
  const vd n = rest_of_quotient(c, b, one * a), d = fma_d(c, a, one * b);
  const vd t = n / d;
  const vd square = t * t;
  const vd series = fma_d(t * square, POLYNOMIAL(square, kArctanPoly), row[3]);
  return row[2] + (t + series);
}

INLAY_INLINE vd arctan_of(vd x) {
  // From 2^60 on the angle is a right one.
  const vd y = min_d(splat(0x1p60), abs_d(x));
  return by_class_of(x, with_sign_of(angle_of(y, splat(1), y), x), 0x00000122);
}

/// The angle of (x, y), with the sign of y.
INLAY_INLINE vd arctan2_of(vd y, vd x) {
  const vd a = abs_d(y), b = abs_d(x);
  const vd angle = angle_of(a, b, a / b);
  return with_sign_of(select_d(x < 0, (kPi - angle) + kPiLow, angle), y);
}
