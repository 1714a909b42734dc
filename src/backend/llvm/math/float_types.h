#pragma once
// Sixteen floats at a time: what vector_types.h is for eight doubles.
//
// Next to no function here needs a part of its sum in a second number: what a sum loses is brought back where it would
// show in the last place.
#include "vector_types.h"

typedef float v16f __attribute__((ext_vector_type(16)));
typedef int v16i __attribute__((ext_vector_type(16)));

INLAY_INLINE v16f splat16(float x) { return (v16f)(x); }
INLAY_INLINE v16f fma16(v16f a, v16f b, v16f c) { return _mm512_fmadd_ps(a, b, c); }
INLAY_INLINE v16f fnma16(v16f a, v16f b, v16f c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a b

/// The instructions return the second operand when one is nan.
INLAY_INLINE v16f at_most16(float limit, v16f x) { return _mm512_min_ps(splat16(limit), x); }
INLAY_INLINE v16f at_least16(float limit, v16f x) { return _mm512_max_ps(splat16(limit), x); }
INLAY_INLINE v16f clamp16(v16f x, float low, float high) { return at_most16(high, at_least16(low, x)); }

/// x 2^floor(k), rounded once, also into the subnormals and to infinity.
INLAY_INLINE v16f scale16(v16f x, v16f k) { return _mm512_scalef_ps(x, k); }

INLAY_INLINE v16f select16(v16i mask, v16f yes, v16f no) { return mask ? yes : no; }
INLAY_INLINE v16f abs16(v16f x) { return (v16f)((v16i)x & 0x7fffffff); }
INLAY_INLINE v16f with_sign_of16(v16f x, v16f sign) {
  return (v16f)(((v16i)x & 0x7fffffff) | ((v16i)sign & (int)0x80000000));
}

/// One bit per lane.
typedef unsigned short Lanes16;
INLAY_INLINE Lanes16 below16(v16f x, float limit) { return _mm512_cmp_ps_mask(x, splat16(limit), _CMP_LT_OQ); }

/// As by_class_of.
INLAY_INLINE v16f by_class_of16(v16f x, v16f result, int what) {
  return _mm512_fixupimm_ps(result, x, (__m512i)(v16i)(what), 0);
}

/// 1 / x but for the last bit.
INLAY_INLINE v16f near_reciprocal16(v16f x) {
  const v16f rough = _mm512_rcp14_ps(x);
  return fma16(rough, fnma16(x, rough, splat16(1)), rough);
}

/// table[index mod 16]: one register holds the table.
INLAY_INLINE v16f entry16(const float* t, v16i index) {
  const v16f table = {t[0], t[1], t[2],  t[3],  t[4],  t[5],  t[6],  t[7],
                      t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15]};
  return _mm512_permutexvar_ps((__m512i)index, table);
}

#define POLYNOMIAL16(x, coefficients) polynomial16(x, coefficients, sizeof(coefficients) / sizeof(float))
INLAY_INLINE v16f polynomial16(v16f x, const float* coefficients, int count) {
  v16f sum = splat16(coefficients[count - 1]);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; --i) sum = fma16(sum, x, splat16(coefficients[i]));
  return sum;
}
