// Elementary functions of INLAY_LANES doubles, and some of twice as many floats, without branches: the emitter copies
// each body into the loop that needs it.
//
// Every function is one basic block: both sides of a choice are computed and one is selected. Special values (signed
// zeros, infinities, nan, subnormals, overflow, gradual underflow) are right. docs/math.md has the measured errors.
#include "arcsin.h"
#include "arctan.h"
#include "bessel.h"
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
#include "quantile.h"
#include "sin.h"
#include "sqrt.h"
#include "table_exp.h"
#include "table_log.h"

// inlay_d8_exp, inlay_d8_sin_domain, inlay_f16_exp; of four lanes inlay_d4_exp, inlay_f8_exp; of two inlay_d2_exp,
// inlay_f4_exp.
#if INLAY_LANES == 8
#define DOUBLES(name) inlay_d8_##name
#define FLOATS(name) inlay_f16_##name
#elif INLAY_LANES == 4
#define DOUBLES(name) inlay_d4_##name
#define FLOATS(name) inlay_f8_##name
#elif INLAY_LANES == 2
#define DOUBLES(name) inlay_d2_##name
#define FLOATS(name) inlay_f4_##name
#elif INLAY_FUSED  // one lane, of the tests
#define DOUBLES(name) inlay_d1_fused_##name
#define FLOATS(name) inlay_f1_fused_##name
#else
#define DOUBLES(name) inlay_d1_##name
#define FLOATS(name) inlay_f1_##name
#endif
#define DOMAIN(name) DOUBLES(name##_domain)
#define FLOAT_DOMAIN(name) FLOATS(name##_domain)

vd DOUBLES(exp)(vd x) { return exp_of(x); }

vd DOUBLES(log)(vd x) { return log_of(x); }

vd DOUBLES(log1p)(vd x) { return log1p_of(x); }

vd DOUBLES(expm1)(vd x) { return expm1_of(x); }

vd DOUBLES(sigmoid)(vd x) { return sigmoid_of(x); }

vd DOUBLES(softplus)(vd x) { return softplus_of(x); }

vd DOUBLES(log1mexp)(vd x) { return log1mexp_of(x); }

vd DOUBLES(logaddexp)(vd x, vd y) { return logaddexp_of(x, y); }
vd DOUBLES(xlogy)(vd x, vd y) { return xlogy_of(x, y); }
vd DOUBLES(xlog1py)(vd x, vd y) { return xlog1py_of(x, y); }

vd DOUBLES(exp2)(vd x) { return exp2_of(x); }
vd DOUBLES(log2)(vd x) { return log2_of(x); }
vd DOUBLES(log10)(vd x) { return log10_of(x); }
vd DOUBLES(sqrt)(vd x) { return sqrt_of(x); }
vd DOUBLES(cbrt)(vd x) { return cbrt_of(x); }
vd DOUBLES(logit)(vd x) { return logit_of(x); }

vd DOUBLES(sinh)(vd x) { return sinh_of(x); }
vd DOUBLES(cosh)(vd x) { return cosh_of(x); }
vd DOUBLES(tanh)(vd x) { return tanh_of(x); }
vd DOUBLES(arcsinh)(vd x) { return arcsinh_of(x); }
vd DOUBLES(arccosh)(vd x) { return arccosh_of(x); }
vd DOUBLES(arctanh)(vd x) { return arctanh_of(x); }

vd DOUBLES(arctan)(vd x) { return arctan_of(x); }
vd DOUBLES(arcsin)(vd x) { return arcsin_of(x); }
vd DOUBLES(arccos)(vd x) { return arccos_of(x); }

vd DOUBLES(ndtr)(vd x) { return ndtr_of(x); }

vd DOUBLES(erf)(vd x) { return erf_of(x); }

vd DOUBLES(erfc)(vd x) { return erfc_of(x); }

vd DOUBLES(erfinv)(vd x) { return erfinv_of(x); }
vd DOUBLES(erfcinv)(vd x) { return erfcinv_of(x); }
vd DOUBLES(ndtri)(vd x) { return ndtri_of(x); }

vd DOUBLES(i0)(vd x) { return i0_of(x); }
vd DOUBLES(i1)(vd x) { return i1_of(x); }

// Where a function is right only for some x, <name>_domain says so of each lane: by a bit, or by all of its bits.

vd DOUBLES(lgamma)(vd x) { return lgamma_of_positive(x); }
Lanes DOMAIN(lgamma)(vd x) { return not_below_0(x); }

vd DOUBLES(digamma)(vd x) { return digamma_of_positive(x); }
Lanes DOMAIN(digamma)(vd x) { return not_below_0(x); }

vd DOUBLES(trigamma)(vd x) { return trigamma_of_positive(x); }
Lanes DOMAIN(trigamma)(vd x) { return not_below_0(x); }

vd DOUBLES(ive)(vd v, vd x) { return ive_of(v, x); }
Lanes DOMAIN(ive)(vd v, vd x) {
  (void)x;
  return equals(v, 0) | equals(abs_d(v), 1);
}

vd DOUBLES(sin)(vd x) { return sin_of(x); }
Lanes DOMAIN(sin)(vd x) { return below(abs_d(x), kSinLimit); }

vd DOUBLES(tan)(vd x) { return tan_of(x); }
Lanes DOMAIN(tan)(vd x) { return below(abs_d(x), kSinLimit); }

vd DOUBLES(arctan2)(vd y, vd x) { return arctan2_of(y, x); }
Lanes DOMAIN(arctan2)(vd y, vd x) {
  return above(abs_d(y), 1e-145) & above(abs_d(x), 1e-145) & below(abs_d(y), 1e145) & below(abs_d(x), 1e145);
}

vd DOUBLES(erfcx)(vd x) { return erfcx_of(x); }
Lanes DOMAIN(erfcx)(vd x) { return above(x, -26) & below(x, 28); }

vd DOUBLES(log_ndtr)(vd x) { return log_ndtr_of(x); }
Lanes DOMAIN(log_ndtr)(vd x) { return above(x, -37); }

vd DOUBLES(cos)(vd x) { return cos_of(x); }
Lanes DOMAIN(cos)(vd x) { return below(abs_d(x), kSinLimit); }

vd DOUBLES(pow)(vd x, vd y) { return pow_of_positive(x, y); }
Lanes DOMAIN(pow)(vd x, vd y) { return above_0(x) & below(x, __builtin_inf()) & below(abs_d(y), 1e300); }

// Floats, twice as many.

vf FLOATS(exp)(vf x) { return float_exp_of(x); }
vf FLOATS(exp2)(vf x) { return float_exp2_of(x); }
vf FLOATS(expm1)(vf x) { return float_expm1_of(x); }
vf FLOATS(log)(vf x) { return float_log_of(x); }
vf FLOATS(log2)(vf x) { return float_log2_of(x); }
vf FLOATS(log1p)(vf x) { return float_log1p_of(x); }
vf FLOATS(sigmoid)(vf x) { return float_sigmoid_of(x); }
vf FLOATS(softplus)(vf x) { return float_softplus_of(x); }
vf FLOATS(tanh)(vf x) { return float_tanh_of(x); }
vf FLOATS(erf)(vf x) { return float_erf_of(x); }

vf FLOATS(sin)(vf x) { return float_sin_of(x); }
LanesF FLOAT_DOMAIN(sin)(vf x) { return below_f(abs_f(x), kSinLimit); }

vf FLOATS(cos)(vf x) { return float_cos_of(x); }
LanesF FLOAT_DOMAIN(cos)(vf x) { return below_f(abs_f(x), kSinLimit); }
