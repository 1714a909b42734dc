#pragma once
// Twice INLAY_LANES floats at a time: what vector_types.h is for doubles.
//
// Next to no function here needs a part of its sum in a second number: what a sum loses is brought back where it would
// show in the last place.
#include "vector_types.h"

#define INLAY_FLOATS (2 * INLAY_LANES)
typedef float vf __attribute__((ext_vector_type(INLAY_FLOATS)));
typedef int vfi __attribute__((ext_vector_type(INLAY_FLOATS)));
typedef unsigned vfu __attribute__((ext_vector_type(INLAY_FLOATS)));

INLAY_INLINE vf splat_f(float x) { return (vf)(x); }
INLAY_INLINE vf fma_f(vf a, vf b, vf c) { return __builtin_elementwise_fma(a, b, c); }
INLAY_INLINE vf fnma_f(vf a, vf b, vf c) { return __builtin_elementwise_fma(-a, b, c); }  // c - a b
INLAY_INLINE vf select_f(vfi mask, vf yes, vf no) { return mask ? yes : no; }

INLAY_INLINE vf abs_f(vf x) { return (vf)((vfi)x & 0x7fffffff); }
INLAY_INLINE vf with_sign_of_f(vf x, vf sign) { return (vf)(((vfi)x & 0x7fffffff) | ((vfi)sign & (int)0x80000000)); }

#if INLAY_LANES == 8
#include "float_avx512.h"
#else
#include "float_avx2.h"
#endif

/// x where it is nan.
INLAY_INLINE vf at_most_f(float limit, vf x) { return min_f(splat_f(limit), x); }
INLAY_INLINE vf at_least_f(float limit, vf x) { return max_f(splat_f(limit), x); }
INLAY_INLINE vf clamp_f(vf x, float low, float high) { return at_most_f(high, at_least_f(low, x)); }

#define POLYNOMIAL_F(x, coefficients) polynomial_f(x, coefficients, sizeof(coefficients) / sizeof(float))
INLAY_INLINE vf polynomial_f(vf x, const float* coefficients, int count) {
  vf sum = splat_f(coefficients[count - 1]);
#pragma clang loop unroll(full)
  for (int i = count - 2; i >= 0; --i) sum = fma_f(sum, x, splat_f(coefficients[i]));
  return sum;
}
