#pragma once
// Eight floats with AVX2 and FMA: what vector_avx2.h is for four doubles.
#include <immintrin.h>

#include "rounding_scale_of_floats.h"

INLAY_INLINE vf min_f(vf a, vf b) { return _mm256_min_ps(a, b); }
INLAY_INLINE vf max_f(vf a, vf b) { return _mm256_max_ps(a, b); }

typedef vfi LanesF;
INLAY_INLINE LanesF below_f(vf x, float limit) { return x < limit; }

/// table[index mod 16]: two registers hold the table.
INLAY_INLINE vf lookup_f(const float* t, vfi index) {
  const vf low = {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]};
  const vf high = {t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]};
  return index << 28 ? _mm256_permutevar8x32_ps(high, (__m256i)index) : _mm256_permutevar8x32_ps(low, (__m256i)index);
}
