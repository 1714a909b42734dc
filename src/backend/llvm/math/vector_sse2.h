#pragma once
// Two doubles with SSE2, which every x86-64 has: no fused multiply-adds (fused.h), no rounding to whole numbers.
#include <emmintrin.h>

#include "narrow_scale.h"

/// The second operand when one is nan.
INLAY_INLINE vd min_d(vd a, vd b) { return _mm_min_pd(a, b); }
INLAY_INLINE vd max_d(vd a, vd b) { return _mm_max_pd(a, b); }

INLAY_INLINE vd sqrt_d(vd x) { return _mm_sqrt_pd(x); }
