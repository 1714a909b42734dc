#include <math.h>
#include <stdbool.h>

/* Where a file is to have no arithmetic on doubles: floats by libm's functions of floats, whose last bits are another
   matter than those of a double that is rounded. */
static inline float cbrt_single(float x) { return cbrtf(x); }

static inline float log10_single(float x) { return log10f(x); }

static inline float sin_single(float x) { return fabsf(x) < (float)kSinLimit ? math_float_sin_of(x) : sinf(x); }

static inline float cos_single(float x) { return fabsf(x) < (float)kSinLimit ? math_float_cos_of(x) : cosf(x); }

static inline float tan_single(float x) { return tanf(x); }

static inline float arcsin_single(float x) { return asinf(x); }

static inline float arccos_single(float x) { return acosf(x); }

static inline float arctan_single(float x) { return atanf(x); }

static inline float arctan2_single(float y, float x) { return atan2f(y, x); }

static inline float sinh_single(float x) { return sinhf(x); }

static inline float cosh_single(float x) { return coshf(x); }

static inline float arcsinh_single(float x) { return asinhf(x); }

static inline float arccosh_single(float x) { return acoshf(x); }

static inline float arctanh_single(float x) { return atanhf(x); }

static inline float erfc_single(float x) { return erfcf(x); }

static inline float pow_single(float x, float y) { return powf(x, y); }

/* log(1 - e^x), from the side that loses nothing. */
static inline float log1mexp_single(float x) {
  return x > -0.6931472f ? math_float_log_of(-math_float_expm1_of(x)) : math_float_log1p_of(-math_float_exp_of(x));
}

/* log(x / (1 - x)); near 1/2, where that is near 0, as log(2x) - log(2 - 2x), in which 2x - 1 is exact. */
static inline float logit_single(float x) {
  if (x > 0.25f && x < 0.75f) return math_float_log1p_of(2 * x - 1) - math_float_log1p_of(1 - 2 * x);
  return math_float_log_of(x / (1 - x));
}

static inline float xlogy_single(float x, float y) { return x == 0 && y == y ? 0 : x * math_float_log_of(y); }

static inline float xlog1py_single(float x, float y) { return x == 0 && y == y ? 0 : x * math_float_log1p_of(y); }

/* log(e^x + e^y) */
static inline float logaddexp_single(float x, float y) {
  const float most = x > y ? x : y, difference = x > y ? y - x : x - y;
  if (x == y) return x + 0.6931472f; /* infinities, too */
  return difference != difference ? difference : most + math_float_log1p_of(math_float_exp_of(difference));
}
