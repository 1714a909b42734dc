#pragma once
// Eight floats with AVX2 and FMA: what vector_avx2.h is for four doubles.
#include <immintrin.h>

INLAY_INLINE vf min_f(vf a, vf b) { return _mm256_min_ps(a, b); }
INLAY_INLINE vf max_f(vf a, vf b) { return _mm256_max_ps(a, b); }

INLAY_INLINE vf floor_f(vf x) { return __builtin_elementwise_floor(x); }
INLAY_INLINE vf power_of_two_f(vf n) { return (vf)((vfi)(n + (0x1.8p+23f + 127)) << 23); }
INLAY_INLINE vf scale_f(vf x, vf k) {
  const vf half = floor_f(0.5f * k);
  return x * power_of_two_f(half) * power_of_two_f(floor_f(k) - half);
}

typedef struct {
  vf magnitude, offset;
} NormalF;
INLAY_INLINE NormalF normal_of_f(vf x) {
  const vf y = abs_f(x);
  const vfi small = y < 0x1p-126f;
  const NormalF normal = {small ? y * 0x1p24f : y, small ? splat_f(0x1p23f + 151) : splat_f(0x1p23f + 127)};
  return normal;
}
INLAY_INLINE vf exponent_f(vf x) {
  const NormalF normal = normal_of_f(x);
  return (vf)(((vfu)normal.magnitude >> 23) | 0x4b000000U) - normal.offset;
}
INLAY_INLINE vf mantissa_f(vf x) { return (vf)(((vfi)normal_of_f(x).magnitude & 0x007fffff) | 0x3f800000); }

typedef vfi LanesF;
INLAY_INLINE LanesF below_f(vf x, float limit) { return x < limit; }

/// Only what functions of floats ask for: log's, and what leaves +-0 and nan as they are.
INLAY_INLINE vf by_class_of_f(vf x, vf result, int what) {
  const float inf = __builtin_inff();
  if (what == 0x00000122) return select_f((x < 0) | (x > 0), result, x);
  result = select_f(x < 0, splat_f(__builtin_nanf("")), result);
  result = select_f(x == 0, splat_f(-inf), result);
  return select_f(x < inf, result, x);
}

INLAY_INLINE vf near_reciprocal_of_two_f(vf x, vf low) {
  const vf inverse = 1 / x;
  return fnma_f(inverse * inverse, low, inverse);
}
INLAY_INLINE vf near_reciprocal_f(vf x) { return 1 / x; }

/// table[index mod 16]: two registers hold the table.
INLAY_INLINE vf lookup_f(const float* t, vfi index) {
  const vf low = {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]};
  const vf high = {t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]};
  return index << 28 ? _mm256_permutevar8x32_ps(high, (__m256i)index) : _mm256_permutevar8x32_ps(low, (__m256i)index);
}
