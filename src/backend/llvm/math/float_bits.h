#pragma once
// What AVX-512 has instructions for, by integer arithmetic on the bits of floats: what vector_bits.h is for doubles.

typedef struct {
  vf magnitude, offset;
} NormalF;

INLAY_INLINE NormalF normal_of_f(vf x) {
  const vf y = abs_f(x);
  const NormalF normal = {select_f(y < 0x1p-126f, y * 0x1p24f, y),
                          select_f(y < 0x1p-126f, splat_f(0x1p23f + 151), splat_f(0x1p23f + 127))};
  return normal;
}

INLAY_INLINE vf exponent_f(vf x) {
  const NormalF normal = normal_of_f(x);
  return of_bits_f(shifted_right_f(bits_f(normal.magnitude), 23) | 0x4b000000) - normal.offset;
}

INLAY_INLINE vf mantissa_f(vf x) { return of_bits_f((bits_f(normal_of_f(x).magnitude) & 0x007fffff) | 0x3f800000); }

/// Only what functions of floats ask for: log's, and what leaves +-0 and nan as they are.
INLAY_INLINE vf by_class_of_f(vf x, vf result, int what) {
  if (what == 0x00000122) return select_f((x < 0) | (x > 0), result, x);
  result = select_f(x < 0, splat_f(NAN), result);
  result = select_f(x == 0, splat_f(-INFINITY), result);
  return select_f(x < INFINITY, result, x);
}

INLAY_INLINE vf reciprocal_f(vf x) { return 1 / x; }
