#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* The same library ops by the BLAS and LAPACK of whoever links the file. Fortran's names, whose letter is s for float;
   integers of 32 bits; the lengths of texts last. Matrices lie by columns there: what lies by rows is its transpose. */

void dgemm_(const char* turn_a, const char* turn_b, const int32_t* m, const int32_t* n, const int32_t* k,
            const double* alpha, const double* a, const int32_t* lda, const double* b, const int32_t* ldb,
            const double* beta, double* c, const int32_t* ldc, size_t, size_t);

void sgemm_(const char* turn_a, const char* turn_b, const int32_t* m, const int32_t* n, const int32_t* k,
            const float* alpha, const float* a, const int32_t* lda, const float* b, const int32_t* ldb,
            const float* beta, float* c, const int32_t* ldc, size_t, size_t);

void dgemv_(const char* turn, const int32_t* m, const int32_t* n, const double* alpha, const double* a,
            const int32_t* lda, const double* x, const int32_t* x_step, const double* beta, double* y,
            const int32_t* y_step, size_t);

void sgemv_(const char* turn, const int32_t* m, const int32_t* n, const float* alpha, const float* a,
            const int32_t* lda, const float* x, const int32_t* x_step, const float* beta, float* y,
            const int32_t* y_step, size_t);

void dtrsm_(const char* side, const char* triangle, const char* turn, const char* diagonal, const int32_t* m,
            const int32_t* n, const double* alpha, const double* a, const int32_t* lda, double* b, const int32_t* ldb,
            size_t, size_t, size_t, size_t);

void strsm_(const char* side, const char* triangle, const char* turn, const char* diagonal, const int32_t* m,
            const int32_t* n, const float* alpha, const float* a, const int32_t* lda, float* b, const int32_t* ldb,
            size_t, size_t, size_t, size_t);

void dpotrf_(const char* triangle, const int32_t* n, double* a, const int32_t* lda, int32_t* info, size_t);

void spotrf_(const char* triangle, const int32_t* n, float* a, const int32_t* lda, int32_t* info, size_t);

void dgetrf_(const int32_t* m, const int32_t* n, double* a, const int32_t* lda, int32_t* pivots, int32_t* info);

void sgetrf_(const int32_t* m, const int32_t* n, float* a, const int32_t* lda, int32_t* pivots, int32_t* info);

/* What a call returns where these integers are too small. */
static const int32_t kTooLargeForBlas = 1;

static inline bool fit_blas(const int64_t* numbers, int count) {
  for (int i = 0; i < count; ++i) {
    if (numbers[i] > INT32_MAX || numbers[i] < -INT32_MAX) return false;
  }
  return true;
}

/* Of a matrix with rows (or columns) of `count` elements so far from each other; where it has one, that may be
   anything. */
static inline int32_t leading_for_blas(int64_t step, int64_t count) {
  const int64_t least = count > 1 ? count : 1;
  return (int32_t)(step > least ? step : least);
}

/* y = x v. Where a step is negative BLAS begins with the element that lies first. */
static inline void blas_times_vector_f64(const double* x, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                         const double* v, int64_t v_step, double* y, int64_t y_step) {
  const double one = 1, zero = 0;
  const bool by_rows = column == 1;
  const int32_t m = (int32_t)(by_rows ? columns : rows), n = (int32_t)(by_rows ? rows : columns);
  const int32_t leading = leading_for_blas(by_rows ? row : column, m);
  const int32_t v_by = (int32_t)v_step, y_by = (int32_t)y_step;
  if (v_step < 0) v += (columns - 1) * v_step;
  if (y_step < 0) y += (rows - 1) * y_step;
  dgemv_(by_rows ? "T" : "N", &m, &n, &one, x, &leading, v, &v_by, &zero, y, &y_by, 1);
}

/* matmul. A result by columns is the product of the transposes; sums of one product, and one sum, are no work for BLAS.
 */
static int32_t inlay_blas_matmul_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                     const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                     void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const bool by_columns = sizes[3] > 1 && result_strides[2] != 1 && result_strides[1] == 1;
  const int left = by_columns ? 1 : 0, right = 1 - left, down = by_columns ? 2 : 1, across = 3 - down;
  const int64_t *a_strides = operand_strides + 3 * left, *b_strides = operand_strides + 3 * right;
  const int64_t rows = sizes[by_columns ? 3 : 1], inner = sizes[2], columns = sizes[by_columns ? 1 : 3];
  const double one = 1, zero = 0;
  if (inner < 2 || (rows < 2 && columns < 2)) {
    return inlay_l_matmul_f64(operands, operand_strides, results, result_strides, sizes, options, workspace, failure,
                              call, stop);
  }
  if (!fit_blas(sizes + 1, 3) || !fit_blas(a_strides + 1, 2) || !fit_blas(b_strides + 1, 2) ||
      !fit_blas(result_strides + 1, 2)) {
    return kTooLargeForBlas;
  }
  const int32_t m = (int32_t)rows, k = (int32_t)inner, n = (int32_t)columns;
  const bool a_by_rows = a_strides[across] == 1, b_by_rows = b_strides[across] == 1;
  const int32_t lda = leading_for_blas(a_strides[a_by_rows ? down : across], a_by_rows ? k : m);
  const int32_t ldb = leading_for_blas(b_strides[b_by_rows ? down : across], b_by_rows ? n : k);
  const int32_t ldc = leading_for_blas(result_strides[down], n);
  for (int64_t point = 0; point < (m && n ? sizes[0] : 0); ++point) {
    const double* a = (const double*)operands[left] + point * a_strides[0];
    const double* b = (const double*)operands[right] + point * b_strides[0];
    double* c = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (n == 1) {
      blas_times_vector_f64(a, a_strides[down], a_strides[across], m, k, b, b_strides[down], c, result_strides[down]);
    } else if (m == 1) {
      blas_times_vector_f64(b, b_strides[across], b_strides[down], n, k, a, a_strides[across], c,
                            result_strides[across]);
    } else {
      dgemm_(b_by_rows ? "N" : "T", a_by_rows ? "N" : "T", &n, &m, &k, &one, b, &ldb, a, &lda, &zero, c, &ldc, 1, 1);
    }
  }
  return 0;
}

static int32_t inlay_blas_cholesky_f64(const void* const* operands, const int64_t* operand_strides,
                                       void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                       uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                       const int32_t* stop) {
  const bool upper = (options & kOptionUpper) != 0;
  (void)workspace;
  if (!fit_blas(sizes + 1, 1) || !fit_blas(result_strides + 1, 1)) return kTooLargeForBlas;
  const int32_t n = (int32_t)sizes[1], leading = leading_for_blas(result_strides[1], n);
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    double* out = (double*)results[0] + point * result_strides[0];
    int32_t minor = 0;
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_triangle_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, n, upper, out,
                      result_strides[1]);
    dpotrf_(upper ? "L" : "U", &n, out, &leading, &minor, 1);
    if (minor == 0) continue;
    if (!(options & kOptionNan)) return library_failed(failure, minor, point);
    fill_matrix_f64(out, result_strides, n, n, NAN);
  }
  return 0;
}

static int32_t inlay_blas_solve_triangular_f64(const void* const* operands, const int64_t* operand_strides,
                                               void* const* results, const int64_t* result_strides,
                                               const int64_t* sizes, uint32_t options, void* workspace,
                                               int64_t* failure, InlayCall* call, const int32_t* stop) {
  const bool transposed = (options & (kOptionTransposed | kOptionAdjoint)) != 0,
             unit = (options & kOptionUnitDiagonal) != 0, upper = (options & kOptionUpper) != 0;
  const bool by_rows = sizes[1] == 1 || operand_strides[2] == 1;
  const int64_t *b_strides = operand_strides + 3, step = operand_strides[1] + operand_strides[2];
  const double one = 1;
  (void)workspace;
  if (!fit_blas(sizes + 1, 2) || !fit_blas(operand_strides + 1, 2) || !fit_blas(result_strides + 1, 1)) {
    return kTooLargeForBlas;
  }
  const int32_t n = (int32_t)sizes[1], columns = (int32_t)sizes[2];
  const int32_t leading = leading_for_blas(operand_strides[by_rows ? 1 : 2], n);
  const int32_t x_leading = leading_for_blas(result_strides[1], columns);
  for (int64_t point = 0; point < (n && columns ? sizes[0] : 0); ++point) {
    const double* a = (const double*)operands[0] + point * operand_strides[0];
    double* x = (double*)results[0] + point * result_strides[0];
    const int64_t zero = unit ? 0 : zero_on_diagonal_f64(a, step, n);
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (zero != 0) {
      if (!(options & kOptionNan)) return library_failed(failure, zero, point);
      fill_matrix_f64(x, result_strides, n, columns, NAN);
      continue;
    }
    copy_matrix_f64((const double*)operands[1] + point * b_strides[0], b_strides, n, columns, x, result_strides);
    dtrsm_("R", upper == by_rows ? "L" : "U", transposed == by_rows ? "T" : "N", unit ? "U" : "N", &columns, &n, &one,
           a, &leading, x, &x_leading, 1, 1, 1, 1);
  }
  return 0;
}

static int32_t inlay_blas_solve_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                    const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                    void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t *b_strides = operand_strides + 3, size = sizes[1] * sizes[1];
  const int64_t lu_strides[3] = {0, 1, sizes[1]};
  const double one = 1;
  double* lu = workspace;
  int32_t* pivots = size ? (int32_t*)(lu + size) : NULL;
  int32_t zero = 0;
  if (!fit_blas(sizes + 1, 2) || !fit_blas(result_strides + 1, 1)) return kTooLargeForBlas;
  const int32_t n = (int32_t)sizes[1], columns = (int32_t)sizes[2];
  const int32_t leading = leading_for_blas(result_strides[1], columns);
  for (int64_t point = 0; point < (n && columns ? sizes[0] : 0); ++point) {
    double* x = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (point == 0 || operand_strides[0] != 0) { /* else one matrix for all */
      const double* a = (const double*)operands[0] + point * operand_strides[0];
      copy_matrix_f64(a, operand_strides, n, n, lu, lu_strides);
      dgetrf_(&n, &n, lu, &n, pivots, &zero);
    }
    if (zero != 0) {
      if (!(options & kOptionNan)) return library_failed(failure, zero, point);
      fill_matrix_f64(x, result_strides, n, columns, NAN);
      continue;
    }
    copy_matrix_f64((const double*)operands[1] + point * b_strides[0], b_strides, n, columns, x, result_strides);
    for (int64_t i = 0; i < n; ++i) swap_rows_f64(x, result_strides[1], columns, i, pivots[i] - 1);
    dtrsm_("R", "L", "T", "U", &columns, &n, &one, lu, &n, x, &leading, 1, 1, 1, 1);
    dtrsm_("R", "U", "T", "N", &columns, &n, &one, lu, &n, x, &leading, 1, 1, 1, 1);
  }
  return 0;
}

static int32_t inlay_blas_lu_factor_f64(const void* const* operands, const int64_t* operand_strides,
                                        void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                        const int32_t* stop) {
  const int64_t size = sizes[1] * sizes[2], lu_strides[3] = {0, 1, sizes[1]}, *pivot_strides = result_strides + 3;
  double* lu = workspace;
  int32_t* swaps = size ? (int32_t*)(lu + size) : NULL;
  (void)failure;
  if (!fit_blas(sizes + 1, 2)) return kTooLargeForBlas;
  const int32_t m = (int32_t)sizes[1], n = (int32_t)sizes[2];
  for (int64_t point = 0; point < (size ? sizes[0] : 0); ++point) {
    double* out = (double*)results[0] + point * result_strides[0];
    int64_t* pivots = (int64_t*)results[1] + point * pivot_strides[0];
    int32_t zero = 0;
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, m, n, lu, lu_strides);
    dgetrf_(&m, &n, lu, &m, swaps, &zero);
    copy_matrix_f64(lu, lu_strides, m, n, out, result_strides);
    if (zero != 0 && (options & kOptionNan)) fill_matrix_f64(out, result_strides, m, n, NAN);
    for (int64_t i = 0; i < (m < n ? m : n); ++i) pivots[i * pivot_strides[1]] = swaps[i] - 1;
  }
  return 0;
}
