#include "vector_loops_test.h"

#include "vector_math.c"

#if INLAY_LANES == 8
static unsigned char bits_of(Lanes lanes) { return lanes; }
static int bits_of_f(LanesF lanes) { return lanes == 65535 ? -1 : lanes; }
#elif INLAY_LANES == 1
#define INLAY_FLOATS 1
static unsigned char bits_of(Lanes lanes) { return lanes ? 255 : 0; }
static int bits_of_f(LanesF lanes) { return lanes ? -1 : 0; }
#else
static unsigned char bits_of(Lanes lanes) { return lanes[0] & lanes[INLAY_LANES - 1]; }
static int bits_of_f(LanesF lanes) { return lanes[0] & lanes[INLAY_FLOATS - 1]; }
#endif

#if INLAY_LANES == 1
typedef double AnyDoubles;
typedef float AnyFloats;
#else
typedef double AnyDoubles __attribute__((ext_vector_type(INLAY_LANES), aligned(8)));
typedef float AnyFloats __attribute__((ext_vector_type(INLAY_FLOATS), aligned(4)));
#endif

#define LOOP(name)                                                          \
  static void loop_##name(const double* x, double* out, long count) {       \
    for (long i = 0; i < count; i += INLAY_LANES) {                         \
      *(AnyDoubles*)(out + i) = DOUBLES(name)(*(const AnyDoubles*)(x + i)); \
    }                                                                       \
  }
#define DOMAIN_OF(name)                                                  \
  static unsigned char domain_##name(const double* x, const double* y) { \
    (void)y;                                                             \
    return bits_of(DOUBLES(name##_domain)(*(const AnyDoubles*)(x)));     \
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
LOOP(erfinv)
LOOP(erfcinv)
LOOP(ndtri)
LOOP(i0)
LOOP(i1)
LOOP(trigamma)
DOMAIN_OF(lgamma)
DOMAIN_OF(digamma)
DOMAIN_OF(sin)
DOMAIN_OF(cos)
DOMAIN_OF(tan)
DOMAIN_OF(erfcx)
DOMAIN_OF(log_ndtr)
DOMAIN_OF(trigamma)

#define LOOP_OF_TWO(name)                                                                                \
  static void loop_##name(const double* x, const double* y, double* out, long count) {                   \
    for (long i = 0; i < count; i += INLAY_LANES) {                                                      \
      *(AnyDoubles*)(out + i) = DOUBLES(name)(*(const AnyDoubles*)(x + i), *(const AnyDoubles*)(y + i)); \
    }                                                                                                    \
  }
#define DOMAIN_OF_TWO(name)                                                                   \
  static unsigned char domain_##name(const double* x, const double* y) {                      \
    return bits_of(DOUBLES(name##_domain)(*(const AnyDoubles*)(x), *(const AnyDoubles*)(y))); \
  }
LOOP_OF_TWO(pow)
LOOP_OF_TWO(arctan2)
LOOP_OF_TWO(xlogy)
LOOP_OF_TWO(xlog1py)
LOOP_OF_TWO(logaddexp)
LOOP_OF_TWO(ive)
DOMAIN_OF_TWO(pow)
DOMAIN_OF_TWO(arctan2)
DOMAIN_OF_TWO(ive)

#define ROW(name) {#name, loop_##name, 0, 0}
#define ROW_WITH_DOMAIN(name) {#name, loop_##name, 0, domain_##name}
static const InlayVectorFunction functions[] = {
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
    ROW(erfinv),
    ROW(erfcinv),
    ROW(ndtri),
    ROW(i0),
    ROW(i1),
    ROW_WITH_DOMAIN(trigamma),
    {"pow", 0, loop_pow, domain_pow},
    {"arctan2", 0, loop_arctan2, domain_arctan2},
    {"xlogy", 0, loop_xlogy, 0},
    {"xlog1py", 0, loop_xlog1py, 0},
    {"logaddexp", 0, loop_logaddexp, 0},
    {"ive", 0, loop_ive, domain_ive},
    {0, 0, 0, 0},
};

#define FLOAT_LOOP(name)                                                  \
  static void float_loop_##name(const float* x, float* out, long count) { \
    for (long i = 0; i < count; i += INLAY_FLOATS) {                      \
      *(AnyFloats*)(out + i) = FLOATS(name)(*(const AnyFloats*)(x + i));  \
    }                                                                     \
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

#define FLOAT_DOMAIN_OF(name) \
  static int float_domain_##name(float x) { return bits_of_f(FLOATS(name##_domain)(splat_f(x))); }
FLOAT_DOMAIN_OF(sin)
FLOAT_DOMAIN_OF(cos)

#define FLOAT_ROW(name) {#name, float_loop_##name, 0}
#define FLOAT_ROW_WITH_DOMAIN(name) {#name, float_loop_##name, float_domain_##name}
static const InlayFloatFunction float_functions[] = {
    FLOAT_ROW(exp),  FLOAT_ROW(exp2),  FLOAT_ROW(expm1),           FLOAT_ROW(log),
    FLOAT_ROW(log2), FLOAT_ROW(log1p), FLOAT_ROW(sigmoid),         FLOAT_ROW(softplus),
    FLOAT_ROW(tanh), FLOAT_ROW(erf),   FLOAT_ROW_WITH_DOMAIN(sin), FLOAT_ROW_WITH_DOMAIN(cos),
    {0, 0, 0},
};

#if INLAY_LANES == 8
const InlayVectorLoops inlay_vector_loops_8 = {functions, float_functions};
#elif INLAY_LANES == 4
const InlayVectorLoops inlay_vector_loops_4 = {functions, float_functions};
#elif INLAY_LANES == 2
const InlayVectorLoops inlay_vector_loops_2 = {functions, float_functions};
#elif INLAY_FUSED
const InlayVectorLoops inlay_one_lane_fused = {functions, float_functions};
#else
const InlayVectorLoops inlay_one_lane = {functions, float_functions};
#endif
