#pragma once
// Floats: what rounding_scale.h is for doubles.
#include "float_bits.h"

INLAY_INLINE vf floor_f(vf x) { return __builtin_elementwise_floor(x); }
INLAY_INLINE vf power_of_two_f(vf n) { return of_bits_f(shifted_left_f(bits_f(n + (0x1.8p+23f + 127)), 23)); }
INLAY_INLINE vf scale_f(vf x, vf k) {
  const vf half = floor_f(0.5f * k);
  return x * power_of_two_f(half) * power_of_two_f(floor_f(k) - half);
}
