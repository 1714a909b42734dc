#pragma once
// Four floats: what vector_2.h is for two doubles.
#include "float_bits.h"
#if defined(__aarch64__)
#include "float_neon.h"
#else
#include "float_sse2.h"
#endif

typedef vfi LanesF;
INLAY_INLINE LanesF below_f(vf x, float limit) { return x < limit; }

/// table[index mod 16]
INLAY_INLINE vf lookup_f(const float* table, vfi index) {
  const vfi at = index & 15;
  const vf values = {table[at[0]], table[at[1]], table[at[2]], table[at[3]]};
  return values;
}
