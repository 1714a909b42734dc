#pragma once
// Four doubles with AVX2 and FMA. The numbers are those of vector_avx512.h, bit by bit.
#include <immintrin.h>

#include "lane_masks.h"
#include "rounding_scale.h"

/// The second operand when one is nan.
INLAY_INLINE vd min_d(vd a, vd b) { return _mm256_min_pd(a, b); }
INLAY_INLINE vd max_d(vd a, vd b) { return _mm256_max_pd(a, b); }

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
/// Both columns of the rows with these indices mod 4: a double is two of the floats that one instruction picks.
INLAY_INLINE void lookup_quarter(const double* t, vi index, vd* columns) {
  const vd first = {t[0], t[2], t[4], t[6]}, second = {t[1], t[3], t[5], t[7]};
  const __m256i twice = _mm256_shuffle_epi32((__m256i)(index + index), 0xa0);
  const __m256i halves = _mm256_or_si256(twice, _mm256_set_epi32(1, 0, 1, 0, 1, 0, 1, 0));
  columns[0] = (vd)_mm256_permutevar8x32_ps((__m256)first, halves);
  columns[1] = (vd)_mm256_permutevar8x32_ps((__m256)second, halves);
}
INLAY_INLINE vd lookup_1(const double* rows, int stride, vi index) {
  vd columns[2];
  lookup_2(rows, stride, index, columns);
  return columns[0];
}
