#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "inlay/runtime.h"

/* Library ops, called as library/library.h says: operands and results by the addresses of their first elements and
   three strides each, in elements: from matrix to matrix, from row to row, from column to column. `sizes` are those of
   the batch and of the axes. Written for double: for other numbers types and functions are replaced (fields.c). */

/* Of LibraryOption. */
static const uint32_t kOptionUpper = 1;

static const uint32_t kOptionTransposed = 2;

static const uint32_t kOptionUnitDiagonal = 4;

static const uint32_t kOptionRight = 8;

static const uint32_t kOptionNan = 16;

static const uint32_t kOptionAdjoint = 32;

/* What was found, and in which matrix. */
static inline int32_t library_failed(int64_t* failure, int64_t number, int64_t point) {
  failure[0] = number;
  failure[1] = point;
  return 2;
}

static inline void copy_matrix_f64(const double* from, const int64_t* from_strides, int64_t rows, int64_t columns,
                                   double* to, const int64_t* to_strides) {
  for (int64_t r = 0; r < rows; ++r) {
    const double* x = from + r * from_strides[1];
    double* y = to + r * to_strides[1];
    for (int64_t c = 0; c < columns; ++c) y[c * to_strides[2]] = x[c * from_strides[2]];
  }
}

static inline void fill_matrix_f64(double* x, const int64_t* strides, int64_t rows, int64_t columns, double value) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) x[r * strides[1] + c * strides[2]] = value;
  }
}

/* y -= the sum of the rows of x, times weights or their conjugates; four at a time, and in their order. */
static inline void subtract_rows_f64(double* restrict y, const double* restrict x, int64_t row, int64_t count,
                                     const double* restrict weights, int64_t weight, bool conjugated, int64_t columns) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    double w[4];
    for (int i = 0; i < 4; ++i) {
      w[i] = weights[(k + i) * weight];
      if (conjugated) w[i] = conj_f64(w[i]);
    }
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const double *x0 = x + k * row, *x1 = x0 + row, *x2 = x1 + row, *x3 = x2 + row;
    for (int64_t c = 0; c < columns; ++c) {
      y[c] = y[c] - times_f64(w0, x0[c]) - times_f64(w1, x1[c]) - times_f64(w2, x2[c]) - times_f64(w3, x3[c]);
    }
  }
  for (; k < count; ++k) {
    const double w = conjugated ? conj_f64(weights[k * weight]) : weights[k * weight];
    for (int64_t c = 0; c < columns; ++c) y[c] -= times_f64(w, x[k * row + c]);
  }
}

/* y = the sum of the rows of x, times weights. */
static inline void add_rows_f64(double* restrict y, const double* restrict x, int64_t row, int64_t count,
                                const double* restrict weights, int64_t weight, int64_t columns) {
  const int64_t fours = count - count % 4;
  for (int64_t c = 0; c < columns; ++c) y[c] = 0;
  for (int64_t k = 0; k < fours; k += 4) {
    const double w0 = weights[k * weight], w1 = weights[(k + 1) * weight], w2 = weights[(k + 2) * weight],
                 w3 = weights[(k + 3) * weight];
    const double *x0 = x + k * row, *x1 = x0 + row, *x2 = x1 + row, *x3 = x2 + row;
    for (int64_t c = 0; c < columns; ++c) {
      y[c] = y[c] + times_f64(w0, x0[c]) + times_f64(w1, x1[c]) + times_f64(w2, x2[c]) + times_f64(w3, x3[c]);
    }
  }
  for (int64_t k = fours; k < count; ++k) {
    for (int64_t c = 0; c < columns; ++c) y[c] += times_f64(weights[k * weight], x[k * row + c]);
  }
}

/* y[c] = x . m[:, c], four columns at a time: their sums do not wait for each other. */
static inline void multiply_row_f64(const double* restrict x, int64_t x_step, const double* restrict m, int64_t row,
                                    int64_t column, int64_t rows, int64_t columns, double* restrict y, int64_t y_step) {
  int64_t c = 0;
  for (; c + 4 <= columns; c += 4) {
    const double *m0 = m + c * column, *m1 = m0 + column, *m2 = m1 + column, *m3 = m2 + column;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t k = 0; k < rows; ++k) {
      const double e = x[k * x_step];
      s0 += times_f64(e, m0[k * row]);
      s1 += times_f64(e, m1[k * row]);
      s2 += times_f64(e, m2[k * row]);
      s3 += times_f64(e, m3[k * row]);
    }
    y[c * y_step] = s0;
    y[(c + 1) * y_step] = s1;
    y[(c + 2) * y_step] = s2;
    y[(c + 3) * y_step] = s3;
  }
  for (int64_t left = columns % 4; left > 0; --left, ++c) { /* gcc 12 warns of an overflow in a loop to `columns` */
    double sum = 0;
    for (int64_t k = 0; k < rows; ++k) sum += times_f64(x[k * x_step], m[k * row + c * column]);
    y[c * y_step] = sum;
  }
}

/* matmul. A result by columns is the product of the transposes. */
static int32_t inlay_l_matmul_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                  const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                  void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const bool by_columns = sizes[3] > 1 && result_strides[2] != 1 && result_strides[1] == 1;
  const int left = by_columns ? 1 : 0, right = 1 - left, down = by_columns ? 2 : 1, across = 3 - down;
  const int64_t *a_strides = operand_strides + 3 * left, *b_strides = operand_strides + 3 * right;
  const int64_t m = sizes[by_columns ? 3 : 1], k = sizes[2], n = sizes[by_columns ? 1 : 3];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < sizes[0]; ++point) {
    const double* a = (const double*)operands[left] + point * a_strides[0];
    const double* b = (const double*)operands[right] + point * b_strides[0];
    double* c = (double*)results[0] + point * result_strides[0];
    for (int64_t r = 0; r < m; ++r) {
      const double* x = a + r * a_strides[down];
      double* y = c + r * result_strides[down];
      if (r % 64 == 0 && ended(call, stop)) return INLAY_INTERRUPTED;
      if (b_strides[across] == 1 && result_strides[across] == 1 && n > 3) {
        add_rows_f64(y, b, b_strides[down], k, x, a_strides[across], n);
      } else {
        multiply_row_f64(x, a_strides[across], b, b_strides[down], b_strides[across], k, n, y, result_strides[across]);
      }
    }
  }
  return 0;
}

/* The lower triangle of l becomes the factor, by columns of dot products; returns the order of the first leading minor
   that is not positive, or 0. */
static inline int64_t cholesky_lower_f64(double* l, int64_t row, int64_t n) {
  for (int64_t c = 0; c < n; ++c) {
    double* restrict across = l + c * row;
    real_r64 rest = re_f64(across[c]);
    for (int64_t k = 0; k < c; ++k) rest -= square_f64(across[k]);
    if (!(rest > 0)) return c + 1;
    const real_r64 root = sqrt(rest);
    across[c] = root;
    int64_t r = c + 1;
    for (; r + 4 <= n; r += 4) {
      double *l0 = l + r * row, *l1 = l0 + row, *l2 = l1 + row, *l3 = l2 + row;
      double s0 = l0[c], s1 = l1[c], s2 = l2[c], s3 = l3[c];
      for (int64_t k = 0; k < c; ++k) {
        const double e = conj_f64(across[k]);
        s0 -= times_f64(l0[k], e);
        s1 -= times_f64(l1[k], e);
        s2 -= times_f64(l2[k], e);
        s3 -= times_f64(l3[k], e);
      }
      l0[c] = s0 / root;
      l1[c] = s1 / root;
      l2[c] = s2 / root;
      l3[c] = s3 / root;
    }
    for (; r < n; ++r) {
      double sum = l[r * row + c];
      for (int64_t k = 0; k < c; ++k) sum -= times_f64(l[r * row + k], conj_f64(across[k]));
      l[r * row + c] = sum / root;
    }
  }
  return 0;
}

/* The upper triangle likewise, by rows. */
static inline int64_t cholesky_upper_f64(double* u, int64_t row, int64_t n) {
  for (int64_t r = 0; r < n; ++r) {
    double* across = u + r * row;
    subtract_rows_f64(across + r, u + r, row, r, u + r, row, true, n - r);
    const real_r64 rest = re_f64(across[r]);
    if (!(rest > 0)) return r + 1;
    const real_r64 root = sqrt(rest);
    across[r] = root;
    for (int64_t c = r + 1; c < n; ++c) across[c] /= root;
  }
  return 0;
}

/* Of a the triangle that is read, and 0 in the other. */
static inline void copy_triangle_f64(const double* a, const int64_t* strides, int64_t n, bool upper, double* out,
                                     int64_t row) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      const bool is_read = upper ? c >= r : c <= r;
      out[r * row + c] = is_read ? a[r * strides[1] + c * strides[2]] : 0;
    }
  }
}

static int32_t inlay_l_cholesky_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                    const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                    void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], row = result_strides[1];
  const bool upper = (options & kOptionUpper) != 0;
  (void)workspace;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    const double* a = (const double*)operands[0] + point * operand_strides[0];
    double* out = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_triangle_f64(a, operand_strides, n, upper, out, row);
    const int64_t minor = upper ? cholesky_upper_f64(out, row, n) : cholesky_lower_f64(out, row, n);
    if (minor == 0) continue;
    if (!(options & kOptionNan)) return library_failed(failure, minor, point);
    fill_matrix_f64(out, result_strides, n, n, NAN);
  }
  return 0;
}

/* x becomes the solution of t y = x, whose columns are next to each other, or of the conjugate of t. */
static inline void solve_triangle_f64(const double* t, int64_t row, int64_t column, int64_t n, bool lower, bool unit,
                                      bool conjugated, double* x, int64_t x_row, int64_t columns) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t r = lower ? step : n - 1 - step, first = lower ? 0 : r + 1;
    double* y = x + r * x_row;
    subtract_rows_f64(y, x + first * x_row, x_row, step, t + r * row + first * column, column, conjugated, columns);
    if (unit) continue;
    const double by = conjugated ? conj_f64(t[r * (row + column)]) : t[r * (row + column)];
    for (int64_t c = 0; c < columns; ++c) y[c] = over_f64(y[c], by);
  }
}

/* The number of the first element on the diagonal that is 0, counted from 1, or 0. */
static inline int64_t zero_on_diagonal_f64(const double* a, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (a[i * step] == 0) return i + 1;
  }
  return 0;
}

static int32_t inlay_l_solve_triangular_f64(const void* const* operands, const int64_t* operand_strides,
                                            void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                            uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                            const int32_t* stop) {
  const int64_t n = sizes[1], columns = sizes[2], *b_strides = operand_strides + 3;
  const bool transposed = (options & (kOptionTransposed | kOptionAdjoint)) != 0,
             unit = (options & kOptionUnitDiagonal) != 0;
  const bool lower = ((options & kOptionUpper) != 0) == transposed;
  const int64_t row = operand_strides[transposed ? 2 : 1], column = operand_strides[transposed ? 1 : 2];
  (void)workspace;
  for (int64_t point = 0; point < (n && columns ? sizes[0] : 0); ++point) {
    const double* a = (const double*)operands[0] + point * operand_strides[0];
    double* x = (double*)results[0] + point * result_strides[0];
    const int64_t zero = unit ? 0 : zero_on_diagonal_f64(a, row + column, n);
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (zero != 0) {
      if (!(options & kOptionNan)) return library_failed(failure, zero, point);
      fill_matrix_f64(x, result_strides, n, columns, NAN);
      continue;
    }
    copy_matrix_f64((const double*)operands[1] + point * b_strides[0], b_strides, n, columns, x, result_strides);
    solve_triangle_f64(a, row, column, n, lower, unit, (options & kOptionAdjoint) != 0, x, result_strides[1], columns);
  }
  return 0;
}

static inline void swap_rows_f64(double* a, int64_t row, int64_t columns, int64_t one, int64_t other) {
  for (int64_t c = 0; c < columns && one != other; ++c) {
    const double kept = a[one * row + c];
    a[one * row + c] = a[other * row + c];
    a[other * row + c] = kept;
  }
}

/* a becomes l, whose diagonal is 1 and left out, and u. Returns the number of the first pivot that is 0, or 0. */
static inline int64_t eliminate_f64(double* a, int64_t rows, int64_t columns, int32_t* pivots) {
  int64_t first_zero = 0;
  for (int64_t i = 0; i < (rows < columns ? rows : columns); ++i) {
    int64_t largest = i;
    for (int64_t r = i + 1; r < rows; ++r) {
      if (rough_size_f64(a[r * columns + i]) > rough_size_f64(a[largest * columns + i])) largest = r;
    }
    pivots[i] = (int32_t)largest;
    swap_rows_f64(a, columns, columns, i, largest);
    const double* restrict across = a + i * columns;
    if (across[i] == 0) {
      if (first_zero == 0) first_zero = i + 1;
      continue;
    }
    for (int64_t r = i + 1; r < rows; ++r) {
      double* restrict y = a + r * columns;
      const double by = over_f64(y[i], across[i]);
      y[i] = by;
      for (int64_t c = i + 1; c < columns; ++c) y[c] -= times_f64(by, across[c]);
    }
  }
  return first_zero;
}

static int32_t inlay_l_solve_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                 const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                 int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], columns = sizes[2], *b_strides = operand_strides + 3, lu_strides[3] = {0, n, 1};
  double* lu = workspace;
  int32_t* pivots = n ? (int32_t*)(lu + n * n) : NULL; /* without elements there is no workspace */
  int64_t zero = 0;
  for (int64_t point = 0; point < (n && columns ? sizes[0] : 0); ++point) {
    double* x = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (point == 0 || operand_strides[0] != 0) { /* else one matrix for all */
      const double* a = (const double*)operands[0] + point * operand_strides[0];
      copy_matrix_f64(a, operand_strides, n, n, lu, lu_strides);
      zero = eliminate_f64(lu, n, n, pivots);
    }
    if (zero != 0) {
      if (!(options & kOptionNan)) return library_failed(failure, zero, point);
      fill_matrix_f64(x, result_strides, n, columns, NAN);
      continue;
    }
    copy_matrix_f64((const double*)operands[1] + point * b_strides[0], b_strides, n, columns, x, result_strides);
    for (int64_t i = 0; i < n; ++i) swap_rows_f64(x, result_strides[1], columns, i, pivots[i]);
    solve_triangle_f64(lu, n, 1, n, true, true, false, x, result_strides[1], columns);
    solve_triangle_f64(lu, n, 1, n, false, false, false, x, result_strides[1], columns);
  }
  return 0;
}

static int32_t inlay_l_lu_factor_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                     const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                     void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t m = sizes[1], n = sizes[2], lu_strides[3] = {0, n, 1}, *pivot_strides = result_strides + 3;
  double* lu = workspace;
  int32_t* swaps = m && n ? (int32_t*)(lu + m * n) : NULL;
  (void)failure;
  for (int64_t point = 0; point < (m && n ? sizes[0] : 0); ++point) {
    const double* a = (const double*)operands[0] + point * operand_strides[0];
    double* out = (double*)results[0] + point * result_strides[0];
    int64_t* pivots = (int64_t*)results[1] + point * pivot_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_matrix_f64(a, operand_strides, m, n, lu, lu_strides);
    const bool singular = eliminate_f64(lu, m, n, swaps) != 0;
    copy_matrix_f64(lu, lu_strides, m, n, out, result_strides);
    if (singular && (options & kOptionNan)) fill_matrix_f64(out, result_strides, m, n, NAN);
    for (int64_t i = 0; i < (m < n ? m : n); ++i) pivots[i * pivot_strides[1]] = swaps[i];
  }
  return 0;
}

static int32_t inlay_l_pivots_to_permutation_i64(const void* const* operands, const int64_t* operand_strides,
                                                 void* const* results, const int64_t* result_strides,
                                                 const int64_t* sizes, uint32_t options, void* workspace,
                                                 int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1];
  (void)options, (void)workspace;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    const int64_t* pivots = (const int64_t*)operands[0] + point * operand_strides[0];
    int64_t* out = (int64_t*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    for (int64_t i = 0; i < n; ++i) out[i * result_strides[1]] = i;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = pivots[i * operand_strides[1]], kept = out[i * result_strides[1]];
      if (other < 0 || other >= n) return library_failed(failure, i + 1, point);
      out[i * result_strides[1]] = out[other * result_strides[1]];
      out[other * result_strides[1]] = kept;
    }
  }
  return 0;
}
