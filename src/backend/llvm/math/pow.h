#pragma once
// x^y = e^(y log x) for x > 0 and finite x and y, with the logarithm in two parts: its error is multiplied by y.
#include "coefficients.h"
#include "table_exp.h"
#include "table_log.h"
#include "vector_types.h"

/// log(x) to about 2^-65: as log_in_two, and r^2/2 is in two parts too.
INLAY_INLINE Log log_accurate(v8d x) {
  const LogParts l = log_parts(x);
  const v8d sum = l.high + l.r;
  const v8d lost = (l.high - sum) + l.r;
  const v8d square = l.r * l.r;
  const v8d square_low = fma8(l.r, l.r, -square);
  const v8d high = fma8(splat(-0.5), square, sum);
  const v8d lost_square = fma8(splat(-0.5), square, sum - high);
  const v8d rest = fma8(splat(-0.5), square_low, l.low + (lost + lost_square));
  const v8d low = fma8(square * l.r, POLYNOMIAL(l.r, kLogCubic), rest);
  Log result;
  result.high = high + low;
  result.low = (high - result.high) + low;
  return result;
}

INLAY_INLINE v8d pow_of_positive(v8d x, v8d y) {
  const Log log = log_accurate(x);
  const v8d product = y * log.high;
  const v8d rest = fma8(y, log.low, fma8(y, log.high, -product));
  // Where the product is clamped the rest means nothing; 1e-10 is more than it can be elsewhere.
  const v8d exponent = clamp(product, -800, 800);
  const v8d low = clamp(rest, -1e-10, 1e-10);

  const v8d shifted = fma8(exponent, splat(kInverseLn2), splat(kRoundToSixteenths));
  const v8i index = (v8i)shifted;
  const v8d k = shifted - splat(kRoundToSixteenths);
  const v8d r = fnma8(k, splat(kLn2Low), fnma8(k, splat(kLn2), exponent)) + low;
  const v8d p = fma8(r * r, POLYNOMIAL(r, kExpPoly), r);
  const v8d table = lookup16(kExpTable, index);
  return scale(table + fma8(table, p, lookup16(kExpTableLow, index)), k);
}
