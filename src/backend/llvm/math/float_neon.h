#pragma once
// Four floats with NEON: what vector_neon.h is for two doubles.
#include "rounding_scale_of_floats.h"

INLAY_INLINE vf min_f(vf a, vf b) { return a < b ? a : b; }
INLAY_INLINE vf max_f(vf a, vf b) { return a > b ? a : b; }
