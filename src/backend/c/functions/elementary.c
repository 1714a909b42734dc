#include <math.h>

/* Where the math of one lane is right everywhere. */
static inline double exp_f64(double x) { return math_exp_of(x); }

static inline double exp2_f64(double x) { return math_exp2_of(x); }

static inline double expm1_f64(double x) { return math_expm1_of(x); }

static inline double log_f64(double x) { return math_log_of(x); }

static inline double log2_f64(double x) { return math_log2_of(x); }

static inline double log10_f64(double x) { return math_log10_of(x); }

static inline double log1p_f64(double x) { return math_log1p_of(x); }

static inline double log1mexp_f64(double x) { return math_log1mexp_of(x); }

static inline double sigmoid_f64(double x) { return math_sigmoid_of(x); }

static inline double softplus_f64(double x) { return math_softplus_of(x); }

static inline double logit_f64(double x) { return math_logit_of(x); }

static inline double cbrt_f64(double x) { return math_cbrt_of(x); }

static inline double sinh_f64(double x) { return math_sinh_of(x); }

static inline double cosh_f64(double x) { return math_cosh_of(x); }

static inline double tanh_f64(double x) { return math_tanh_of(x); }

static inline double arcsinh_f64(double x) { return math_arcsinh_of(x); }

static inline double arccosh_f64(double x) { return math_arccosh_of(x); }

static inline double arctanh_f64(double x) { return math_arctanh_of(x); }

static inline double arctan_f64(double x) { return math_arctan_of(x); }

static inline double arcsin_f64(double x) { return math_arcsin_of(x); }

static inline double arccos_f64(double x) { return math_arccos_of(x); }

static inline double erf_f64(double x) { return math_erf_of(x); }

static inline double erfc_f64(double x) { return math_erfc_of(x); }

static inline double ndtr_f64(double x) { return math_ndtr_of(x); }

static inline double erfinv_f64(double x) { return math_erfinv_of(x); }

static inline double erfcinv_f64(double x) { return math_erfcinv_of(x); }

static inline double ndtri_f64(double x) { return math_ndtri_of(x); }

static inline double i0_f64(double x) { return math_i0_of(x); }

static inline double i1_f64(double x) { return math_i1_of(x); }

static inline double logaddexp_f64(double x, double y) { return math_logaddexp_of(x, y); }

static inline double xlogy_f64(double x, double y) { return math_xlogy_of(x, y); }

static inline double xlog1py_f64(double x, double y) { return math_xlog1py_of(x, y); }

static inline double sin_f64(double x) { return fabs(x) < kSinLimit ? math_sin_of(x) : sin(x); }

static inline double cos_f64(double x) { return fabs(x) < kSinLimit ? math_cos_of(x) : cos(x); }

static inline double tan_f64(double x) { return fabs(x) < kSinLimit ? math_tan_of(x) : tan(x); }

static inline double arctan2_f64(double y, double x) {
  const double a = fabs(y), b = fabs(x);
  return a > 1e-145 && b > 1e-145 && a < 1e145 && b < 1e145 ? math_arctan2_of(y, x) : atan2(y, x);
}

static inline double pow_f64(double x, double y) {
  return x > 0 && x < INFINITY && fabs(y) < 1e300 ? math_pow_of_positive(x, y) : pow(x, y);
}

static inline float exp_f32(float x) { return math_float_exp_of(x); }

static inline float exp2_f32(float x) { return math_float_exp2_of(x); }

static inline float expm1_f32(float x) { return math_float_expm1_of(x); }

static inline float log_f32(float x) { return math_float_log_of(x); }

static inline float log2_f32(float x) { return math_float_log2_of(x); }

static inline float log1p_f32(float x) { return math_float_log1p_of(x); }

static inline float sigmoid_f32(float x) { return math_float_sigmoid_of(x); }

static inline float softplus_f32(float x) { return math_float_softplus_of(x); }

static inline float tanh_f32(float x) { return math_float_tanh_of(x); }

static inline float erf_f32(float x) { return math_float_erf_of(x); }

static inline float sin_f32(float x) { return fabsf(x) < (float)kSinLimit ? math_float_sin_of(x) : (float)sin(x); }

static inline float cos_f32(float x) { return fabsf(x) < (float)kSinLimit ? math_float_cos_of(x) : (float)cos(x); }
