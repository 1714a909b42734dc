#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations. */

/* What has not converged after so many sweeps over all pairs does not. */
static const int kMostSweeps = 60;

/* Divides by the power of 2 next to the largest part of an element, which is returned: so squares neither overflow nor
   vanish. NaN where an element is not finite. */
static inline real_r64 scale_down_f64(double* a, int64_t count) {
  real_r64 largest = 0, by = 1, none = 0;
  for (int64_t i = 0; i < count; ++i) {
    const real_r64 part = larger_part_f64(a[i]);
    if (part > largest) largest = part;
    none += re_f64(a[i]) * 0 + im_f64(a[i]) * 0;
  }
  if (none != 0) return NAN;
  if (largest == 0) return 1;
  while (largest / by >= 2) by *= 2;
  while (largest / by < 1) by /= 2;
  for (int64_t i = 0; i < count; ++i) a[i] /= by;
  return by;
}

static inline void set_identity_f64(double* x, const int64_t* strides, int64_t n) {
  fill_matrix_f64(x, strides, n, n, 0);
  for (int64_t i = 0; i < n; ++i) x[i * (strides[1] + strides[2])] = 1;
}

/* The tangent of the angle, 45 degrees at most, of whose double this is the cotangent, whose square may be out of
   range; its sine, and the tangent of its half. */
static inline real_r64 rotation_of_r64(real_r64 cot, real_r64* sine, real_r64* half) {
  const real_r64 size = fabs(cot), large = 1 << 30;
  const real_r64 tangent = copysign(1, cot) / (size + (size < large ? sqrt(1 + size * size) : size));
  const real_r64 cosine = 1 / sqrt(1 + tangent * tangent);
  *sine = tangent * cosine;
  *half = *sine / (1 + cosine);
  return tangent;
}

/* The cosine is 1 - sine * half: where the angle is small, so is what is rounded. */
static inline void rotate_f64(double* restrict x, double* restrict y, int64_t count, real_r64 sine, real_r64 half) {
  for (int64_t i = 0; i < count; ++i) {
    const double e = x[i], f = y[i];
    x[i] = e - sine * (f + half * e);
    y[i] = f + sine * (e - half * f);
  }
}

/* Turns the phase of y by that of x, and returns the size of x; of real numbers x, and nothing turns. */
static inline real_r64 turn_phase_f64(double x, double* y, int64_t count) {
  (void)y, (void)count;
  return x;
}

static inline real_r64 turn_phase_c128(complex_c128 x, complex_c128* y, int64_t count) {
  const real_r64 size = size_c128(x);
  const complex_c128 phase = x / size;
  for (int64_t i = 0; i < count; ++i) y[i] = times_c128(phase, y[i]);
  return size;
}

/* One sweep over the symmetric (Hermitian) a, whose largest element was about 1; the rows of v, where there are any,
   turn with it. Was there anything left beside the diagonal? What is within half a unit in the last place of the
   diagonal's largest element counts as nothing: it is as little as the rounding of the matrix, and where two elements
   of the diagonal are equal, a rotation turns by 45 degrees, which by so little changes neither; such rotations could
   go on for ever. */
static inline bool sweep_symmetric_f64(double* a, double* v, int64_t n) {
  const real_r64 half_unit = sizeof(real_r64) == 8 ? 0x1p-53 : 0x1p-24;
  real_r64 largest = 1;
  for (int64_t i = 0; i < n; ++i) {
    if (fabs(re_f64(a[i * (n + 1)])) > largest) largest = fabs(re_f64(a[i * (n + 1)]));
  }
  const real_r64 least = half_unit * largest;
  bool rotated = false;
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t q = p + 1; q < n; ++q) {
      double *x = a + p * n, *y = a + q * n;
      const double turn = x[q];
      const real_r64 first = re_f64(x[p]), second = re_f64(y[q]);
      real_r64 sine, half;
      if (size_f64(turn) <= least) continue;
      const real_r64 beside = turn_phase_f64(turn, y, n);
      if (v) turn_phase_f64(turn, v + q * n, n);
      const real_r64 moved = rotation_of_r64((second - first) / (2 * beside), &sine, &half) * beside;
      rotate_f64(x, y, n, sine, half);
      x[p] = first - moved;
      y[q] = second + moved;
      x[q] = y[p] = 0;
      for (int64_t k = 0; k < n; ++k) {
        a[k * n + p] = conj_f64(x[k]);
        a[k * n + q] = conj_f64(y[k]);
      }
      if (v) rotate_f64(v + p * n, v + q * n, n, sine, half);
      rotated = true;
    }
  }
  return rotated;
}

/* Sorts by insertion, with the number of each where `order` is there. */
static inline void sort_values_r64(real_r64* x, int32_t* order, int64_t count, bool descending) {
  for (int64_t i = 0; i < count; ++i) {
    const real_r64 moved = x[i];
    int64_t to = i;
    for (; to > 0 && (descending ? moved > x[to - 1] : moved < x[to - 1]); --to) {
      x[to] = x[to - 1];
      if (order) order[to] = order[to - 1];
    }
    x[to] = moved;
    if (order) order[to] = (int32_t)i;
  }
}

/* w and v, which is NULL where nobody wants it; a and turned have n * n elements each. 0, what ended() says, or -1: it
   does not converge. */
static inline int32_t symmetric_f64(double* a, double* turned, real_r64* w, int32_t* order, double* v,
                                    const int64_t* v_strides, int64_t n, InlayCall* call, const int32_t* stop) {
  const int64_t strides[3] = {0, n, 1};
  const real_r64 by = scale_down_f64(a, n * n);
  int sweeps = 0;
  if (turned) set_identity_f64(turned, strides, n);
  if (isnan(by)) {
    for (int64_t i = 0; i < n; ++i) w[i] = NAN;
    if (v) fill_matrix_f64(v, v_strides, n, n, NAN);
    return 0;
  }
  while (sweep_symmetric_f64(a, turned, n)) {
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (++sweeps == kMostSweeps) return -1;
  }
  for (int64_t i = 0; i < n; ++i) w[i] = re_f64(a[i * (n + 1)]) * by;
  sort_values_r64(w, order, n, false);
  for (int64_t i = 0; v && i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      v[k * v_strides[1] + i * v_strides[2]] = conj_f64(turned[order[i] * n + k]);
    }
  }
  return 0;
}

/* The triangle that is read, on both sides. */
static inline void copy_symmetric_f64(const double* from, const int64_t* strides, int64_t n, bool upper, double* a) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < r; ++c) {
      const double e = from[(upper ? c : r) * strides[1] + (upper ? r : c) * strides[2]];
      a[r * n + c] = upper ? conj_f64(e) : e;
      a[c * n + r] = upper ? e : conj_f64(e);
    }
    a[r * n + r] = re_f64(from[r * (strides[1] + strides[2])]);
  }
}

/* Both forms: without `vectors` w alone, and a workspace of a alone. */
static inline int32_t eigenvalues_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                      const int64_t* result_strides, const int64_t* sizes, uint32_t options, double* a,
                                      int64_t* failure, InlayCall* call, const int32_t* stop, bool vectors) {
  const int64_t n = sizes[1], *v_strides = vectors ? result_strides + 3 : NULL;
  double* turned = vectors && n ? a + n * n : NULL;
  int32_t* order = vectors && n ? (int32_t*)(turned + n * n) : NULL;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    real_r64* w = (real_r64*)results[0] + point * result_strides[0];
    double* v = vectors ? (double*)results[1] + point * v_strides[0] : NULL;
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    copy_symmetric_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, n,
                       (options & kOptionUpper) != 0, a);
    const int32_t status = symmetric_f64(a, turned, w, order, v, v_strides, n, call, stop);
    if (status == -1) return library_failed(failure, 1, point);
    if (status != 0) return status;
  }
  return 0;
}

static int32_t inlay_l_eigh_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                int64_t* failure, InlayCall* call, const int32_t* stop) {
  return eigenvalues_f64(operands, operand_strides, results, result_strides, sizes, options, workspace, failure, call,
                         stop, true);
}

static int32_t inlay_l_eigvalsh_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                    const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                    void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  return eigenvalues_f64(operands, operand_strides, results, result_strides, sizes, options, workspace, failure, call,
                         stop, false);
}

/* The sum of products with the conjugates of x, in four parts: they do not wait for each other, and round less. */
static inline double dot_f64(const double* restrict x, const double* restrict y, int64_t count) {
  const int64_t whole = count / 4 * 4;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int64_t i = 0; i < whole; i += 4) {
    s0 += times_f64(conj_f64(x[i]), y[i]);
    s1 += times_f64(conj_f64(x[i + 1]), y[i + 1]);
    s2 += times_f64(conj_f64(x[i + 2]), y[i + 2]);
    s3 += times_f64(conj_f64(x[i + 3]), y[i + 3]);
  }
  for (int64_t i = whole; i < count; ++i) s0 += times_f64(conj_f64(x[i]), y[i]);
  return (s0 + s1) + (s2 + s3);
}

/* One sweep of Hestenes: makes pairs of the `count` rows of w orthogonal, and turns those of v as far. Was a product of
   two more than `rounding` of their lengths? Rows whose square is below `least` are left. */
static inline bool sweep_rows_f64(double* w, int64_t length, double* v, int64_t count, real_r64 rounding,
                                  real_r64 least) {
  bool rotated = false;
  for (int64_t p = 0; p < count; ++p) {
    for (int64_t q = p + 1; q < count; ++q) {
      double *x = w + p * length, *y = w + q * length;
      const real_r64 xx = re_f64(dot_f64(x, x, length)), yy = re_f64(dot_f64(y, y, length));
      const double turn = conj_f64(dot_f64(x, y, length));
      real_r64 sine, half;
      if (xx < least || yy < least || size_f64(turn) <= rounding * sqrt(xx) * sqrt(yy)) continue;
      const real_r64 xy = turn_phase_f64(turn, y, length);
      if (v) turn_phase_f64(turn, v + q * count, count);
      rotation_of_r64((yy - xx) / (2 * xy), &sine, &half);
      rotate_f64(x, y, length, sine, half);
      if (v) rotate_f64(v + p * count, v + q * count, count, sine, half);
      rotated = true;
    }
  }
  return rotated;
}

/* Makes the columns of u from `first` on orthonormal to all before them, by Gram and Schmidt: of unit vectors, each
   taken but where it is nearly within their span. x has `rows` elements. */
static inline void complete_columns_f64(double* u, int64_t row, int64_t column, int64_t rows, int64_t first,
                                        int64_t columns, double* x) {
  for (int64_t c = first, unit = 0; c < columns && unit < rows; ++unit) {
    for (int64_t r = 0; r < rows; ++r) x[r] = r == unit;
    for (int again = 0; again < 2; ++again) { /* twice is enough */
      for (int64_t k = 0; k < c; ++k) {
        double dot = 0;
        for (int64_t r = 0; r < rows; ++r) dot += times_f64(conj_f64(u[r * row + k * column]), x[r]);
        for (int64_t r = 0; r < rows; ++r) x[r] -= times_f64(dot, u[r * row + k * column]);
      }
    }
    const real_r64 length = length_f64(x, rows);
    if (2 * length * sqrt((real_r64)rows) < 1) continue;
    for (int64_t r = 0; r < rows; ++r) u[r * row + c * column] = x[r] / length;
    ++c;
  }
}

/* The long side of a matrix and the other one: u is the factor along the former. */
typedef struct {
  double *u, *v;
  real_r64* s;
  int64_t u_row, u_column, u_columns, v_row, v_column;
} SvdResults_f64;

/* Of w, whose `count` rows of `length` are columns of the longer side; v and x have count * count and `length`
   elements. Without u only s is made. Returns as symmetric_f64 does, and -1 too where an element is not finite. */
static inline int32_t svd_one_f64(double* w, int64_t length, double* v, int64_t count, double* x, int32_t* order,
                                  const SvdResults_f64* out, InlayCall* call, const int32_t* stop) {
  const bool is_long = sizeof(real_r64) == 8;
  const real_r64 epsilon = is_long ? 0x1p-52 : 0x1p-23, vanishing = is_long ? 0x1p-800 : 0x1p-100;
  const int64_t strides[3] = {0, count, 1}, u_strides[3] = {0, out->u_row, out->u_column},
                v_strides[3] = {0, out->v_row, out->v_column};
  const real_r64 by = scale_down_f64(w, length * count);
  int64_t independent = 0;
  if (isnan(by)) return -1;
  if (v) set_identity_f64(v, strides, count);
  for (int sweeps = 0;; ++sweeps) {
    /* Later, what is unlucky: sums that round more than their root says, and rows of many sizes, of which those stay as
       they are that are nothing but rounding beside the largest element, which was about 1. */
    const bool late = 2 * sweeps >= kMostSweeps;
    const real_r64 rounding = epsilon * (late ? (real_r64)length : sqrt((real_r64)length));
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (!sweep_rows_f64(w, length, v, count, rounding, late ? epsilon * epsilon : vanishing)) break;
    if (sweeps == kMostSweeps) return -1;
  }
  for (int64_t i = 0; i < count; ++i) out->s[i] = length_f64(w + i * length, length);
  sort_values_r64(out->s, order, count, true);
  for (int64_t i = 0; out->u && i < count; ++i) {
    const double* from = w + order[i] * length;
    const real_r64 size = out->s[i];
    for (int64_t k = 0; k < count; ++k) {
      out->v[k * v_strides[1] + i * v_strides[2]] = conj_f64(v[order[i] * count + k]);
    }
    if (!(size > 4 * epsilon * out->s[0])) continue; /* nothing but rounding: any direction will do */
    for (int64_t k = 0; k < length; ++k) out->u[k * u_strides[1] + i * u_strides[2]] = from[k] / size;
    ++independent;
  }
  if (out->u) complete_columns_f64(out->u, out->u_row, out->u_column, length, independent, out->u_columns, x);
  for (int64_t i = 0; i < count; ++i) out->s[i] *= by;
  return 0;
}

/* All forms: s alone where `s_at` is 0, else u, s and vh; `full`: square ones. */
static inline int32_t svd_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                              const int64_t* result_strides, const int64_t* sizes, double* w, int64_t* failure,
                              InlayCall* call, const int32_t* stop, int s_at, bool full) {
  const int64_t m = sizes[1], n = sizes[2], *u_strides = result_strides, *vh_strides = result_strides + 6;
  const bool tall = m >= n, vectors = s_at != 0;
  const int64_t length = tall ? m : n, count = tall ? n : m;
  const int64_t w_strides[3] = {0, tall ? 1 : n, tall ? m : 1};
  double *x = count ? w + m * n : NULL, *v = vectors && count ? x + length : NULL;
  int32_t* order = count ? (int32_t*)(x + length + (vectors ? count * count : 0)) : NULL;
  for (int64_t point = 0; point < (m || n ? sizes[0] : 0); ++point) {
    SvdResults_f64 out = {.s = (real_r64*)results[s_at] + point * result_strides[3 * s_at],
                          .u_columns = full ? length : count};
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (vectors) { /* of a wide matrix vh is u of its transpose */
      double* u = (double*)results[0] + point * u_strides[0];
      double* vh = (double*)results[2] + point * vh_strides[0];
      if (count == 0 && full && m) set_identity_f64(u, u_strides, m);
      if (count == 0 && full && n) set_identity_f64(vh, vh_strides, n);
      out.u = tall ? u : vh;
      out.v = tall ? vh : u;
      out.u_row = tall ? u_strides[1] : vh_strides[2];
      out.u_column = tall ? u_strides[2] : vh_strides[1];
      out.v_row = tall ? vh_strides[2] : u_strides[1];
      out.v_column = tall ? vh_strides[1] : u_strides[2];
    }
    if (count == 0) continue;
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, m, n, w, w_strides);
    const int32_t status = svd_one_f64(w, length, v, count, x, order, &out, call, stop);
    if (status == -1) return library_failed(failure, 0, point);
    if (status != 0) return status;
  }
  return 0;
}

static int32_t inlay_l_svd_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                               const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                               int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options;
  return svd_f64(operands, operand_strides, results, result_strides, sizes, workspace, failure, call, stop, 1, false);
}

static int32_t inlay_l_svd_full_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                    const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                    void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  (void)options;
  return svd_f64(operands, operand_strides, results, result_strides, sizes, workspace, failure, call, stop, 1, true);
}

static int32_t inlay_l_singular_values_f64(const void* const* operands, const int64_t* operand_strides,
                                           void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                           uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                           const int32_t* stop) {
  (void)options;
  return svd_f64(operands, operand_strides, results, result_strides, sizes, workspace, failure, call, stop, 0, false);
}
