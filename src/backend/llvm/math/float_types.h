#pragma once
// Twice INLAY_LANES floats at a time: what vector_types.h is for doubles.
//
// Next to no function here needs a part of its sum in a second number: what a sum loses is brought back where it would
// show in the last place.
#include "vector_types.h"

#if INLAY_LANES == 1
#include "one_lane_of_floats.h"
#else
#include "lanes_of_floats.h"
#endif

INLAY_INLINE vf abs_f(vf x) { return of_bits_f(bits_f(x) & INT32_MAX); }

INLAY_INLINE vf with_sign_of_f(vf x, vf sign) {
  return of_bits_f((bits_f(x) & INT32_MAX) | (bits_f(sign) & INT32_MIN));
}

#include "float_fused.h"

#if INLAY_LANES == 8
#include "float_avx512.h"
#elif INLAY_LANES == 4
#include "float_avx2.h"
#elif INLAY_LANES == 2
#include "float_2.h"
#else
#include "float_bits.h"
#include "narrow_scale_of_floats.h"
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
