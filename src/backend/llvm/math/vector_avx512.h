#pragma once
// Eight doubles by the instructions of AVX-512. A table of sixteen doubles is two registers.
#include <immintrin.h>

/// The second operand when one is nan.
INLAY_INLINE vd min_d(vd a, vd b) { return _mm512_min_pd(a, b); }
INLAY_INLINE vd max_d(vd a, vd b) { return _mm512_max_pd(a, b); }

/// x 2^floor(k), rounded once, also into the subnormals and to infinity.
INLAY_INLINE vd scale(vd x, vd k) { return _mm512_scalef_pd(x, k); }

/// x 2^floor(k) of k rounded by ROUND_TO(bits).
INLAY_INLINE vd scale_rounded(vd x, vd shifted, int bits) { return scale(x, shifted - splat(ROUND_TO(bits))); }

/// For a whole n, and one from -1023 to 1023: AVX2 has a shorter way for these.
INLAY_INLINE vd scale_whole(vd x, vd n) { return scale(x, n); }
INLAY_INLINE vd scale_near(vd x, vd n) { return scale(x, n); }

INLAY_INLINE vd floor_d(vd x) { return _mm512_floor_pd(x); }
INLAY_INLINE vd sqrt_d(vd x) { return _mm512_sqrt_pd(x); }

/// |x| = 2^exponent mantissa with 1 <= mantissa < 2, for what is finite and not 0.
INLAY_INLINE vd exponent_d(vd x) { return _mm512_getexp_pd(x); }
INLAY_INLINE vd mantissa_d(vd x) { return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero); }

/// One bit per lane; a comparison with nan gives 0, except in not_below_0.
typedef unsigned char Lanes;
INLAY_INLINE Lanes not_below_0(vd x) { return _mm512_cmp_pd_mask(x, splat(0), _CMP_NLT_UQ); }
INLAY_INLINE Lanes above_0(vd x) { return _mm512_cmp_pd_mask(x, splat(0), _CMP_GT_OQ); }
INLAY_INLINE Lanes above(vd x, double limit) { return _mm512_cmp_pd_mask(x, splat(limit), _CMP_GT_OQ); }
INLAY_INLINE Lanes below(vd x, double limit) { return _mm512_cmp_pd_mask(x, splat(limit), _CMP_LT_OQ); }
INLAY_INLINE Lanes equals(vd x, double value) { return _mm512_cmp_pd_mask(x, splat(value), _CMP_EQ_OQ); }

/// What to return by the class of x: four bits each, from the lowest, for quiet nan, signalling nan, 0, 1, -inf, +inf,
/// other x < 0, other x > 0. 0: the result as computed. 1: x. 2: x as a quiet nan. 3: the default nan. 4: -inf. 5:
/// +inf. 8: +0.
INLAY_INLINE vd by_class_of(vd x, vd result, long what) {
  return _mm512_fixupimm_pd(result, x, (__m512i)(vi)(what), 0);
}

/// Columns 0, 1, ... of the rows with these indices mod 16.
INLAY_INLINE vd lookup_1(const double* t, int stride, vi index) {
  const vd low = {t[0],          t[stride],     t[2 * stride], t[3 * stride],
                  t[4 * stride], t[5 * stride], t[6 * stride], t[7 * stride]};
  const double* u = t + 8 * stride;
  const vd high = {u[0],          u[stride],     u[2 * stride], u[3 * stride],
                   u[4 * stride], u[5 * stride], u[6 * stride], u[7 * stride]};
  return _mm512_permutex2var_pd(low, (__m512i)index, high);
}
INLAY_INLINE void lookup_2(const double* rows, int stride, vi index, vd* columns) {
  columns[0] = lookup_1(rows, stride, index);
  columns[1] = lookup_1(rows + 1, stride, index);
}
/// Both columns of the row with these indices mod 4.
INLAY_INLINE void lookup_quarter(const double* t, vi index, vd* columns) {
  const vd first = {t[0], t[2], t[4], t[6], t[0], t[2], t[4], t[6]};
  const vd second = {t[1], t[3], t[5], t[7], t[1], t[3], t[5], t[7]};
  columns[0] = _mm512_permutexvar_pd((__m512i)index, first);
  columns[1] = _mm512_permutexvar_pd((__m512i)index, second);
}
INLAY_INLINE void lookup_4(const double* rows, int stride, vi index, vd* columns) {
  lookup_2(rows, stride, index, columns);
  lookup_2(rows + 2, stride, index, columns + 2);
}
