#pragma once
// erf of sixteen floats by piecewise polynomials, as in erf.h: a table of sixteen coefficients is one register.
#include "coefficients.h"
#include "float_exp.h"
#include "float_types.h"

/// |x| = 33/128 j + r; from 3.99 on it is 1. For j = 0 and 1 one r stands
/// apart from the polynomial: its factor is near 1 there, and little of it is rounded.
INLAY_INLINE v16f float_erf_of(v16f x) {
  const v16f y = at_most16(3.99F, abs16(x));
  const v16f shifted = fma16(y, splat16(kFloatErfInverseWidth), splat16(kRoundToWhole));
  const v16f r = fnma16(shifted - splat16(kRoundToWhole), splat16(kFloatErfWidth), y);
  const v16i index = (v16i)shifted;
  v16f slope = entry16(kFloatErf[5], index);
#pragma clang loop unroll(full)
  for (int i = 4; i >= 0; --i) slope = fma16(slope, r, entry16(kFloatErf[i], index));
  const v16f rest = fma16(r, slope, entry16(kFloatErfLow, index));
  const v16f all = select16(shifted < kRoundToWhole + 2, r + rest, rest);
  return with_sign_of16(entry16(kFloatErfFirst, index) + all, x);
}
