#pragma once
// Several lanes of floats: clang's vectors.
#define INLAY_FLOATS (2 * INLAY_LANES)
typedef float vf __attribute__((ext_vector_type(INLAY_FLOATS)));
typedef int32_t vfi __attribute__((ext_vector_type(INLAY_FLOATS)));
typedef uint32_t vfu __attribute__((ext_vector_type(INLAY_FLOATS)));

INLAY_INLINE vf splat_f(float x) { return (vf)(x); }
INLAY_INLINE vfi bits_f(vf x) { return (vfi)x; }
INLAY_INLINE vf of_bits_f(vfi bits) { return (vf)bits; }
INLAY_INLINE vfi shifted_right_f(vfi x, int count) { return (vfi)((vfu)x >> count); }
INLAY_INLINE vfi shifted_left_f(vfi x, int count) { return (vfi)((vfu)x << count); }
INLAY_INLINE vf select_f(vfi mask, vf yes, vf no) { return mask ? yes : no; }
