#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Systems with three diagonals. */

static inline void copy_row_f64(const double* from, int64_t step, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

/* l, d, u and u2 become the factors of the diagonals l, d and u, as by LAPACK's gttrf. */
static inline void eliminate_three_f64(double* l, double* d, double* u, double* u2, int64_t* pivots, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    pivots[i] = i;
    if (i + 1 == n) break;
    if (i + 2 < n) u2[i] = 0;
    if (rough_size_f64(d[i]) >= rough_size_f64(l[i])) {
      if (d[i] == 0) continue;
      l[i] = over_f64(l[i], d[i]);
      d[i + 1] -= times_f64(l[i], u[i]);
      continue;
    }
    const double by = over_f64(d[i], l[i]), above = u[i];
    pivots[i] = i + 1;
    d[i] = l[i];
    l[i] = by;
    u[i] = d[i + 1];
    d[i + 1] = above - times_f64(by, d[i + 1]);
    if (i + 2 < n) {
      u2[i] = u[i + 1];
      u[i + 1] = -times_f64(by, u[i + 1]);
    }
  }
}

static int32_t inlay_l_tridiagonal_lu_factor_f64(const void* const* operands, const int64_t* operand_strides,
                                                 void* const* results, const int64_t* result_strides,
                                                 const int64_t* sizes, uint32_t options, void* workspace,
                                                 int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    double* made[4];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    for (int k = 0; k < 4; ++k) made[k] = (double*)results[k] + point * result_strides[3 * k];
    for (int k = 0; k < 3; ++k) {
      const double* from = (const double*)operands[k] + point * operand_strides[3 * k];
      copy_row_f64(from, operand_strides[3 * k + 1], k == 1 ? n : n - 1, made[k]);
    }
    eliminate_three_f64(made[0], made[1], made[2], made[3], (int64_t*)results[4] + point * result_strides[12], n);
  }
  return 0;
}

static int32_t inlay_l_tridiagonal_lu_solve_f64(const void* const* operands, const int64_t* operand_strides,
                                                void* const* results, const int64_t* result_strides,
                                                const int64_t* sizes, uint32_t options, void* workspace,
                                                int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], columns = sizes[2], row = result_strides[1], *pivot_strides = operand_strides + 12;
  const double* parts[4]; /* l, and of u the diagonal and the two above it */
  int64_t steps[4];
  (void)workspace;
  for (int64_t point = 0; point < (n && columns ? sizes[0] : 0); ++point) {
    const int64_t* pivots = (const int64_t*)operands[4] + point * pivot_strides[0];
    double* x = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    for (int k = 0; k < 4; ++k) {
      parts[k] = (const double*)operands[k] + point * operand_strides[3 * k];
      steps[k] = operand_strides[3 * k + 1];
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = pivots[i * pivot_strides[1]];
      if (other != i && (other != i + 1 || i + 1 == n)) return library_failed(failure, i + 1, point);
    }
    copy_matrix_f64((const double*)operands[5] + point * operand_strides[15], operand_strides + 15, n, columns, x,
                    result_strides);
    const bool transposed = (options & kOptionTransposed) != 0;
    for (int64_t i = 0; !transposed && i + 1 < n; ++i) {
      swap_rows_f64(x, row, columns, i, pivots[i * pivot_strides[1]]);
      subtract_rows_f64(x + (i + 1) * row, x + i * row, row, 1, parts[0] + i * steps[0], 0, false, columns);
    }
    for (int64_t step = 0; step < n; ++step) { /* u, of whose transpose the rows above are the columns */
      const int64_t i = transposed ? step : n - 1 - step;
      for (int64_t away = 2; away > 0; --away) {
        const int64_t other = transposed ? i - away : i + away, at = transposed ? other : i;
        if (other < 0 || other >= n) continue;
        subtract_rows_f64(x + i * row, x + other * row, row, 1, parts[1 + away] + at * steps[1 + away], 0, false,
                          columns);
      }
      for (int64_t c = 0; c < columns; ++c) x[i * row + c] = over_f64(x[i * row + c], parts[1][i * steps[1]]);
    }
    for (int64_t i = n - 1; transposed && i-- > 0;) {
      subtract_rows_f64(x + i * row, x + (i + 1) * row, row, 1, parts[0] + i * steps[0], 0, false, columns);
      swap_rows_f64(x, row, columns, i, pivots[i * pivot_strides[1]]);
    }
  }
  return 0;
}
