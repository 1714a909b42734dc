#pragma once
// INLAY_LANES doubles at a time: 8, 4, 2 or 1. What C has no operator for is in the header of each width.
//
// Whatever stands here must compile to straight-line code without calls: the emitter copies the one basic block of a
// function into its loop, and branches could not come along. With one lane it is C99, which the C backend has in its
// programs: there a comparison is 0 or 1, not all bits of a lane, and serves as a condition only.
#if INLAY_LANES == 1
#include "one_lane.h"
#else
#include "lanes.h"
#endif

INLAY_INLINE vd abs_d(vd x) { return of_bits_d(bits_d(x) & INT64_MAX); }

INLAY_INLINE vd with_sign_of(vd x, vd sign) { return of_bits_d((bits_d(x) & INT64_MAX) | (bits_d(sign) & INT64_MIN)); }

/// What rounds a number k to multiples of 2^-bits when it is added. The sum has k + 2046, whose half is the bias of an
/// exponent, in its last bits.
#define ROUND_TO(bits) (0x1.8p+52 / (1 << (bits)) + 2046)

#include "fused.h"

#if INLAY_LANES == 8
#include "vector_avx512.h"
#elif INLAY_LANES == 4
#include "vector_avx2.h"
#elif INLAY_LANES == 2
#include "vector_2.h"
#else
#include "narrow_scale.h"
#include "vector_bits.h"
#endif

/// x where it is nan.
INLAY_INLINE vd clamp(vd x, double low, double high) { return min_d(splat(high), max_d(splat(low), x)); }

/// 1 / x to three bits, as a factor of what a rounding lost: a difference of bits is nearly one of logarithms.
INLAY_INLINE vd rough_reciprocal(vd x) { return of_bits_d(difference_i(splat_i(0x7fde623822fc16e6), bits_d(x))); }

/// (n + n_low) / (d + d_low), rounded: the quotient of the first parts and its rest.
INLAY_INLINE vd quotient_of_two(vd n, vd n_low, vd d, vd d_low) {
  const vd inverse = 1 / d;
  const vd q = n * inverse;
  return fma_d(rest_of_quotient(q, d, n) + fnma_d(q, d_low, n_low), inverse, q);
}

/// What a function is near the point: `first`, the value at the middle of a piece, and what is added to it.
typedef struct {
  vd first, rest;
} Piece;

/// first + (low + x P(x)): a row of the table has first, low and the coefficients of a piece.
#define PIECEWISE(x, index, table, terms) piecewise(x, index, &table[0][0], sizeof(table[0]) / sizeof(double), terms)
INLAY_INLINE Piece piecewise(vd x, vi index, const double* rows, int stride, int terms) {
  vd sum = splat(0), c[4];
#pragma clang loop unroll(full)
  for (int column = terms + 1; column >= 0; --column) {
    if (column % 4 == 3 || column == terms + 1) lookup_4(rows + column / 4 * 4, stride, index, c);
    if (column > 0) sum = column == terms + 1 ? c[column % 4] : fma_d(sum, x, c[column % 4]);
  }
  const Piece piece = {c[0], sum};
  return piece;
}

/// The same in an even and an odd half, which do not wait for each other: for functions so long that the processor
/// does not look far enough ahead to fill the waiting. The linear term goes into `first`, with what its roundings lose
/// in the rest: the pieces are so wide that the function doubles within one.
#define PIECEWISE_IN_HALVES(x, index, table, terms) \
  piecewise_in_halves(x, index, &table[0][0], sizeof(table[0]) / sizeof(double), terms)
INLAY_INLINE Piece piecewise_in_halves(vd x, vi index, const double* rows, int stride, int terms) {
  const vd square = x * x;
  vd sum = splat(0), other = splat(0), c[4];
#pragma clang loop unroll(full)
  for (int column = terms + 1; column > 2; --column) {
    if (column % 4 == 3 || column == terms + 1) lookup_4(rows + column / 4 * 4, stride, index, c);
    const vd next = column > terms - 1 ? c[column % 4] : fma_d(sum, square, c[column % 4]);
    sum = other, other = next;
  }
  const vd linear = x * c[2];
  const vd linear_low = product_rest(x, c[2], linear);
  const vd first = c[0] + linear;
  const vd low = (c[1] + linear_low) + ((c[0] - first) + linear);
  const Piece piece = {first, fma_d(square, fma_d(sum, x, other), low)};
  return piece;
}

/// Which of 16 quarters of binades x is in (the last exponent bits and the first two mantissa bits), and its middle.
typedef struct {
  vi index;
  vd middle;
} Quarter;

INLAY_INLINE Quarter quarter_of(vd x) {
  const int64_t lowest = (int64_t)1 << 50;
  const Quarter quarter = {shifted_right(bits_d(x), 50), of_bits_d((bits_d(x) & -lowest) | lowest / 2)};
  return quarter;
}

/// Which of 16 halves of binades x is in (the last three exponent bits and the first mantissa bit), and its middle. The
/// four binades from 2 on are the first eight.
INLAY_INLINE Quarter half_of(vd x) {
  const int64_t lowest = (int64_t)1 << 51;
  const Quarter half = {shifted_right(bits_d(x), 51), of_bits_d((bits_d(x) & -lowest) | lowest / 2)};
  return half;
}

/// Horner, highest coefficient last. The bound is known where it is used, so the loop unrolls.
#define POLYNOMIAL(x, coefficients) polynomial(x, coefficients, sizeof(coefficients) / sizeof(double))
INLAY_INLINE vd polynomial(vd x, const double* coefficients, int count) {
  vd sum = splat(coefficients[count - 1]);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; --i) sum = fma_d(sum, x, splat(coefficients[i]));
  return sum;
}

/// The same by pairs of coefficients, which do not wait for each other: half as long a chain of as many operations.
#define POLYNOMIAL_IN_PAIRS(x, square, coefficients) \
  polynomial_in_pairs(x, square, coefficients, sizeof(coefficients) / sizeof(double))
INLAY_INLINE vd polynomial_in_pairs(vd x, vd square, const double* coefficients, int count) {
  const int last = (count - 1) / 2 * 2;
  vd sum = splat(coefficients[last]);
  if (count % 2 == 0) sum = fma_d(splat(coefficients[count - 1]), x, sum);
#pragma clang loop unroll(full)
  for (int i = last - 2; i >= 0; i -= 2) {
    sum = fma_d(sum, square, fma_d(splat(coefficients[i + 1]), x, splat(coefficients[i])));
  }
  return sum;
}
