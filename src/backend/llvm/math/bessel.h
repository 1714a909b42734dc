#pragma once
// Bessel's modified functions I_0 and I_1, from e^-|x| I(x), which is smooth: piecewise polynomials below 30, from
// there Hankel's expansion, a polynomial in 1/x over the root of x.
#include "coefficients.h"
#include "erf.h"
#include "table_exp.h"
#include "vector_types.h"

/// (1 / sqrt(2 pi) + q tail) / sqrt(y), in two parts, for q = 1/y.
typedef struct {
  vd q, root, root_low, inverse;
} Hankel;

INLAY_INLINE Hankel hankel_of(vd y) {
  const vd root = sqrt_d(y);
  const vd inverse = 1 / root;
  const Hankel h = {inverse * inverse, root, rest_of_quotient(root, root, y) * (0.5 * inverse), inverse};
  return h;
}

INLAY_INLINE Piece hankel_with(Hankel h, vd tail) {
  const vd first = kBesselConstant * h.inverse;
  const vd n_low = fma_d(h.q, tail, splat(kBesselConstantLow));
  const vd rest = rest_of_quotient(first, h.root, splat(kBesselConstant)) + fnma_d(first, h.root_low, n_low);
  const Piece piece = {first, rest * h.inverse};
  return piece;
}

INLAY_INLINE Piece select_piece(vi condition, Piece yes, Piece no) {
  const Piece piece = {select_d(condition, yes.first, no.first), select_d(condition, yes.rest, no.rest)};
  return piece;
}

/// e^-y I_0(y) for y >= 0.
INLAY_INLINE Piece scaled_i0(vd y, Hankel h) {
  const Quarter quarter = quarter_of(y + 2);
  const Piece near = PIECEWISE(y - (quarter.middle - 2), quarter.index, kBesselI0, kBesselI0Terms);
  return select_piece(y < 30, near, hankel_with(h, POLYNOMIAL(h.q, kBesselI0Tail)));
}

/// e^-y I_1(y) for y >= 0 as factor f: below 30 the factor is y, so that no digit is lost near 0.
typedef struct {
  vd factor;
  Piece f;
} ScaledI1;

INLAY_INLINE ScaledI1 scaled_i1(vd y, Hankel h) {
  const vi is_near = y < 30;
  const Quarter quarter = quarter_of(y + 2);
  const Piece near = PIECEWISE_IN_HALVES(y - (quarter.middle - 2), quarter.index, kBesselI1, kBesselI1Terms);
  const ScaledI1 i1 = {select_d(is_near, y, splat(1)),
                       select_piece(is_near, near, hankel_with(h, POLYNOMIAL(h.q, kBesselI1Tail)))};
  return i1;
}

/// From 714 on infinite, as i1.
INLAY_INLINE vd i0_of(vd x) {
  const vd y = min_d(splat(720), abs_d(x));
  const ExpParts e = exp_parts(y);
  const Sum product = times_parts(scaled_i0(y, hankel_of(y)), e);
  return scale_rounded(product.high + product.low, e.shifted, kQuarters);
}

INLAY_INLINE vd i1_of(vd x) {
  const vd y = min_d(splat(720), abs_d(x));
  const ScaledI1 i1 = scaled_i1(y, hankel_of(y));
  const ExpParts e = exp_parts(y);
  const Sum product = times_parts(i1.f, e);
  const vd sum = large_product_added(i1.factor, product.high, i1.factor * product.low);
  return with_sign_of(scale_rounded(sum, e.shifted, kQuarters), x);
}

/// e^-|x| I_v(x) for v = 0, 1 or -1.
INLAY_INLINE vd ive_of(vd v, vd x) {
  const vd y = abs_d(x);
  const vi is_even = v == 0;
  const Hankel h = hankel_of(y);
  const ScaledI1 i1 = scaled_i1(y, h);
  const Piece f = select_piece(is_even, scaled_i0(y, h), i1.f);
  const vd factor = select_d(is_even, splat(1), i1.factor);
  const vd value = select_d(y == INFINITY, splat(0), large_product_added(factor, f.first, factor * f.rest));
  return select_d((x < 0) & (v != 0), -value, value);
}
