#pragma once
// Eight doubles at a time, and the few AVX-512 operations that C has no operator for.
//
// Whatever stands here must compile to straight-line code without calls and without memory: the emitter copies
// the one basic block of a function into its loop, and global tables or branches could not come along.
#include <immintrin.h>

typedef double v8d __attribute__((ext_vector_type(8)));
typedef long v8i __attribute__((ext_vector_type(8)));

#define INLAY_INLINE static inline __attribute__((always_inline))

INLAY_INLINE v8d splat(double x) { return (v8d)(x); }
INLAY_INLINE v8d fma8(v8d a, v8d b, v8d c) { return _mm512_fmadd_pd(a, b, c); }
INLAY_INLINE v8d fnma8(v8d a, v8d b, v8d c) { return _mm512_fnmadd_pd(a, b, c); }  // c - a b

/// The instructions return the second operand when one is nan: `x` stands there.
INLAY_INLINE v8d clamp(v8d x, double low, double high) {
  return _mm512_min_pd(splat(high), _mm512_max_pd(splat(low), x));
}

/// x 2^floor(k), rounded once, also into the subnormals and to infinity.
INLAY_INLINE v8d scale(v8d x, v8d k) { return _mm512_scalef_pd(x, k); }

INLAY_INLINE v8d select8(v8i mask, v8d yes, v8d no) { return mask ? yes : no; }

/// 1 / x to 14 bits, at the price of a multiplication.
INLAY_INLINE v8d rough_reciprocal(v8d x) { return _mm512_rcp14_pd(x); }
INLAY_INLINE v8d sqrt8(v8d x) { return _mm512_sqrt_pd(x); }
INLAY_INLINE v8d abs8(v8d x) { return (v8d)((v8i)x & 0x7fffffffffffffffL); }
INLAY_INLINE v8d with_sign_of(v8d x, v8d sign) {
  return (v8d)(((v8i)x & 0x7fffffffffffffffL) | ((v8i)sign & (long)0x8000000000000000L));
}

/// One bit per lane; a comparison with nan gives 0, except in not_below_0.
typedef unsigned char Lanes;
INLAY_INLINE Lanes not_below_0(v8d x) { return _mm512_cmp_pd_mask(x, splat(0), _CMP_NLT_UQ); }
INLAY_INLINE Lanes above_0(v8d x) { return _mm512_cmp_pd_mask(x, splat(0), _CMP_GT_OQ); }
INLAY_INLINE Lanes above(v8d x, double limit) { return _mm512_cmp_pd_mask(x, splat(limit), _CMP_GT_OQ); }
INLAY_INLINE Lanes below(v8d x, double limit) { return _mm512_cmp_pd_mask(x, splat(limit), _CMP_LT_OQ); }

/// What to return by the class of x: four bits each, from the lowest, for quiet nan, signalling nan, 0, 1, -inf, +inf,
/// other x < 0, other x > 0. 0: the result as computed. 1: x. 2: x as a quiet nan. 3: the default nan. 4: -inf. 5:
/// +inf. 8: +0.
INLAY_INLINE v8d by_class_of(v8d x, v8d result, long what) {
  return _mm512_fixupimm_pd(result, x, (__m512i)(v8i)(what), 0);
}

INLAY_INLINE v8d load8(const double* p) { return (v8d){p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]}; }

/// table[index mod 16]: two registers hold the table.
INLAY_INLINE v8d lookup16(const double* table, v8i index) {
  return _mm512_permutex2var_pd(load8(table), (__m512i)index, load8(table + 8));
}

/// Piecewise polynomial: every coefficient comes from its own table.
#define PIECEWISE(x, index, tables) piecewise(x, index, tables, sizeof(tables) / sizeof((tables)[0]))
INLAY_INLINE v8d piecewise(v8d x, v8i index, const double (*tables)[16], int count) {
  v8d sum = lookup16(tables[count - 1], index);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; --i) sum = fma8(sum, x, lookup16(tables[i], index));
  return sum;
}

/// The same in an even and an odd half, which do not wait for each other: for functions so long that the processor
/// does not look far enough ahead to fill the waiting.
#define PIECEWISE_IN_HALVES(x, index, tables) \
  piecewise_in_halves(x, index, tables, sizeof(tables) / sizeof((tables)[0]))
INLAY_INLINE v8d piecewise_in_halves(v8d x, v8i index, const double (*tables)[16], int count) {
  const v8d square = x * x;
  v8d sum = lookup16(tables[count - 1], index), other = lookup16(tables[count - 2], index);
#pragma clang loop unroll(full)
  for (int i = count - 3; i >= 0; --i) {
    const v8d next = fma8(sum, square, lookup16(tables[i], index));
    sum = other, other = next;
  }
  return fma8(sum, x, other);
}

/// Which of 16 quarters of binades x is in (the last exponent bits and the first two mantissa bits), and its middle.
typedef struct {
  v8i index;
  v8d middle;
} Quarter;

INLAY_INLINE Quarter quarter_of(v8d x) {
  const long below = (1L << 50) - 1;
  const Quarter quarter = {(v8i)x >> 50, (v8d)(((v8i)x & ~below) | (1L << 49))};
  return quarter;
}

/// Which of 8 halves of binades x is in, four binades from 2 on, and its middle.
INLAY_INLINE Quarter half_of(v8d x) {
  const long below = (1L << 51) - 1;
  const Quarter half = {(v8i)x >> 51, (v8d)(((v8i)x & ~below) | (1L << 50))};
  return half;
}

/// Horner, highest coefficient last. The bound is known where it is used, so the loop unrolls.
#define POLYNOMIAL(x, coefficients) polynomial(x, coefficients, sizeof(coefficients) / sizeof(double))
INLAY_INLINE v8d polynomial(v8d x, const double* coefficients, int count) {
  v8d sum = splat(coefficients[count - 1]);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; --i) sum = fma8(sum, x, splat(coefficients[i]));
  return sum;
}
