#pragma once
// log(2^n m) = n ln2 - log(c) + log(1 + r), as in table_log.h, sixteen floats at a time.
//
// There is no second table for what rounding loses of log(c): c was chosen so that it loses nothing (fit.py), nor does
// n ln2 - log(c) below 8.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"

INLAY_INLINE vf float_log_by_class_of(vf x, vf result) { return by_class_of_f(x, result, 0x03530422); }

/// `high` + `low` is everything but log(1 + r); low is what rounding lost of it, which is nothing below 8.
typedef struct {
  vf n, c, r, high, low;
} FloatLogParts;

INLAY_INLINE FloatLogParts float_log_parts(vf x) {
  FloatLogParts l;
  l.n = exponent_f(x);
  const vf m = mantissa_f(x);
  const vfi index = shifted_right_f(bits_f(m), 19);
  l.c = lookup_f(kFloatLogReciprocal, index);
  l.r = product_less_one_f(m, l.c);
  const vf table = lookup_f(kFloatLogTable, index);
  const SumF sum = added_to_product_f(l.n, splat_f(kFloatLn2), table);
  l.high = sum.high;
  l.low = sum.low;
  return l;
}

/// The logarithm but for the class of the number, whose r has a second part.
INLAY_INLINE vf float_log_of_parts(FloatLogParts l, vf r_low) {
  const vf r = l.r + r_low;
  const vf sum = l.high + l.r;
  const vf lost = (l.high - sum) + l.r;
  return sum + fma_f(r * r, POLYNOMIAL_F(r, kFloatLogPoly), (l.low + lost) + r_low);
}

INLAY_INLINE vf float_log_of(vf x) {
  const FloatLogParts l = float_log_parts(x);
  return float_log_by_class_of(x, l.high + (l.r + fma_f(l.r * l.r, POLYNOMIAL_F(l.r, kFloatLogPoly), l.low)));
}

/// What 1 + x loses is added to r.
INLAY_INLINE vf float_log1p_of(vf x) {
  const vf u = x + 1;
  const vf rest = x - (u - 1);
  const FloatLogParts l = float_log_parts(u);
  const vf log = float_log_of_parts(l, scale_f(rest, -l.n) * l.c);
  return with_sign_of_f(float_log_by_class_of(u, log), x);
}

/// log(1 + e^x) = max(x, 0) + log(1 + e) with e = e^-|x|: 1 + e is its own mantissa. The parts of the sum are added
/// with what rounding loses of them.
INLAY_INLINE vf float_softplus_of(vf x) {
  const FloatPair e = float_exp_of_minus_abs(x);
  const vf u = at_most_f(0x1.fffffep+0f, e.high + 1);
  const vfi index = shifted_right_f(bits_f(u), 19);
  const vf c = lookup_f(kFloatLogReciprocal, index), table = lookup_f(kFloatLogTable, index);
  const vf first = product_less_one_f(u, c), second = (e.high - (u - 1)) * c, r = first + second;
  const vf high = table + first;
  const vf low = fma_f(r * r, POLYNOMIAL_F(r, kFloatLogPoly), fma_f(e.low, c, (table - high) + first));
  const vf larger = at_least_f(0, x);
  const vf sum = larger + high;
  const vf added = sum - larger;
  const vf lost = (larger - (sum - added)) + (high - added);
  return sum + max_f((lost + second) + low, splat_f(-1));  // nan where the sum is infinite
}

/// n + log2(1/c) + log2(1 + r), the factor of r in two parts.
INLAY_INLINE vf float_log2_of(vf x) {
  const vf n = exponent_f(x);
  const vf m = mantissa_f(x);
  const vfi index = shifted_right_f(bits_f(m), 19);
  const vf r = product_less_one_f(m, lookup_f(kFloatLog2Reciprocal, index));
  const vf low = r * fma_f(r, POLYNOMIAL_F(r, kFloatLog2Poly), splat_f(kFloatLog2ELow));
  const vf sum = large_product_added_f(r, splat_f(kFloatLog2E), low);
  return float_log_by_class_of(x, (n + lookup_f(kFloatLog2Table, index)) + sum);
}
