#pragma once
// The square root. AVX-512 has an instruction that takes as long as twenty multiplications: there it is made of those.
#include "vector_types.h"

/// sqrt(x) = high + rest * half_inverse to 56 bits, for 0 and from 2^-900 on; half_inverse is 1 / (2 sqrt(x)) to 28.
typedef struct {
  vd high, rest, half_inverse;
} Root;

#if INLAY_LANES == 8
INLAY_INLINE Root root_parts(vd x) {
  const vd inverse = _mm512_rsqrt14_pd(x + 0x1p-1000);  // the sum only keeps it finite for 0
  const vd first = x * inverse, half = 0.5 * inverse;
  const vd error = fnma_d(first, half, splat(0.5));
  Root root;
  root.high = fma_d(first, error, first);
  root.rest = fnma_d(root.high, root.high, x);
  root.half_inverse = fma_d(half, error, half);
  return root;
}

/// Rounded correctly: `near` is one of the two doubles around the root, its distance from x is exact, and only a root
/// within 2^-54 units of the middle between two doubles could be missed. The few dozens of x that have such a root are
/// known, and in the test.
INLAY_INLINE vd sqrt_of(vd x) {
  const vi small = x < 0x1p-900;
  const vd y = select_d(small, x * 0x1p200, x);
  const Root root = root_parts(y);
  const vd near = fma_d(root.rest, root.half_inverse, root.high);
  const vd half_inverse = fma_d(root.half_inverse, fnma_d(root.high, root.half_inverse, splat(0.5)), root.half_inverse);
  const vd result = fma_d(fnma_d(near, near, y), half_inverse, near);
  return by_class_of(x, select_d(small, result * 0x1p-100, result), 0x03530122);
}
#else
INLAY_INLINE Root root_parts(vd x) {
  const vd high = sqrt_d(x);
  // The bound only keeps the quotient finite for 0.
  const Root root = {high, fnma_d(high, high, x), 0.5 / max_d(high, splat(0x1p-500))};
  return root;
}

INLAY_INLINE vd sqrt_of(vd x) { return sqrt_d(x); }
#endif
