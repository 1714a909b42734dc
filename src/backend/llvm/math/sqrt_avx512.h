#pragma once
// The square root of eight doubles by multiplications.

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
