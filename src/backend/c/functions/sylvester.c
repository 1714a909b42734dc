#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* The equation of Sylvester of two of Schur's triangles, block by block: of x from the last rows up, and from the first
   columns on. */

static inline real_r64 largest_size_f64(const double* a, int64_t count) {
  real_r64 largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const real_r64 size = rough_size_f64(a[i]);
    if (size > largest) largest = size;
  }
  return largest;
}

/* x becomes that of a x + x b = x; a has m rows, b n. What is nothing beside their elements counts as that much. */
static inline void solve_sylvester_f64(const double* a, int64_t m, const double* b, int64_t n, double* x,
                                       real_r64 least) {
  for (int64_t end = m, rows; end > 0; end -= rows) {
    rows = rows_before_f64(a, m, end);
    const int64_t r = end - rows;
    for (int64_t c = 0, columns; c < n; c += columns) {
      double system[16] = {0}, part[4];
      columns = block_rows_f64(b, n, c);
      const int64_t unknown = rows * columns;
      for (int64_t e = 0; e < unknown; ++e) {
        const int64_t row = r + e / columns, column = c + e % columns;
        part[e] = x[row * n + column];
        for (int64_t k = end; k < m; ++k) part[e] -= times_f64(a[row * m + k], x[k * n + column]);
        for (int64_t k = 0; k < c; ++k) part[e] -= times_f64(x[row * n + k], b[k * n + column]);
      }
      add_terms_f64(system, unknown, a + r * (m + 1), m, rows, b + c * (n + 1), n, columns, 1);
      solve_few_f64(system, unknown, part, least);
      for (int64_t e = 0; e < unknown; ++e) x[(r + e / columns) * n + c + e % columns] = part[e];
    }
  }
}

static int32_t inlay_l_sylvester_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                     const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                     void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t m = sizes[1], n = sizes[2], a_strides[3] = {0, m, 1}, b_strides[3] = {0, n, 1};
  double *a = workspace, *b = m && n ? a + m * m : NULL, *x = m && n ? b + n * n : NULL;
  (void)options, (void)failure;
  for (int64_t point = 0; point < (m && n ? sizes[0] : 0); ++point) {
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, m, m, a, a_strides);
    copy_matrix_f64((const double*)operands[1] + point * operand_strides[3], operand_strides + 3, n, n, b, b_strides);
    copy_matrix_f64((const double*)operands[2] + point * operand_strides[6], operand_strides + 6, m, n, x, b_strides);
    const real_r64 of_a = largest_size_f64(a, m * m), of_b = largest_size_f64(b, n * n);
    solve_sylvester_f64(a, m, b, n, x, epsilon_r64() * (of_a > of_b ? of_a : of_b));
    copy_matrix_f64(x, b_strides, m, n, (double*)results[0] + point * result_strides[0], result_strides);
  }
  return 0;
}
