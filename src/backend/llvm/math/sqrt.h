#pragma once
// The square root without the instruction, which takes as long as twenty multiplications.
#include "vector_types.h"

/// sqrt(x) = high + rest * half_inverse to 56 bits, for 0 and from 2^-900 on; half_inverse is 1 / (2 sqrt(x)) to 28.
typedef struct {
  v8d high, rest, half_inverse;
} Root;

INLAY_INLINE Root root_parts(v8d x) {
  const v8d inverse = _mm512_rsqrt14_pd(x + 0x1p-1000);  // the sum only keeps it finite for 0
  const v8d first = x * inverse, half = 0.5 * inverse;
  const v8d error = fnma8(first, half, splat(0.5));
  Root root;
  root.high = fma8(first, error, first);
  root.rest = fnma8(root.high, root.high, x);
  root.half_inverse = fma8(half, error, half);
  return root;
}

/// Rounded correctly: `near` is one of the two doubles around the root, its distance from x is exact, and only a root
/// within 2^-54 units of the middle between two doubles could be missed. The few dozens of x that have such a root are
/// known, and in the test.
INLAY_INLINE v8d sqrt_of(v8d x) {
  const v8i small = x < 0x1p-900;
  const v8d y = select8(small, x * 0x1p200, x);
  const Root root = root_parts(y);
  const v8d near = fma8(root.rest, root.half_inverse, root.high);
  const v8d half_inverse = fma8(root.half_inverse, fnma8(root.high, root.half_inverse, splat(0.5)), root.half_inverse);
  const v8d result = fma8(fnma8(near, near, y), half_inverse, near);
  return by_class_of(x, select8(small, result * 0x1p-100, result), 0x03530122);
}
