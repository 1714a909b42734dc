#pragma once
// Four doubles with AVX2 and FMA. The numbers are those of vector_avx512.h, bit by bit; what has no instruction is
// integer arithmetic on the bits of the numbers.
#include <immintrin.h>

/// The second operand when one is nan.
INLAY_INLINE vd min_d(vd a, vd b) { return _mm256_min_pd(a, b); }
INLAY_INLINE vd max_d(vd a, vd b) { return _mm256_max_pd(a, b); }

INLAY_INLINE vd floor_d(vd x) { return __builtin_elementwise_floor(x); }
INLAY_INLINE vd sqrt_d(vd x) { return __builtin_elementwise_sqrt(x); }

/// 2^n for a whole n: the sum has n + 1023 in its last bits.
INLAY_INLINE vd power_of_two(vd n) { return (vd)((vi)(n + (0x1.8p+52 + 1023)) << 52); }

/// x 2^floor(k) for |k| up to 2044, rounded once where |x| 2^floor(k/2) is no subnormal, also into the subnormals and
/// to infinity.
INLAY_INLINE vd scale(vd x, vd k) {
  const vd half = floor_d(0.5 * k);
  return x * power_of_two(half) * power_of_two(floor_d(k) - half);
}

/// The same for a whole n.
INLAY_INLINE vd scale_whole(vd x, vd n) {
  const vd half = floor_d(0.5 * n);
  return x * power_of_two(half) * power_of_two(n - half);
}

/// The same for a whole n from -1022 to 1023; and where x is 0, n may be -1023.
INLAY_INLINE vd scale_near(vd x, vd n) { return x * power_of_two(n); }

/// |x| = 2^exponent mantissa with 1 <= mantissa < 2, for what is finite and not 0.
typedef struct {
  vd magnitude;  // not subnormal
  vd offset;     // of the exponent
} Normal;
INLAY_INLINE Normal normal_of(vd x) {
  const vd y = abs_d(x);
  const vi small = y < 0x1p-1022;
  const Normal normal = {small ? y * 0x1p54 : y, small ? splat(0x1p52 + 1077) : splat(0x1p52 + 1023)};
  return normal;
}
INLAY_INLINE vd exponent_d(vd x) {
  const Normal normal = normal_of(x);
  return (vd)(((vu)normal.magnitude >> 52) | 0x4330000000000000UL) - normal.offset;
}
INLAY_INLINE vd mantissa_d(vd x) {
  return (vd)(((vi)normal_of(x).magnitude & 0x000fffffffffffffL) | 0x3ff0000000000000L);
}

/// All bits of a lane, or none; a comparison with nan gives none, except in not_below_0.
typedef vi Lanes;
INLAY_INLINE Lanes not_below_0(vd x) { return ~(x < 0); }
INLAY_INLINE Lanes above_0(vd x) { return x > 0; }
INLAY_INLINE Lanes above(vd x, double limit) { return x > limit; }
INLAY_INLINE Lanes below(vd x, double limit) { return x < limit; }

/// What a number of by_class_of stands for.
INLAY_INLINE vd class_value(vd x, int what) {
  return what == 3   ? splat(__builtin_nan(""))
         : what == 4 ? splat(-__builtin_inf())
         : what == 5 ? splat(__builtin_inf())
         : what == 8 ? splat(0)
                     : x;
}
/// As in vector_avx512.h; a signalling nan is as a quiet one. `what` is a constant where this is called, and one
/// comparison serves as many classes as it can.
INLAY_INLINE vd by_class_of(vd x, vd result, long what) {
  const int nan = what & 15, zero = what >> 8 & 15, one = what >> 12 & 15, least = what >> 16 & 15,
            greatest = what >> 20 & 15, negative = what >> 24 & 15, positive = what >> 28 & 15;
  const double inf = __builtin_inf();
  if (positive) result = select_d((x > 0) & (x < inf), class_value(x, positive), result);
  if (negative && least == negative) {
    result = select_d(x < 0, class_value(x, negative), result);
  } else {
    if (negative) result = select_d((x < 0) & (x > -inf), class_value(x, negative), result);
    if (least) result = select_d(x == -inf, class_value(x, least), result);
  }
  if (zero == 1 && nan) {
    result = select_d((x < 0) | (x > 0), result, x);
  } else if (zero) {
    result = select_d(x == 0, class_value(x, zero), result);
  }
  if (one) result = select_d(x == 1, class_value(x, one), result);
  if (greatest == 5 && nan && zero != 1) return select_d(x < inf, result, x);
  if (greatest) result = select_d(x == inf, class_value(x, greatest), result);
  if (nan && zero != 1) result = select_d(x == x, result, x);
  return result;
}

/// Columns 0, 1, ... of the rows with these indices mod 16.
typedef double Two __attribute__((ext_vector_type(2), aligned(8)));
typedef double Four __attribute__((ext_vector_type(4), aligned(8)));
INLAY_INLINE void lookup_2(const double* rows, int stride, vi index, vd* columns) {
  const vi at = (index & 15) * stride;
  const Two a = *(const Two*)(rows + at[0]), b = *(const Two*)(rows + at[1]);
  const Two c = *(const Two*)(rows + at[2]), d = *(const Two*)(rows + at[3]);
  const vd ac = __builtin_shufflevector(a, c, 0, 1, 2, 3), bd = __builtin_shufflevector(b, d, 0, 1, 2, 3);
  columns[0] = __builtin_shufflevector(ac, bd, 0, 4, 2, 6);
  columns[1] = __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
}
INLAY_INLINE void lookup_4(const double* rows, int stride, vi index, vd* columns) {
  const vi at = (index & 15) * stride;
  const Four a = *(const Four*)(rows + at[0]), b = *(const Four*)(rows + at[1]);
  const Four c = *(const Four*)(rows + at[2]), d = *(const Four*)(rows + at[3]);
  const vd ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const vd cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  columns[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
  columns[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
  columns[2] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
  columns[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}
INLAY_INLINE vd lookup_1(const double* rows, int stride, vi index) {
  vd columns[2];
  lookup_2(rows, stride, index, columns);
  return columns[0];
}
