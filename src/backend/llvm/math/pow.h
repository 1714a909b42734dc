#pragma once
// x^y = e^(y log x) for x > 0 and finite x and y, with the logarithm in two parts: its error is multiplied by y.
#include "coefficients.h"
#include "table_exp.h"
#include "table_log.h"
#include "vector_types.h"

/// log(x) to about 2^-68: as log_in_two, and r^2/2 and r^3/3 are in two parts too.
INLAY_INLINE Log log_accurate(vd x) {
  const LogParts l = log_parts(x);
  const vd sum = l.high + l.r;
  const vd lost = (l.high - sum) + l.r;
  const vd square = l.r * l.r;
  const vd square_low = product_rest(l.r, l.r, square);
  const vd less = fma_d(splat(-0.5), square, sum);
  const vd lost_square = fma_d(splat(-0.5), square, sum - less);
  const vd cube = square * l.r;
  const vd cube_low = fma_d(square_low, l.r, product_rest(square, l.r, cube));
  const vd third = cube * kThird;
  const vd third_low =
      fma_d(cube_low, splat(kThird), fma_d(cube, splat(kThirdLow), product_rest(cube, splat(kThird), third)));
  const vd high = less + third;
  const vd lost_cube = (less - high) + third;
  const vd rest = fma_d(splat(-0.5), square_low, l.low + (lost + lost_square)) + (lost_cube + third_low);
  const vd low = fma_d(square * square, POLYNOMIAL(l.r, kLogQuartic), rest);
  Log result;
  result.high = high + low;
  result.low = (high - result.high) + low;
  return result;
}

INLAY_INLINE vd pow_of_positive(vd x, vd y) {
  const Log log = log_accurate(x);
  const vd product = y * log.high;
  const vd rest = fma_d(y, log.low, product_rest(y, log.high, product));
  // Where the product is clamped the rest means nothing; 1e-10 is more than it can be elsewhere.
  const vd exponent = clamp(product, -800, 800);
  const vd low = clamp(rest, -1e-10, 1e-10);

  const vd shifted = fma_d(exponent, splat(kInverseLn2), splat(ROUND_TO(kQuarters)));
  return exp_from(exp_parts_of(shifted, less_ln2(exponent, shifted - splat(ROUND_TO(kQuarters))) + low));
}
