#pragma once
// Several lanes of doubles: clang's vectors.
#include <math.h>
#include <stdint.h>
typedef double vd __attribute__((ext_vector_type(INLAY_LANES)));
typedef int64_t vi __attribute__((ext_vector_type(INLAY_LANES)));
typedef uint64_t vu __attribute__((ext_vector_type(INLAY_LANES)));

#define INLAY_INLINE static inline __attribute__((always_inline))

INLAY_INLINE vd splat(double x) { return (vd)(x); }
INLAY_INLINE vi bits_d(vd x) { return (vi)x; }
INLAY_INLINE vd of_bits_d(vi bits) { return (vd)bits; }
INLAY_INLINE vi splat_i(int64_t x) { return (vi)(x); }
INLAY_INLINE vi difference_i(vi a, vi b) { return a - b; }
INLAY_INLINE vi shifted_right(vi x, int count) { return (vi)((vu)x >> count); }
INLAY_INLINE vi shifted_left(vi x, int count) { return (vi)((vu)x << count); }
INLAY_INLINE vd select_d(vi mask, vd yes, vd no) { return mask ? yes : no; }
