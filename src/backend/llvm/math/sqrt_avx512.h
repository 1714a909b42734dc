#pragma once
// The square root of eight doubles by multiplications.

/// By the CPU's own estimate: no more than sqrt.h asks of a Root, with other bits on another CPU.
INLAY_INLINE Root root_guess(vd x) {
  const vd inverse = _mm512_rsqrt14_pd(x + 0x1p-1000);  // the sum only keeps it finite for 0
  const vd first = x * inverse, half = 0.5 * inverse;
  const vd error = fnma_d(first, half, splat(0.5));
  Root root;
  root.high = fma_d(first, error, first);
  root.rest = fnma_d(root.high, root.high, x);
  root.half_inverse = fma_d(half, error, half);
  return root;
}

/// The same with `high` rounded correctly: `near` is one of the two doubles around the root, its distance from x is
/// exact, and only a root within 2^-54 units of the middle between two doubles could be missed. The few dozens of x
/// that have such a root are known, and in the test.
INLAY_INLINE Root rounded_root(vd x) {
  const Root guess = root_guess(x);
  const vd near = fma_d(guess.rest, guess.half_inverse, guess.high);
  Root root = guess;
  root.half_inverse = fma_d(guess.half_inverse, fnma_d(guess.high, guess.half_inverse, splat(0.5)), guess.half_inverse);
  root.high = fma_d(fnma_d(near, near, x), root.half_inverse, near);
  return root;
}

/// The bits of sqrt_instruction.h: half_inverse is rounded as its division is, by a step from next to it (Markstein).
INLAY_INLINE Root root_parts(vd x) {
  Root root = rounded_root(x);
  root.rest = fnma_d(root.high, root.high, x);
  const vd error = fnma_d(root.high, root.half_inverse, splat(0.5));
  root.half_inverse = fma_d(root.half_inverse + root.half_inverse, error, root.half_inverse);
  return root;
}

INLAY_INLINE vd sqrt_of(vd x) {
  const vi small = x < 0x1p-900;
  const vd result = rounded_root(select_d(small, x * 0x1p200, x)).high;
  return by_class_of(x, select_d(small, result * 0x1p-100, result), 0x03530122);
}
