#pragma once
// erf and erfc by piecewise polynomials whose coefficients are looked up in registers.
#include "coefficients.h"
#include "table_exp.h"
#include "vector_types.h"

// 1.5 x 2^52: one unit in the last place is 1.
#define kRoundToIntegers 0x1.8p+52

/// |x| = 25/64 j + r; at j = 0 the value is r times a polynomial, so that no digit is lost near 0. From 6.05 on it
/// is 1.
INLAY_INLINE vd erf_of(vd x) {
  const vd y = min_d(splat(6.05), abs_d(x));
  const vd shifted = fma_d(y, splat(kErfInverseWidth), splat(kRoundToIntegers));
  const vd r = fnma_d(shifted - splat(kRoundToIntegers), splat(kErfWidth), y);
  const vi index = (vi)shifted;
  const Piece piece = PIECEWISE(r, index, kErf);
  return with_sign_of(piece.first + piece.rest, x);
}

/// e^(y^2) erfc(y) for 0 <= y <= 28.
INLAY_INLINE Piece erfcx_parts(vd y) {
  const Quarter quarter = quarter_of(y + 2);
  return PIECEWISE(y - (quarter.middle - 2), quarter.index, kErfcx);
}

/// erfc(x) = e^(-x^2) f(x) with a smooth f, so the tail keeps its digits down to the subnormals; 2 - erfc(-x) on the
/// left.
INLAY_INLINE vd erfc_of(vd x) {
  const vd y = min_d(splat(28), abs_d(x));
  const Piece f = erfcx_parts(y);

  const vd square = y * y;
  const vd square_low = fma_d(y, y, -square);
  const ExpParts e = exp_parts(-square);
  const vd product = fma_d(e.high, f.first, fma_d(e.high, f.rest, e.rest * (f.first + f.rest)));
  const vd tail = scale(fnma_d(product, square_low, product), e.k);
  return select_d(x < 0, 2 - tail, tail);
}

/// e^(x^2) erfc(x) for -26 < x < 28: left of 0 it is 2 e^(x^2) less its mirror.
INLAY_INLINE vd erfcx_of(vd x) {
  const vd y = min_d(splat(28), abs_d(x));
  const Piece f = erfcx_parts(y);
  const vd right = f.first + f.rest;

  const vd square = y * y;
  const vd square_low = fma_d(y, y, -square);
  const ExpParts e = exp_parts(square);
  const vd power = e.high + e.rest;
  const vd twice = scale(fma_d(power, square_low, power), e.k + 1);
  return select_d(x < 0, twice - right, right);
}
