#pragma once
// Hyperbolic functions and their inverses, from the parts of e^x and of the logarithm.
#include "coefficients.h"
#include "table_exp.h"
#include "table_log.h"
#include "vector_types.h"

/// e^|x| / 2, without overflow before its last bit, and what rounding lost of it, which never is infinite.
INLAY_INLINE Power half_exp_of_abs(vd x) {
  const ExpParts e = exp_parts(min_d(splat(720), abs_d(x)));
  const vd sum = e.high + e.rest;
  const Power half = {scale_rounded(sum, e.shifted - 1, kQuarters),
                      scale_rounded((e.high - sum) + e.rest, e.shifted - 1, kQuarters)};
  return half;
}

INLAY_INLINE vd cosh_of(vd x) {
  const Power half = half_exp_of_abs(x);
  return half.high + (0.25 / half.high + half.low);
}

/// Up to 1 a polynomial, from there e^x / 2 - e^-x / 2.
INLAY_INLINE vd sinh_of(vd x) {
  const Power half = half_exp_of_abs(x);
  const vd y = abs_d(x);
  const vd square = y * y;
  const vd near = fma_d(y * square, POLYNOMIAL(square, kSinhPoly), y);
  return with_sign_of(select_d(y < 1, near, half.high - (0.25 / half.high - half.low)), x);
}

/// (1 - e^-2|x|) / (1 + e^-2|x|), from t = e^-2|x| - 1 so that nothing cancels at 0: t / (t + 2), with what rounding
/// lost of t and of t + 2 brought back.
INLAY_INLINE vd tanh_of(vd x) {
  const Expm1Parts e = expm1_parts(max_d(splat(-60), -2 * abs_d(x)));
  const vd sum = e.high + e.low, n = floor_d(e.k);
  const vd t = scale_near(sum, n);
  const vd t_low = scale_near((e.high - sum) + e.low, n);
  const vd d = t + 2;
  return with_sign_of(quotient_of_two(t, t_low, d, (t - (d - 2)) + t_low), x);
}

/// log((1 + |x|) / (1 - |x|)) / 2
INLAY_INLINE vd arctanh_of(vd x) {
  const vd y = abs_d(x);
  const vd n = 1 + y, d = 1 - y;
  return with_sign_of(0.5 * log_of_quotient(n, y - (n - 1), d, (1 - d) - y), x);
}

/// log(x / (1 - x))
INLAY_INLINE vd logit_of(vd x) {
  const vd d = 1 - x;
  return log_of_quotient(x, splat(0), d, (1 - d) - x);
}

/// log(1 + s + s_low) for s >= 0, and log(2 y) where y is so large that s is y + y.
INLAY_INLINE vd log1p_or_log_twice(vd s, vd s_low, vd y) {
  const vi far = y > 0x1p28;
  const vd u = select_d(far, y, 1 + s);
  const vd rest = select_d(far, splat(0), (s - (u - 1)) + s_low);
  LogParts l = log_parts(u);
  const vd scaled = scale_near(rest, -l.n);
  const vd more = select_d(far, splat(1), splat(0));
  l.high += more * kLogLn2;
  l.low += more * kLogLn2Low;
  return log_by_class_of(u, log_of_parts(l, scaled));
}

/// log(y + sqrt(y^2 + 1)) with y = |x|, as log1p of y + y^2 / (1 + sqrt(y^2 + 1)).
INLAY_INLINE vd arcsinh_of(vd x) {
  const vd y = abs_d(x);
  const vd square = y * y;
  const vd more = square / (1 + sqrt_d(square + 1));
  const vd s = y + more;
  return with_sign_of(log1p_or_log_twice(s, (y - s) + more, y), x);
}

/// log(x + sqrt(x^2 - 1)) as log1p of d + sqrt(d^2 + 2 d) with d = x - 1, which is exact up to 2. The root is in two
/// parts.
INLAY_INLINE vd arccosh_of(vd x) {
  const vd d = x - 1, twice = d + d;
  const Sum square = product_added(d, d, twice);
  const vd root = sqrt_d(square.high);
  const vd root_low = (rest_of_quotient(root, root, square.high) + square.low) * rough_reciprocal(root + root);
  const vd s = root + d;
  return select_d(x < 1, splat(NAN), log1p_or_log_twice(s, ((root - s) + d) + root_low, x));
}
