/* The loops as one would write them in C. Compiled by clang-19 and by gcc-12, each with its own vector math:
 * PEER gives every function the compiler's name. */
#include <math.h>
#include <stddef.h>

#define NAME2(name, peer) name##_##peer
#define NAME1(name, peer) NAME2(name, peer)
#define NAME(name) NAME1(name, PEER)

void NAME(exp_mul_add)(size_t n, const double* restrict x, const double* restrict y, const double* restrict z,
                       double* restrict out) {
  for (size_t i = 0; i < n; i++) out[i] = exp(x[i]) * y[i] + z[i];
}

/* STREAM's triad. */
void NAME(triad)(size_t n, double scalar, const double* restrict b, const double* restrict c, double* restrict a) {
  for (size_t i = 0; i < n; i++) a[i] = b[i] + scalar * c[i];
}

#define SCALAR(op, expression, from, to)                                                 \
  void NAME(scalar_##op)(size_t n, const double* restrict input, double* restrict out) { \
    for (size_t i = 0; i < n; i++) {                                                     \
      const double x = input[i];                                                         \
      out[i] = expression;                                                               \
    }                                                                                    \
  }
#include "scalars.def"
