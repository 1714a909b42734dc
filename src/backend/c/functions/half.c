#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t bits_of_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* f16 and bf16 are kept as their bits, and computed in f32. */
static inline float f32_of_f16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, digits = half & 0x3ff;
  if (exponent == 0) return f32_of_bits(sign | bits_of_f32((float)digits * 0x1p-24f));
  return f32_of_bits(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | digits << 13);
}

/* To the nearest, to even in the middle, rounded once. */
static inline uint16_t f16_of_f64(double x) {
  const uint16_t sign = copysign(1, x) < 0 ? 0x8000 : 0;
  const double size = fabs(x);
  int exponent;
  if (x != x) return sign | 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | (uint16_t)nearbyint(size * 0x1p24);
  const double digits = nearbyint(frexp(size, &exponent) * 2048); /* 2048 is the next exponent's first number */
  return sign | (uint16_t)(((exponent + 14) << 10) + ((int)digits - 1024));
}

static inline float f32_of_bf16(uint16_t half) { return f32_of_bits((uint32_t)half << 16); }

static inline uint16_t bf16_of_f32(float x) {
  const uint32_t bits = bits_of_f32(x);
  if (x != x) return (uint16_t)((bits | 0x400000) >> 16);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
