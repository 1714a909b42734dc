/* Where the functions of the C library are that generated code calls. In C, since C++ overloads most of their names. */
#define _GNU_SOURCE
#include "backend/c/standard_functions.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* Those of math.h have a second one for float. The last ones are what compilers make of others. */
/* It moves the lines of such a list each time. */
/* clang-format off */
#define REAL(X) \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atan2) X(atanh) X(cbrt) X(ceil) X(copysign) X(cos) X(cosh) X(erf) \
  X(erfc) X(exp) X(exp2) X(expm1) X(fabs) X(floor) X(fma) X(fmax) X(fmin) X(fmod) X(frexp) X(hypot) X(ldexp) \
  X(lgamma) X(log) X(log10) X(log1p) X(log2) X(modf) X(nearbyint) X(nextafter) X(pow) X(rint) X(round) X(scalbn) \
  X(sin) X(sinh) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc) X(sincos) X(exp10)
#define COMPLEX(X) \
  X(cabs) X(cacos) X(cacosh) X(carg) X(casin) X(casinh) X(catan) X(catanh) X(ccos) X(ccosh) X(cexp) X(clog) X(cpow) \
  X(csin) X(csinh) X(csqrt) X(ctan) X(ctanh)
/* clang-format on */
#define LONG(X) X(asinl) X(cosl) X(logl) X(sinl) X(sincosl) X(sqrtl)
#define MEMORY(X) X(memcpy) X(memmove) X(memset) X(memcmp)

#define ONE(name) {#name, (void*)name},
#define TWO(name) {#name, (void*)name}, {#name "f", (void*)name##f},
const InlayStandardFunction inlay_standard_functions[] = {REAL(TWO) COMPLEX(ONE) LONG(ONE) MEMORY(ONE)};
const size_t inlay_num_standard_functions = sizeof inlay_standard_functions / sizeof inlay_standard_functions[0];
