#pragma once
// The square root. AVX-512 has an instruction that takes as long as twenty multiplications: there it is made of those.
#include "vector_types.h"

/// sqrt(x) = high + rest * half_inverse to 56 bits, for 0 and from 2^-900 on; half_inverse is 1 / (2 sqrt(x)) to 28.
typedef struct {
  vd high, rest, half_inverse;
} Root;

#if INLAY_LANES == 8
#include "sqrt_avx512.h"
#else
#include "sqrt_instruction.h"
#endif
