// Elementary functions of eight doubles, and some of sixteen floats, without branches: the emitter copies each body
// into the loop that needs it.
//
// Every function is one basic block: both sides of a choice are computed and one is selected. Special values (signed
// zeros, infinities, nan, subnormals, overflow, gradual underflow) are right. docs/math.md has the measured errors.
#include "arcsin.h"
#include "arctan.h"
#include "cbrt.h"
#include "erf.h"
#include "float_erf.h"
#include "float_exp.h"
#include "float_log.h"
#include "float_sin.h"
#include "gamma.h"
#include "hyperbolic.h"
#include "normal.h"
#include "pow.h"
#include "sin.h"
#include "sqrt.h"
#include "table_exp.h"
#include "table_log.h"

v8d inlay_v8_exp(v8d x) { return exp_of(x); }

v8d inlay_v8_log(v8d x) { return log_of(x); }

v8d inlay_v8_log1p(v8d x) { return log1p_of(x); }

v8d inlay_v8_expm1(v8d x) {
  const Expm1Parts e = expm1_parts(clamp(x, -60, 800));
  return with_sign_of(scale(e.high + e.low, e.k), x);
}

/// e^-|x| never overflows: 1 / (1 + e) on the right, e / (1 + e) on the left, which keeps its digits down to e^-745.
v8d inlay_v8_sigmoid(v8d x) {
  const v8d e = exp_of_minus_abs(x);
  return select8(x < 0, e, splat(1)) / (1 + e);
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
v8d inlay_v8_softplus(v8d x) {
  const v8d e = exp_of_minus_abs(x);
  return _mm512_max_pd(splat(0), x) + log1p_of_fraction(e);
}

/// log(1 - e^x) for x <= 0. Left of -log 2, 1 - e^x is formed with what its rounding lost; right of it from e^x - 1.
v8d inlay_v8_log1mexp(v8d x) {
  const Expm1Parts e = expm1_parts(_mm512_max_pd(splat(-800), x));
  const v8d power = scale(e.table + fma8(e.table, e.p, e.table_low), e.k);
  const v8d far = 1 - power;
  const v8i is_far = x < -0x1.62e42fefa39efp-1;
  const v8d u = select8(is_far, far, -scale(e.high + e.low, e.k));
  const v8d rest = select8(is_far, (1 - far) - power, splat(0));
  const LogParts l = log_parts(u);
  return -abs8(log_by_class_of(u, log_of_parts(l, scale(rest, -l.n))));  // -0.0 at -inf
}

/// log(e^x + e^y) = max(x, y) + log1p(e^-|x - y|). Equal infinities have no difference; nan stays nan through it.
v8d inlay_v8_logaddexp(v8d x, v8d y) {
  const v8d away = select8(x == y, splat(0), x - y);
  return _mm512_max_pd(x, y) + log1p_of_fraction(exp_of_minus_abs(away));
}

/// x log y, but 0 for x = 0 and any y but nan.
v8d inlay_v8_xlogy(v8d x, v8d y) { return select8((x == 0) & (y == y), splat(0), x * log_of(y)); }
v8d inlay_v8_xlog1py(v8d x, v8d y) { return select8((x == 0) & (y == y), splat(0), x * log1p_of(y)); }

v8d inlay_v8_exp2(v8d x) { return exp2_of(x); }
v8d inlay_v8_log2(v8d x) { return log_scaled(x, kLog2E, kLog2ELow); }
v8d inlay_v8_log10(v8d x) { return log_scaled(x, kLog10E, kLog10ELow); }
v8d inlay_v8_sqrt(v8d x) { return sqrt_of(x); }
v8d inlay_v8_cbrt(v8d x) { return cbrt_of(x); }
v8d inlay_v8_logit(v8d x) { return logit_of(x); }

v8d inlay_v8_sinh(v8d x) { return sinh_of(x); }
v8d inlay_v8_cosh(v8d x) { return cosh_of(x); }
v8d inlay_v8_tanh(v8d x) { return tanh_of(x); }
v8d inlay_v8_arcsinh(v8d x) { return arcsinh_of(x); }
v8d inlay_v8_arccosh(v8d x) { return arccosh_of(x); }
v8d inlay_v8_arctanh(v8d x) { return arctanh_of(x); }

v8d inlay_v8_arctan(v8d x) { return arctan_of(x); }
v8d inlay_v8_arcsin(v8d x) { return arcsin_of(x); }
v8d inlay_v8_arccos(v8d x) { return arccos_of(x); }

v8d inlay_v8_ndtr(v8d x) { return ndtr_of(x); }

v8d inlay_v8_erf(v8d x) { return erf_of(x); }

v8d inlay_v8_erfc(v8d x) { return erfc_of(x); }

// Where a function is right only for some x, <name>_domain has a bit per lane that says so.

v8d inlay_v8_lgamma(v8d x) { return lgamma_of_positive(x); }
Lanes inlay_v8_lgamma_domain(v8d x) { return not_below_0(x); }

v8d inlay_v8_digamma(v8d x) { return digamma_of_positive(x); }
Lanes inlay_v8_digamma_domain(v8d x) { return not_below_0(x); }

v8d inlay_v8_sin(v8d x) { return sin_of(x); }
Lanes inlay_v8_sin_domain(v8d x) { return below(abs8(x), kSinLimit); }

v8d inlay_v8_tan(v8d x) { return tan_of(x); }
Lanes inlay_v8_tan_domain(v8d x) { return below(abs8(x), kSinLimit); }

v8d inlay_v8_arctan2(v8d y, v8d x) { return arctan2_of(y, x); }
Lanes inlay_v8_arctan2_domain(v8d y, v8d x) {
  return above(abs8(y), 1e-145) & above(abs8(x), 1e-145) & below(abs8(y), 1e145) & below(abs8(x), 1e145);
}

v8d inlay_v8_erfcx(v8d x) { return erfcx_of(x); }
Lanes inlay_v8_erfcx_domain(v8d x) { return above(x, -26) & below(x, 28); }

v8d inlay_v8_log_ndtr(v8d x) { return log_ndtr_of(x); }
Lanes inlay_v8_log_ndtr_domain(v8d x) { return above(x, -37); }

v8d inlay_v8_cos(v8d x) { return cos_of(x); }
Lanes inlay_v8_cos_domain(v8d x) { return below(abs8(x), kSinLimit); }

v8d inlay_v8_pow(v8d x, v8d y) { return pow_of_positive(x, y); }
Lanes inlay_v8_pow_domain(v8d x, v8d y) { return above_0(x) & below(x, __builtin_inf()) & below(abs8(y), 1e300); }

// Sixteen floats.

v16f inlay_v16_exp(v16f x) { return float_exp_of(x); }
v16f inlay_v16_exp2(v16f x) { return float_exp2_of(x); }
v16f inlay_v16_expm1(v16f x) { return float_expm1_of(x); }
v16f inlay_v16_log(v16f x) { return float_log_of(x); }
v16f inlay_v16_log2(v16f x) { return float_log2_of(x); }
v16f inlay_v16_log1p(v16f x) { return float_log1p_of(x); }
v16f inlay_v16_sigmoid(v16f x) { return float_sigmoid_of(x); }
v16f inlay_v16_softplus(v16f x) { return float_softplus_of(x); }
v16f inlay_v16_tanh(v16f x) { return float_tanh_of(x); }
v16f inlay_v16_erf(v16f x) { return float_erf_of(x); }

v16f inlay_v16_sin(v16f x) { return float_sin_of(x); }
Lanes16 inlay_v16_sin_domain(v16f x) { return below16(abs16(x), kSinLimit); }

v16f inlay_v16_cos(v16f x) { return float_cos_of(x); }
Lanes16 inlay_v16_cos_domain(v16f x) { return below16(abs16(x), kSinLimit); }
