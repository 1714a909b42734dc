#pragma once
// Two doubles with NEON, whose numbers are those of vector_avx2.h, bit by bit. Nothing here names an instruction.
#include "rounding_scale.h"

/// The second operand when one is nan, and of zeros: NEON's own minimum would be the nan, or the zero with the sign.
INLAY_INLINE vd min_d(vd a, vd b) { return a < b ? a : b; }
INLAY_INLINE vd max_d(vd a, vd b) { return a > b ? a : b; }
