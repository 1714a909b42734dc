#pragma once
// Fused multiply-adds, by what a formula needs one for, and what stands for each on a CPU that has none.
//
// The second form rounds in other places, so its bits are others: those of SSE2, and of one lane of a C program for a
// CPU without the instruction. A number is cut in two by clearing the lower half of its bits, which, unlike
// multiplying by 2^27 + 1, overflows nowhere.
// Many a small CPU has the instruction for floats alone: bit 3 of __ARM_FP is not set there, and __riscv_flen is 32.
// The function fma of its C library may well round twice.
#if INLAY_LANES > 2 || defined(__FMA__) || (defined(__ARM_FEATURE_FMA) && (__ARM_FP & 8)) || \
    (defined(__riscv_flen) && __riscv_flen >= 64) || defined(FP_FAST_FMA)
#define INLAY_FUSED 1
#else
#define INLAY_FUSED 0
#endif

/// a b + c where it saves a rounding of something small: a step of a polynomial. Or where a b is exact.
INLAY_INLINE vd fma_d(vd a, vd b, vd c) {
#if !INLAY_FUSED
  return a * b + c;
#elif INLAY_LANES > 1
  return __builtin_elementwise_fma(a, b, c);
#else
  return fma(a, b, c);
#endif
}

/// c - a b
INLAY_INLINE vd fnma_d(vd a, vd b, vd c) { return fma_d(-a, b, c); }

/// The first 26 of 53 bits.
INLAY_INLINE vd upper_half(vd x) { return of_bits_d(bits_d(x) & -((int64_t)1 << 27)); }

/// What rounding lost of product = a b.
INLAY_INLINE vd product_rest(vd a, vd b, vd product) {
#if INLAY_FUSED
  return fma_d(a, b, -product);
#else
  const vd a_high = upper_half(a), b_high = upper_half(b), a_low = a - a_high, b_low = b - b_high;
  return (((a_high * b_high - product) + a_high * b_low) + a_low * b_high) + a_low * b_low;
#endif
}

/// n - q d, which is small beside n.
INLAY_INLINE vd rest_of_quotient(vd q, vd d, vd n) {
#if INLAY_FUSED
  return fnma_d(q, d, n);
#else
  const vd product = q * d;
  return (n - product) - product_rest(q, d, product);
#endif
}

/// x s + c for an s of at most 26 bits; where the sum needs no more bits than a number has it is exact.
INLAY_INLINE vd short_product_added(vd x, vd s, vd c) {
#if INLAY_FUSED
  return fma_d(x, s, c);
#else
  const vd high = upper_half(x);
  return (high * s + c) + (x - high) * s;
#endif
}

/// a b + c where the product is the larger. It may be infinite, or so small that its rest is none.
INLAY_INLINE vd large_product_added(vd a, vd b, vd c) {
#if INLAY_FUSED
  return fma_d(a, b, c);
#else
  const vd product = a * b;
  const vd size = abs_d(product);
  const vd with_rest = product_rest(a, b, product) + c;
  return product + select_d((size > 0x1p-1000) & (size < INFINITY), with_rest, c);
#endif
}

/// A sum, and what rounding lost of it.
typedef struct {
  vd high, low;
} Sum;

/// a b + c where c is not the smaller, or 0.
INLAY_INLINE Sum product_added(vd a, vd b, vd c) {
#if INLAY_FUSED
  const vd high = fma_d(a, b, c);
  const Sum sum = {high, fma_d(a, b, c - high)};
#else
  const vd product = a * b;
  const vd high = product + c;
  const Sum sum = {high, ((c - high) + product) + product_rest(a, b, product)};
#endif
  return sum;
}
