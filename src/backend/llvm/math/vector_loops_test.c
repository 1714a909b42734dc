#include "vector_loops_test.h"

#include "vector_math_avx512.c"

#define LOOP(name)                                                        \
  static void loop_##name(const double* x, double* out, long count) {     \
    for (long i = 0; i < count; i += 8) {                                 \
      _mm512_storeu_pd(out + i, inlay_v8_##name(_mm512_loadu_pd(x + i))); \
    }                                                                     \
  }
#define DOMAIN(name)                                                     \
  static unsigned char domain_##name(const double* x, const double* y) { \
    (void)y;                                                             \
    return inlay_v8_##name##_domain(_mm512_loadu_pd(x));                 \
  }
LOOP(exp)
LOOP(log)
LOOP(log1p)
LOOP(expm1)
LOOP(log1mexp)
LOOP(sigmoid)
LOOP(softplus)
LOOP(tanh)
LOOP(erf)
LOOP(erfc)
LOOP(lgamma)
LOOP(digamma)
LOOP(sin)
LOOP(cos)
LOOP(exp2)
LOOP(log2)
LOOP(log10)
LOOP(sqrt)
LOOP(cbrt)
LOOP(logit)
LOOP(sinh)
LOOP(cosh)
LOOP(arcsinh)
LOOP(arccosh)
LOOP(arctanh)
LOOP(arctan)
LOOP(arcsin)
LOOP(arccos)
LOOP(tan)
LOOP(ndtr)
LOOP(erfcx)
LOOP(log_ndtr)
DOMAIN(lgamma)
DOMAIN(digamma)
DOMAIN(sin)
DOMAIN(cos)
DOMAIN(tan)
DOMAIN(erfcx)
DOMAIN(log_ndtr)

static void loop_pow(const double* x, const double* y, double* out, long count) {
  for (long i = 0; i < count; i += 8) {
    _mm512_storeu_pd(out + i, inlay_v8_pow(_mm512_loadu_pd(x + i), _mm512_loadu_pd(y + i)));
  }
}
static unsigned char domain_pow(const double* x, const double* y) {
  return inlay_v8_pow_domain(_mm512_loadu_pd(x), _mm512_loadu_pd(y));
}

#define ROW(name) {#name, loop_##name, 0, 0}
#define ROW_WITH_DOMAIN(name) {#name, loop_##name, 0, domain_##name}
const InlayVectorFunction inlay_vector_functions[] = {
    ROW(exp),
    ROW(log),
    ROW(log1p),
    ROW(expm1),
    ROW(log1mexp),
    ROW(sigmoid),
    ROW(softplus),
    ROW(tanh),
    ROW(erf),
    ROW(erfc),
    ROW_WITH_DOMAIN(lgamma),
    ROW_WITH_DOMAIN(digamma),
    ROW_WITH_DOMAIN(sin),
    ROW_WITH_DOMAIN(cos),
    ROW(exp2),
    ROW(log2),
    ROW(log10),
    ROW(sqrt),
    ROW(cbrt),
    ROW(logit),
    ROW(sinh),
    ROW(cosh),
    ROW(arcsinh),
    ROW(arccosh),
    ROW(arctanh),
    ROW(arctan),
    ROW(arcsin),
    ROW(arccos),
    ROW_WITH_DOMAIN(tan),
    ROW(ndtr),
    ROW_WITH_DOMAIN(erfcx),
    ROW_WITH_DOMAIN(log_ndtr),
    {"pow", 0, loop_pow, domain_pow},
};
const int inlay_num_vector_functions = sizeof(inlay_vector_functions) / sizeof(inlay_vector_functions[0]);

#define FLOAT_LOOP(name)                                                   \
  static void float_loop_##name(const float* x, float* out, long count) {  \
    for (long i = 0; i < count; i += 16) {                                 \
      _mm512_storeu_ps(out + i, inlay_v16_##name(_mm512_loadu_ps(x + i))); \
    }                                                                      \
  }
FLOAT_LOOP(exp)
FLOAT_LOOP(exp2)
FLOAT_LOOP(expm1)
FLOAT_LOOP(log)
FLOAT_LOOP(log2)
FLOAT_LOOP(log1p)
FLOAT_LOOP(sigmoid)
FLOAT_LOOP(softplus)
FLOAT_LOOP(tanh)
FLOAT_LOOP(erf)
FLOAT_LOOP(sin)
FLOAT_LOOP(cos)

#define FLOAT_DOMAIN(name) \
  static int float_domain_##name(float x) { return inlay_v16_##name##_domain(_mm512_set1_ps(x)); }
FLOAT_DOMAIN(sin)
FLOAT_DOMAIN(cos)

#define FLOAT_ROW(name) {#name, float_loop_##name, 0}
#define FLOAT_ROW_WITH_DOMAIN(name) {#name, float_loop_##name, float_domain_##name}
const InlayFloatFunction inlay_float_functions[] = {
    FLOAT_ROW(exp),  FLOAT_ROW(exp2),  FLOAT_ROW(expm1),           FLOAT_ROW(log),
    FLOAT_ROW(log2), FLOAT_ROW(log1p), FLOAT_ROW(sigmoid),         FLOAT_ROW(softplus),
    FLOAT_ROW(tanh), FLOAT_ROW(erf),   FLOAT_ROW_WITH_DOMAIN(sin), FLOAT_ROW_WITH_DOMAIN(cos),
};
const int inlay_num_float_functions = sizeof(inlay_float_functions) / sizeof(inlay_float_functions[0]);
