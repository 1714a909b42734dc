#pragma once
// Four floats with SSE2: what vector_sse2.h is for two doubles.
#include <emmintrin.h>

#include "narrow_scale_of_floats.h"

INLAY_INLINE vf min_f(vf a, vf b) { return _mm_min_ps(a, b); }
INLAY_INLINE vf max_f(vf a, vf b) { return _mm_max_ps(a, b); }
