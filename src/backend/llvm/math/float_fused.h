#pragma once
// Floats: what fused.h is for doubles.
#if INLAY_FUSED || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen)
#define INLAY_FUSED_FLOATS 1
#else
#define INLAY_FUSED_FLOATS 0
#endif

INLAY_INLINE vf fma_f(vf a, vf b, vf c) {
#if !INLAY_FUSED_FLOATS
  return a * b + c;
#elif INLAY_LANES > 1
  return __builtin_elementwise_fma(a, b, c);
#else
  return fmaf(a, b, c);
#endif
}

/// c - a b
INLAY_INLINE vf fnma_f(vf a, vf b, vf c) { return fma_f(-a, b, c); }

/// The first 12 of 24 bits.
INLAY_INLINE vf upper_half_f(vf x) { return of_bits_f(bits_f(x) & -(1 << 12)); }

/// What rounding lost of product = a b.
INLAY_INLINE vf product_rest_f(vf a, vf b, vf product) {
#if INLAY_FUSED_FLOATS
  return fma_f(a, b, -product);
#else
  const vf a_high = upper_half_f(a), b_high = upper_half_f(b), a_low = a - a_high, b_low = b - b_high;
  return (((a_high * b_high - product) + a_high * b_low) + a_low * b_high) + a_low * b_low;
#endif
}

/// a b - 1 of a product near 1, rounded once.
INLAY_INLINE vf product_less_one_f(vf a, vf b) {
#if INLAY_FUSED_FLOATS
  return fma_f(a, b, splat_f(-1));
#else
  const vf a_high = upper_half_f(a), b_high = upper_half_f(b), a_low = a - a_high, b_low = b - b_high;
  return (a_high * b_high - 1) + ((a_high * b_low + a_low * b_high) + a_low * b_low);
#endif
}

/// n - q d, which is small beside n.
INLAY_INLINE vf rest_of_quotient_f(vf q, vf d, vf n) {
#if INLAY_FUSED_FLOATS
  return fnma_f(q, d, n);
#else
  const vf product = q * d;
  return (n - product) - product_rest_f(q, d, product);
#endif
}

/// a b + c where the product is the larger.
INLAY_INLINE vf large_product_added_f(vf a, vf b, vf c) {
#if INLAY_FUSED_FLOATS
  return fma_f(a, b, c);
#else
  const vf product = a * b;
  return product + (product_rest_f(a, b, product) + c);
#endif
}

/// A sum, and what rounding lost of it.
typedef struct {
  vf high, low;
} SumF;

/// a b + c where the product is not the smaller, or 0.
INLAY_INLINE SumF added_to_product_f(vf a, vf b, vf c) {
#if INLAY_FUSED_FLOATS
  const vf high = fma_f(a, b, c);
  const SumF sum = {high, fma_f(a, b, -high) + c};
#else
  const vf product = a * b;
  const vf high = product + c;
  const SumF sum = {high, ((product - high) + c) + product_rest_f(a, b, product)};
#endif
  return sum;
}
