#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Eigenvalues of any square matrix, of its Schur triangle; vectors by substitution in that. */

/* The elements before the block whose rows are [i, i + rows), which the sums of those behind it and w say. */
static inline void substitute_f64(const double* t, int64_t n, int64_t i, int64_t rows, int64_t end, complex_c128 w,
                                  real_r64 least, complex_c128* y) {
  complex_c128 system[4], x[2];
  for (int64_t r = 0; r < rows; ++r) {
    const double* across = t + (i + r) * n;
    x[r] = 0;
    for (int64_t c = i + rows; c < end; ++c) x[r] -= scaled_f64(across[c], y[c]);
    for (int64_t c = 0; c < rows; ++c) system[r * rows + c] = widened_f64(across[i + c]) - (r == c ? w : 0);
  }
  solve_few_c128(system, rows, x, least);
  for (int64_t r = 0; r < rows; ++r) y[i + r] = x[r];
}

/* The vector of the eigenvalue w of the block at i, of the triangle; returns how many of its elements are not 0. Its
   length is any, in range. */
static inline int64_t vector_of_triangle_f64(const double* t, int64_t n, int64_t i, complex_c128 w, real_r64 least,
                                             complex_c128* y) {
  const real_r64 large = sizeof(real_r64) == 8 ? 0x1p500 : 0x1p60;
  const int64_t rows = block_rows_f64(t, n, i), end = i + rows;
  const double* at = t + i * (n + 1);
  y[i] = 1;
  if (rows == 2 && size_f64(at[1]) >= size_f64(at[n])) {
    y[i + 1] = joined_c128(0, im_c128(w) / re_f64(at[1]));
  } else if (rows == 2) {
    y[i] = joined_c128(0, im_c128(w) / re_f64(at[n]));
    y[i + 1] = 1;
  }
  for (int64_t above = i; above > 0;) {
    const int64_t before = rows_before_f64(t, n, above);
    above -= before;
    substitute_f64(t, n, above, before, end, w, least, y);
    const bool is_large = larger_part_c128(y[above]) > large || larger_part_c128(y[above + before - 1]) > large;
    for (int64_t k = above; is_large && k < end; ++k) y[k] /= large;
  }
  return end;
}

/* The column of v that belongs to the block at i, and for a pair the next one; y and x have n elements. */
static inline void eigenvector_f64(const double* t, const double* z, int64_t n, int64_t i, complex_c128* y,
                                   complex_c128* x, complex_c128* v, const int64_t* strides) {
  const int64_t end = vector_of_triangle_f64(t, n, i, eigenvalue_f64(t, n, i), epsilon_r64(), y);
  for (int64_t r = 0; r < n; ++r) {
    x[r] = 0;
    for (int64_t k = 0; k < end; ++k) x[r] += scaled_f64(z[r * n + k], y[k]);
  }
  const real_r64 length = length_c128(x, n);
  for (int64_t r = 0; r < n; ++r) {
    complex_c128* to = v + r * strides[1] + i * strides[2];
    *to = x[r] / length;
    if (block_rows_f64(t, n, i) == 2) to[strides[2]] = conj_c128(*to);
  }
}

/* Both forms: without `vectors` w alone, and a workspace without z. */
static inline int32_t eig_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                              const int64_t* result_strides, const int64_t* sizes, double* t, int64_t* failure,
                              InlayCall* call, const int32_t* stop, bool vectors) {
  const int64_t n = sizes[1], size = n * n, strides[3] = {0, n, 1}, *v_strides = vectors ? result_strides + 3 : NULL;
  double *z = vectors && n ? t + size : NULL, *work = n ? t + (vectors ? 2 : 1) * size : NULL;
  complex_c128* y = (complex_c128*)work;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    complex_c128* w = (complex_c128*)results[0] + point * result_strides[0];
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, n, n, t, strides);
    const real_r64 by = scale_down_f64(t, size);
    const int32_t status = isnan(by) ? -1 : make_triangle_f64(t, z, n, work, call, stop);
    if (status == -1) return library_failed(failure, 0, point);
    if (status != 0) return status;
    for (int64_t i = 0; i < n; ++i) w[i * result_strides[1]] = eigenvalue_f64(t, n, i) * by;
    for (int64_t i = 0; vectors && i < n; i += block_rows_f64(t, n, i)) {
      complex_c128* v = (complex_c128*)results[1] + point * v_strides[0];
      if (ended(call, stop)) return INLAY_INTERRUPTED;
      eigenvector_f64(t, z, n, i, y, y + n, v, v_strides);
    }
  }
  return 0;
}

static int32_t inlay_l_eig_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                               const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                               int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options;
  return eig_f64(operands, operand_strides, results, result_strides, sizes, workspace, failure, call, stop, true);
}

static int32_t inlay_l_eigvals_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                   const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                   void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options;
  return eig_f64(operands, operand_strides, results, result_strides, sizes, workspace, failure, call, stop, false);
}
