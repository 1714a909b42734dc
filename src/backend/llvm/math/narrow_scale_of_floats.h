#pragma once
// Floats: what narrow_scale.h is for doubles.

/// x 2^k for a whole k up to 252, rounded once where |x| 2^(k/2) is no subnormal.
INLAY_INLINE vf scale_f(vf x, vf k) {
  const vfi halves = bits_f(k + 0x1.8p+22f), n = shifted_right_f(halves, 1), half = shifted_right_f(halves, 2);
  return x * of_bits_f(shifted_left_f(half + 127, 23)) * of_bits_f(shifted_left_f((n - half) + 127, 23));
}
