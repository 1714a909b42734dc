#pragma once
// erf and erfc by piecewise polynomials whose coefficients are looked up in registers.
#include "coefficients.h"
#include "table_exp.h"
#include "vector_types.h"

// 1.5 x 2^52: one unit in the last place is 1.
#define kRoundToIntegers 0x1.8p+52

/// |x| = 25/64 j + r; at j = 0 the value is r times a polynomial, so that no digit is lost near 0. For j = 0 and 1 one
/// r stands apart from the polynomial: its factor is near 1 there, and little of it is rounded. From 6.05 on it is 1.
INLAY_INLINE vd erf_of(vd x) {
  const vd y = min_d(splat(6.05), abs_d(x));
  const vd shifted = fma_d(y, splat(kErfInverseWidth), splat(kRoundToIntegers));
  const vd r = fnma_d(shifted - splat(kRoundToIntegers), splat(kErfWidth), y);
  const vi index = bits_d(shifted);
  const Piece piece = PIECEWISE(r, index, kErf, kErfTerms);
  const vd all = select_d(shifted < kRoundToIntegers + 2, r + piece.rest, piece.rest);
  return with_sign_of(piece.first + all, x);
}

/// e^(y^2) erfc(y) for 0 <= y <= 28.
INLAY_INLINE Piece erfcx_parts(vd y) {
  const Quarter quarter = quarter_of(y + 2);
  return PIECEWISE(y - (quarter.middle - 2), quarter.index, kErfcx, kErfcxTerms);
}

/// f e in two parts, but for the power of two.
INLAY_INLINE Sum times_parts(Piece f, ExpParts e) {
  const vd product = e.high * f.first;
  const vd lost = product_rest(e.high, f.first, product);
  const Sum sum = {product, fma_d(e.high, f.rest, fma_d(e.rest, f.first + f.rest, lost))};
  return sum;
}

/// f e^x with e^x = e (1 + more), rounded once.
INLAY_INLINE vd times_power(Piece f, ExpParts e, vd more) {
  const Sum sum = times_parts(f, e);
  return scale_rounded(sum.high + fma_d(sum.high + sum.low, more, sum.low), e.shifted, kQuarters);
}

/// erfc(x) = e^(-x^2) f(x) with a smooth f, so the tail keeps its digits down to the subnormals; 2 - erfc(-x) on the
/// left.
INLAY_INLINE vd erfc_of(vd x) {
  const vd y = min_d(splat(28), abs_d(x));
  const Piece f = erfcx_parts(y);

  const vd square = y * y;
  const ExpParts e = exp_parts(-square);
  const vd tail = times_power(f, e, -product_rest(y, y, square));
  return select_d(x < 0, 2 - tail, tail);
}

/// e^(x^2) erfc(x) for -26 < x < 28: left of 0 it is 2 e^(x^2) less its mirror.
INLAY_INLINE vd erfcx_of(vd x) {
  const vd y = min_d(splat(28), abs_d(x));
  const Piece f = erfcx_parts(y);
  const vd square = y * y;
  const vd square_low = product_rest(y, y, square);
  const ExpParts e = exp_parts(square);
  // e^(y^2) is `high` and what the square's low part and the table leave, which is less than a tenth of it.
  const vd high = scale_rounded(e.high, e.shifted + 1, kQuarters);
  const vd low = scale_rounded(fma_d(e.high + e.rest, square_low, e.rest), e.shifted + 1, kQuarters);
  const vd sum = high - f.first;
  const vd left = sum + (((high - sum) - f.first) + (low - f.rest));
  return select_d(x < 0, left, f.first + f.rest);
}
