#pragma once
// Sixteen floats by the instructions of AVX-512: what vector_avx512.h is for eight doubles.
#include <immintrin.h>

INLAY_INLINE vf min_f(vf a, vf b) { return _mm512_min_ps(a, b); }
INLAY_INLINE vf max_f(vf a, vf b) { return _mm512_max_ps(a, b); }

INLAY_INLINE vf scale_f(vf x, vf k) { return _mm512_scalef_ps(x, k); }
INLAY_INLINE vf exponent_f(vf x) { return _mm512_getexp_ps(x); }
INLAY_INLINE vf mantissa_f(vf x) { return _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero); }

/// One bit per lane.
typedef unsigned short LanesF;
INLAY_INLINE LanesF below_f(vf x, float limit) { return _mm512_cmp_ps_mask(x, splat_f(limit), _CMP_LT_OQ); }

INLAY_INLINE vf by_class_of_f(vf x, vf result, int what) {
  return _mm512_fixupimm_ps(result, x, (__m512i)(vfi)(what), 0);
}

/// 1 / x as division rounds it, for x from 1/2 to 4: from a unit around it the second step goes to the nearest float,
/// as Markstein found, but for x whose bits are all ones; their half of a unit goes up by the last factor. The test has
/// all these x. A division takes longer than both steps.
INLAY_INLINE vf reciprocal_f(vf x) {
  const vf rough = _mm512_rcp14_ps(x);
  const vf near = fma_f(rough, fnma_f(x, rough, splat_f(1)), rough);
  return fma_f(near * 0x1.000002p0f, fnma_f(x, near, splat_f(1)), near);
}

/// table[index mod 16]: one register holds the table.
INLAY_INLINE vf lookup_f(const float* t, vfi index) {
  const vf table = {t[0], t[1], t[2],  t[3],  t[4],  t[5],  t[6],  t[7],
                    t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]};
  return _mm512_permutexvar_ps((__m512i)index, table);
}
