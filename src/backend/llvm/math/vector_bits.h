#pragma once
// What AVX-512 has instructions for, by integer arithmetic on the bits of the numbers: exponents, powers of two,
// classes of numbers. The same in four, two and one lanes.

/// 2^n for a whole n: the sum has n + 1023 in its last bits.
INLAY_INLINE vd power_of_two(vd n) { return of_bits_d(shifted_left(bits_d(n + (0x1.8p+52 + 1023)), 52)); }

/// x 2^n for a whole n from -1022 to 1023; and where x is 0, n may be -1023.
INLAY_INLINE vd scale_near(vd x, vd n) { return x * power_of_two(n); }

/// x 2^floor(k) of k rounded by ROUND_TO(bits), for |k| up to 2044, rounded once where |x| 2^floor(k/2) is no
/// subnormal, also into the subnormals and to infinity. In two steps, by the exponents of 2^floor(n/2) and of the rest:
/// the bits have n + 2046, so no sign is in the way.
INLAY_INLINE vd scale_rounded(vd x, vd shifted, int bits) {
  const vi n = shifted_right(bits_d(shifted), bits), half = shifted_right(bits_d(shifted), bits + 1);
  return x * of_bits_d(shifted_left(half, 52)) * of_bits_d(shifted_left(n - half, 52));
}

/// |x| = 2^exponent mantissa with 1 <= mantissa < 2, for what is finite and not 0.
typedef struct {
  vd magnitude; /* not subnormal */
  vd offset;    /* of the exponent */
} Normal;

INLAY_INLINE Normal normal_of(vd x) {
  const vd y = abs_d(x);
  const Normal normal = {select_d(y < 0x1p-1022, y * 0x1p54, y),
                         select_d(y < 0x1p-1022, splat(0x1p52 + 1077), splat(0x1p52 + 1023))};
  return normal;
}

INLAY_INLINE vd exponent_d(vd x) {
  const Normal normal = normal_of(x);
  return of_bits_d(shifted_right(bits_d(normal.magnitude), 52) | 0x4330000000000000) - normal.offset;
}

INLAY_INLINE vd mantissa_d(vd x) {
  return of_bits_d((bits_d(normal_of(x).magnitude) & 0x000fffffffffffff) | 0x3ff0000000000000);
}

/// What a number of by_class_of stands for.
INLAY_INLINE vd class_value(vd x, int what) {
  return what == 3 ? splat(NAN) : what == 4 ? splat(-INFINITY) : what == 5 ? splat(INFINITY) : what == 8 ? splat(0) : x;
}

/// As in vector_avx512.h; a signalling nan is as a quiet one. `what` is a constant where this is called, and one
/// comparison serves as many classes as it can.
INLAY_INLINE vd by_class_of(vd x, vd result, long what) {
  const int nan = what & 15, zero = what >> 8 & 15, one = what >> 12 & 15, minimum = what >> 16 & 15,
            maximum = what >> 20 & 15, negative = what >> 24 & 15, positive = what >> 28 & 15;
  if (positive) result = select_d((x > 0) & (x < INFINITY), class_value(x, positive), result);
  if (negative && minimum == negative) {
    result = select_d(x < 0, class_value(x, negative), result);
  } else {
    if (negative) result = select_d((x < 0) & (x > -INFINITY), class_value(x, negative), result);
    if (minimum) result = select_d(x == -INFINITY, class_value(x, minimum), result);
  }
  if (zero == 1 && nan) {
    result = select_d((x < 0) | (x > 0), result, x);
  } else if (zero) {
    result = select_d(x == 0, class_value(x, zero), result);
  }
  if (one) result = select_d(x == 1, class_value(x, one), result);
  if (maximum == 5 && nan && zero != 1) return select_d(x < INFINITY, result, x);
  if (maximum) result = select_d(x == INFINITY, class_value(x, maximum), result);
  if (nan && zero != 1) result = select_d(x == x, result, x);
  return result;
}
