#pragma once
// log(2^n m) = n ln2 - log(c) + log(1 + r) with 1 <= m < 2, c near 1/m from a table in registers, r = m c - 1.
//
// c has 5 bits behind the point, so r is exact. The first c is 1 and the last 1/2: near x = 1, from either side,
// n ln2 - log(c) is exactly 0 and log(1 + r) stands alone, with all its digits.
#include "coefficients.h"
#include "table_exp.h"
#include "vector_types.h"

INLAY_INLINE vd log_by_class_of(vd x, vd result) { return by_class_of(x, result, 0x03530422); }

/// Everything of the sum but log(1 + r): `high` is exact, or 0, and larger than r.
typedef struct {
  vd n, c, r, high, low;
} LogParts;

INLAY_INLINE LogParts log_parts(vd x) {
  LogParts l;
  l.n = exponent_d(x);
  const vd m = mantissa_d(x);
  const vi index = shifted_right(bits_d(m), 48);
  vd row[4];
  lookup_4(&kLog[0][0], 4, index, row);
  l.c = row[0];
  l.r = short_product_added(m, l.c, splat(-1));
  l.high = fma_d(l.n, splat(kLogLn2), row[1]);
  l.low = fma_d(l.n, splat(kLogLn2Low), row[2]);
  return l;
}

/// log(x) as high + low for x > 0; infinity and nan give nan.
typedef struct {
  vd high, low;
} Log;

INLAY_INLINE Log log_in_two(vd x) {
  const LogParts l = log_parts(x);
  Log result;
  result.high = l.high + l.r;
  const vd lost = (l.high - result.high) + l.r;
  result.low = fma_d(l.r * l.r, POLYNOMIAL_IN_PAIRS(l.r, l.r * l.r, kLogPoly), l.low + lost);
  return result;
}

/// log(x (1 + rest / x)) but for the class of x; with x = 1 + y rounded and rest what the rounding lost it is log1p(y).
INLAY_INLINE Log log_of_parts_in_two(LogParts l, vd rest) {
  const vd scaled = rest * l.c;
  const vd r = l.r + scaled;
  Log result;
  result.high = l.high + l.r;
  const vd lost = (l.high - result.high) + l.r;
  result.low = fma_d(r * r, POLYNOMIAL_IN_PAIRS(r, r * r, kLogPoly), l.low + (lost + scaled));
  return result;
}

INLAY_INLINE vd log_of_parts(LogParts l, vd rest) {
  const Log log = log_of_parts_in_two(l, rest);
  return log.high + log.low;
}

INLAY_INLINE vd log_of(vd x) {
  const Log l = log_in_two(x);
  return log_by_class_of(x, l.high + l.low);
}

/// x times a logarithm, which is the sum of its parts but for the class: rounded once. Nothing is added to an infinite
/// one.
INLAY_INLINE vd times_log(vd x, vd log, Log parts) {
  const vd lost = (parts.high - (parts.high + parts.low)) + parts.low;
  return large_product_added(x, log, clamp(x, -1e300, 1e300) * max_d(lost, splat(-1)));
}

INLAY_INLINE vd x_log_y(vd x, vd y) {
  const Log l = log_in_two(y);
  return times_log(x, log_by_class_of(y, l.high + l.low), l);
}

/// log(x) times a constant in two parts.
INLAY_INLINE vd log_scaled(vd x, double factor, double factor_low) {
  const Log log = log_in_two(x);
  const vd product = log.high * factor;
  const vd rest = product_rest(log.high, splat(factor), product);
  return log_by_class_of(x, product + fma_d(log.low, splat(factor), fma_d(log.high, splat(factor_low), rest)));
}

/// log((n + n_low) / (d + d_low)), where the lows are what rounding lost of n and d: the quotient in two parts.
INLAY_INLINE vd log_of_quotient(vd n, vd n_low, vd d, vd d_low) {
  const vd inverse = 1 / d;
  const vd q = n * inverse;
  const vd rest = (rest_of_quotient(q, d, n) + fnma_d(q, d_low, n_low)) * inverse;
  const LogParts l = log_parts(q);
  return log_by_class_of(q, log_of_parts(l, scale_whole(rest, -l.n)));
}

/// log(1 + x) in two parts but for its class, which is that of 1 + x.
typedef struct {
  vd u;
  Log log;
} Log1p;

INLAY_INLINE Log1p log1p_in_two(vd x) {
  const vd u = x + 1;
  const vd rest = x - (u - 1);
  const LogParts l = log_parts(u);
  const Log1p result = {u, log_of_parts_in_two(l, scale_near(rest, -l.n))};
  return result;
}

INLAY_INLINE vd log1p_of(vd x) {
  const Log1p l = log1p_in_two(x);
  return with_sign_of(log_by_class_of(l.u, l.log.high + l.log.low), x);
}

INLAY_INLINE vd x_log1p_y(vd x, vd y) {
  const Log1p l = log1p_in_two(y);
  const vd product = times_log(x, log_by_class_of(l.u, l.log.high + l.log.low), l.log);
  return with_sign_of(product, of_bits_d(bits_d(x) ^ bits_d(y)));  // of -0 too
}

/// larger + log(1 + e) for an e up to 1: 1 + e is its own mantissa. All is added to what the sums lose of the large
/// parts.
INLAY_INLINE vd plus_log1p_of_fraction(vd larger, Power e) {
  const vd u = min_d(splat(0x1.fffffffffffffp+0), e.high + 1);
  const vi index = shifted_right(bits_d(u), 48);
  vd row[4];
  lookup_4(&kLog[0][0], 4, index, row);
  const vd c = row[0], table = row[1];
  const vd first = short_product_added(u, c, splat(-1)), second = (e.high - (u - 1)) * c, r = first + second;
  const vd high = table + first;
  const vd low =
      fma_d(r * r, POLYNOMIAL_IN_PAIRS(r, r * r, kLogPoly), fma_d(e.low, c, ((table - high) + first) + row[2]));
  const vd sum = larger + high;
  const vd added = sum - larger;
  const vd lost = (larger - (sum - added)) + (high - added);
  return sum + max_d((lost + second) + low, splat(-1));  // nan where the sum is infinite
}

INLAY_INLINE vd log2_of(vd x) { return log_scaled(x, kLog2E, kLog2ELow); }

INLAY_INLINE vd log10_of(vd x) { return log_scaled(x, kLog10E, kLog10ELow); }

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
INLAY_INLINE vd softplus_of(vd x) { return plus_log1p_of_fraction(max_d(splat(0), x), exp_of_minus_abs(x)); }

/// log(1 - e^x) for x <= 0. Left of -log 2, 1 - e^x is formed with what its rounding lost; right of it from e^x - 1.
INLAY_INLINE vd log1mexp_of(vd x) {
  const Expm1Parts e = expm1_parts(clamp(x, -800, 800));
  const vd power = scale_rounded(e.table + e.rest, e.shifted, kSixteenths);
  const vd far = 1 - power;
  const vi is_far = x < -0x1.62e42fefa39efp-1;
  const vd u = select_d(is_far, far, -scale_rounded(e.high + e.low, e.shifted, kSixteenths));
  const vd rest = select_d(is_far, (1 - far) - power, splat(0));
  const LogParts l = log_parts(u);
  return -abs_d(log_by_class_of(u, log_of_parts(l, scale_whole(rest, -l.n))));  // -0.0 at -inf
}

/// log(e^x + e^y) = max(x, y) + log1p(e^-|x - y|). Equal infinities have no difference; nan stays nan through it.
INLAY_INLINE vd logaddexp_of(vd x, vd y) {
  const vd away = select_d(x == y, splat(0), x - y);
  return plus_log1p_of_fraction(max_d(x, y), exp_of_minus_abs(away));
}

/// x log y, but 0 for x = 0 and any y but nan.
INLAY_INLINE vd xlogy_of(vd x, vd y) { return select_d((x == 0) & (y == y), splat(0), x_log_y(x, y)); }

INLAY_INLINE vd xlog1py_of(vd x, vd y) { return select_d((x == 0) & (y == y), splat(0), x_log1p_y(x, y)); }
