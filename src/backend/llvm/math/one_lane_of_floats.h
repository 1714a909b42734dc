#pragma once
// One lane of floats, in C99.
typedef float vf;
typedef int32_t vfi;
typedef int LanesF;

INLAY_INLINE vf splat_f(float x) { return x; }

INLAY_INLINE vfi bits_f(vf x) {
  const union {
    float number;
    int32_t bits;
  } same = {x};
  return same.bits;
}

INLAY_INLINE vf of_bits_f(vfi bits) {
  const union {
    int32_t bits;
    float number;
  } same = {bits};
  return same.number;
}

INLAY_INLINE vfi shifted_right_f(vfi x, int count) { return (int32_t)((uint32_t)x >> count); }

INLAY_INLINE vfi shifted_left_f(vfi x, int count) { return (int32_t)((uint32_t)x << count); }

INLAY_INLINE vf select_f(vfi condition, vf yes, vf no) { return condition ? yes : no; }

INLAY_INLINE vf min_f(vf a, vf b) { return a < b ? a : b; }

INLAY_INLINE vf max_f(vf a, vf b) { return a > b ? a : b; }

INLAY_INLINE LanesF below_f(vf x, float limit) { return x < limit; }

INLAY_INLINE vf lookup_f(const float* table, vfi index) { return table[index & 15]; }
