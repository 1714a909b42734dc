#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* exp of a matrix, as library/expm.cpp computes it. */

/* By power, of the rational approximation of degree 13. */
static const real_r64 expm_coefficients_r64[14] = {64764752532480000.0,
                                                   32382376266240000.0,
                                                   7771770303897600.0,
                                                   1187353796428800.0,
                                                   129060195264000.0,
                                                   10559470521600.0,
                                                   670442572800.0,
                                                   33522128640.0,
                                                   1323241920.0,
                                                   40840800.0,
                                                   960960.0,
                                                   16380.0,
                                                   182.0,
                                                   1.0};

static inline void multiply_squares_f64(const double* a, const double* b, int64_t n, double* out) {
  for (int64_t r = 0; r < n; ++r) add_rows_f64(out + r * n, b, n, n, a + r * n, 1, n);
}

/* out = c[0] + c[2] a2 + c[4] a4 + c[6] a6, the first on the diagonal. It may be `more`, which is added where there is
   any. */
static inline void even_terms_f64(const real_r64* c, const double* a2, const double* a4, const double* a6,
                                  const double* more, int64_t n, double* out) {
  for (int64_t e = 0; e < n * n; ++e) {
    const double sum = c[6] * a6[e] + c[4] * a4[e] + c[2] * a2[e];
    out[e] = more ? more[e] + sum : sum;
  }
  for (int64_t i = 0; i < n; ++i) out[i * (n + 1)] += c[0];
}

/* The largest sum of a row's sizes; NaN where there is one. */
static inline real_r64 row_norm_f64(const double* a, const int64_t* strides, int64_t n) {
  real_r64 largest = 0;
  for (int64_t r = 0; r < n; ++r) {
    real_r64 sum = 0;
    for (int64_t c = 0; c < n; ++c) sum += size_f64(a[r * strides[1] + c * strides[2]]);
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

/* out = exp(a); parts: five matrices, pivots: of the last. */
static inline void expm_one_f64(const double* a, int64_t n, double* parts, int32_t* pivots, double* out) {
  const real_r64* c = expm_coefficients_r64;
  const int64_t size = n * n;
  double *a2 = parts, *a4 = a2 + size, *a6 = a4 + size, *u = a6 + size, *v = u + size;
  multiply_squares_f64(a, a, n, a2);
  multiply_squares_f64(a2, a2, n, a4);
  multiply_squares_f64(a4, a2, n, a6);
  for (int64_t e = 0; e < size; ++e) out[e] = c[13] * a6[e] + c[11] * a4[e] + c[9] * a2[e];
  multiply_squares_f64(a6, out, n, v);
  even_terms_f64(c + 1, a2, a4, a6, v, n, out);
  multiply_squares_f64(a, out, n, u);
  for (int64_t e = 0; e < size; ++e) out[e] = c[12] * a6[e] + c[10] * a4[e] + c[8] * a2[e];
  multiply_squares_f64(a6, out, n, v);
  even_terms_f64(c, a2, a4, a6, v, n, v);
  for (int64_t e = 0; e < size; ++e) {
    out[e] = v[e] + u[e];
    v[e] -= u[e];
  }
  eliminate_f64(v, n, n, pivots);
  for (int64_t i = 0; i < n; ++i) swap_rows_f64(out, n, n, i, pivots[i]);
  solve_triangle_f64(v, n, 1, n, true, true, false, out, n, n);
  solve_triangle_f64(v, n, 1, n, false, false, false, out, n, n);
}

static int32_t inlay_l_expm_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], size = n * n, strides[3] = {0, n, 1};
  double *a = workspace, *parts = n ? a + size : NULL; /* without elements there is no workspace */
  int32_t* pivots = n ? (int32_t*)(parts + 5 * size) : NULL;
  (void)options, (void)failure;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    const double* from = (const double*)operands[0] + point * operand_strides[0];
    double* out = (double*)results[0] + point * result_strides[0];
    real_r64 norm = row_norm_f64(from, operand_strides, n), scale = 1;
    int halvings = 0;
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (!isfinite(norm)) {
      fill_matrix_f64(out, strides, n, n, NAN);
      continue;
    }
    for (; norm > (real_r64)5.371920351148152; norm /= 2) { /* up to here it is exact to rounding */
      scale /= 2;
      ++halvings;
    }
    copy_matrix_f64(from, operand_strides, n, n, a, strides);
    for (int64_t e = 0; e < size; ++e) a[e] *= scale;
    expm_one_f64(a, n, parts, pivots, out);
    for (int i = 0; i < halvings; ++i) {
      if (ended(call, stop)) return INLAY_INTERRUPTED;
      multiply_squares_f64(out, out, n, a);
      copy_matrix_f64(a, strides, n, n, out, strides);
    }
  }
  return 0;
}
