#pragma once
// erf of sixteen floats by piecewise polynomials, as in erf.h: a table of sixteen coefficients is one register.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"

/// |x| = 33/128 j + r; from 3.99 on it is 1. For j = 0 and 1 one r stands
/// apart from the polynomial: its factor is near 1 there, and little of it is rounded.
INLAY_INLINE vf float_erf_of(vf x) {
  const vf y = at_most_f(3.99F, abs_f(x));
  const vf shifted = fma_f(y, splat_f(kFloatErfInverseWidth), splat_f(kRoundToWhole));
  const vf r = fnma_f(shifted - splat_f(kRoundToWhole), splat_f(kFloatErfWidth), y);
  const vfi index = bits_f(shifted);
  vf slope = lookup_f(kFloatErf[5], index);
#pragma clang loop unroll(full)
  for (int i = 4; i >= 0; --i) slope = fma_f(slope, r, lookup_f(kFloatErf[i], index));
  const vf rest = fma_f(r, slope, lookup_f(kFloatErfLow, index));
  const vf all = select_f(shifted < kRoundToWhole + 2, r + rest, rest);
  return with_sign_of_f(lookup_f(kFloatErfFirst, index) + all, x);
}
