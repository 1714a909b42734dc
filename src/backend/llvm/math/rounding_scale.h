#pragma once
// Powers of two where an instruction rounds down to whole numbers: AVX2 and NEON.
#include "vector_bits.h"

INLAY_INLINE vd floor_d(vd x) { return __builtin_elementwise_floor(x); }
INLAY_INLINE vd sqrt_d(vd x) { return __builtin_elementwise_sqrt(x); }

/// x 2^n for a whole |n| up to 2044, rounded once where |x| 2^floor(n/2) is no subnormal, also into the subnormals and
/// to infinity.
INLAY_INLINE vd scale_whole(vd x, vd n) {
  const vd half = floor_d(0.5 * n);
  return x * power_of_two(half) * power_of_two(n - half);
}
