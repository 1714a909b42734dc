#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* The length of a vector, whose squares may be out of range. */
static inline real_r64 length_f64(const double* x, int64_t count) {
  real_r64 largest = 0, all = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const real_r64 size = rough_size_f64(x[i]);
    if (size > largest) largest = size;
    all += size;
  }
  if (largest == 0) return all; /* or NaN */
  for (int64_t i = 0; i < count; ++i) squares += square_f64(x[i] / largest);
  return largest * sqrt(squares);
}

/* Takes (1 - tau v v') from the left, v[0] = 1. */
static inline void reflect_f64(const double* restrict v, double tau, int64_t count, double* restrict x) {
  double dot = x[0];
  for (int64_t i = 1; i < count; ++i) dot += times_f64(conj_f64(v[i]), x[i]);
  dot = times_f64(tau, dot);
  x[0] -= dot;
  for (int64_t i = 1; i < count; ++i) x[i] -= times_f64(dot, v[i]);
}

/* x becomes the vector of the reflection whose adjoint makes a real number, x[0], of it, and zeros; returns its tau.
   The signs are LAPACK's. A vector that is so already is left. */
static inline double reflection_f64(double* x, int64_t count) {
  const double alpha = x[0], ends[2] = {alpha, length_f64(x + 1, count - 1)};
  if (re_f64(ends[1]) == 0 && im_f64(alpha) == 0) return 0;
  const real_r64 beta = -copysign(length_f64(ends, 2), re_f64(alpha));
  for (int64_t i = 1; i < count; ++i) x[i] = over_f64(x[i], alpha - beta);
  x[0] = beta;
  return (beta - alpha) / beta;
}

/* Householder's reflections of a, by columns: r above, and below it their vectors. With `order` the column that is
   longest in the rows that are left comes to the front. */
static inline void factor_qr_f64(double* a, int64_t m, int64_t n, double* tau, int32_t* order) {
  const real_r64 near_one = sizeof(real_r64) == 8 ? 1 + 0x1p-40 : 1 + 0x1p-17; /* equals stay in their order */
  for (int64_t c = 0; order && c < n; ++c) order[c] = (int32_t)c;
  for (int64_t i = 0; i < (m < n ? m : n); ++i) {
    double* x = a + i * m + i;
    int64_t longest = i;
    for (int64_t c = i + 1; order && c < n; ++c) {
      const bool is_longer = length_f64(a + c * m + i, m - i) > length_f64(a + longest * m + i, m - i) * near_one;
      if (is_longer) longest = c;
    }
    if (longest != i) {
      const int32_t kept = order[i];
      swap_rows_f64(a, m, m, i, longest);
      order[i] = order[longest];
      order[longest] = kept;
    }
    tau[i] = reflection_f64(x, m - i);
    if (tau[i] == 0) continue;
    for (int64_t c = i + 1; c < n; ++c) reflect_f64(x, conj_f64(tau[i]), m - i, a + c * m + i);
  }
}

/* a becomes q, of `columns` columns, from the last reflection to the first. */
static inline void form_q_f64(double* a, int64_t m, int64_t p, int64_t columns, const double* tau) {
  for (int64_t c = p; c < columns; ++c) {
    for (int64_t r = 0; r < m; ++r) a[c * m + r] = r == c;
  }
  for (int64_t i = p - 1; i >= 0; --i) {
    double* v = a + i * m + i;
    for (int64_t c = i + 1; c < columns; ++c) reflect_f64(v, tau[i], m - i, a + c * m + i);
    for (int64_t r = 1; r < m - i; ++r) v[r] = -times_f64(tau[i], v[r]);
    v[0] = 1 - tau[i];
    for (int64_t r = 0; r < i; ++r) a[i * m + r] = 0;
  }
}

/* Of qr_f64: the factors, r alone, or the reflections as they are and how far each goes. */
static const int kQrFactors = 0;

static const int kQrOnlyR = 1;

static const int kQrReflections = 2;

/* q has q_columns columns, r r_rows rows; the order of the columns is the last result. */
static inline int32_t qr_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                             const int64_t* result_strides, const int64_t* sizes, double* a, InlayCall* call,
                             const int32_t* stop, int wanted, bool pivots, int64_t q_columns, int64_t r_rows) {
  const int64_t m = sizes[1], n = sizes[2], p = m < n ? m : n, a_strides[3] = {0, 1, m};
  const int r_at = wanted == kQrOnlyR ? 0 : 1;
  const int64_t *r_strides = result_strides + 3 * r_at, *order_strides = result_strides + 6;
  double* tau = a + m * (n > q_columns ? n : q_columns);
  int32_t* columns = pivots ? (int32_t*)(tau + p) : NULL;
  for (int64_t point = 0; point < (m || n ? sizes[0] : 0); ++point) {
    double *first = (double*)results[0] + point * result_strides[0], *r = (double*)results[r_at] + point * r_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, m, n, a, a_strides);
    factor_qr_f64(a, m, n, tau, columns);
    for (int64_t c = 0; pivots && c < n; ++c) {
      ((int64_t*)results[2])[point * order_strides[0] + c * order_strides[1]] = columns[c];
    }
    if (wanted == kQrReflections) {
      copy_matrix_f64(a, a_strides, m, n, first, result_strides);
      for (int64_t i = 0; i < p; ++i) r[i * r_strides[1]] = tau[i];
      continue;
    }
    for (int64_t row = 0; row < r_rows; ++row) {
      for (int64_t c = 0; c < n; ++c) r[row * r_strides[1] + c * r_strides[2]] = c < row ? 0 : a[c * m + row];
    }
    if (wanted == kQrOnlyR) continue;
    form_q_f64(a, m, p, q_columns, tau);
    copy_matrix_f64(a, a_strides, m, q_columns, first, result_strides);
  }
  return 0;
}

static int32_t inlay_l_qr_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                              const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                              int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t p = sizes[1] < sizes[2] ? sizes[1] : sizes[2];
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrFactors, false, p,
                p);
}

static int32_t inlay_l_qr_complete_f64(const void* const* operands, const int64_t* operand_strides,
                                       void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                       uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                       const int32_t* stop) {
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrFactors, false,
                sizes[1], sizes[1]);
}

static int32_t inlay_l_qr_r_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrOnlyR, false, 0,
                sizes[1]);
}

static int32_t inlay_l_qr_raw_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                  const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                  void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrReflections, false,
                0, 0);
}

static int32_t inlay_l_qr_pivoted_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                      const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                      void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t p = sizes[1] < sizes[2] ? sizes[1] : sizes[2];
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrFactors, true, p,
                p);
}

static int32_t inlay_l_qr_complete_pivoted_f64(const void* const* operands, const int64_t* operand_strides,
                                               void* const* results, const int64_t* result_strides,
                                               const int64_t* sizes, uint32_t options, void* workspace,
                                               int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrFactors, true,
                sizes[1], sizes[1]);
}

static int32_t inlay_l_qr_raw_pivoted_f64(const void* const* operands, const int64_t* operand_strides,
                                          void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                          uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                          const int32_t* stop) {
  (void)options, (void)failure;
  return qr_f64(operands, operand_strides, results, result_strides, sizes, workspace, call, stop, kQrReflections, true,
                0, 0);
}
