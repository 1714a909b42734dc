#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Schur's triangle, by Hessenberg's form and shifted steps of QR. All matrices lie by rows; t is z' a z at any time. A
   real triangle has blocks of two rows, whose eigenvalues are a pair. */

/* Of LibraryOption. */
static const uint32_t kOptionLeft = 64;

static const uint32_t kOptionInside = 128;

/* Nothing beside so much. */
static inline real_r64 epsilon_r64(void) { return sizeof(real_r64) == 8 ? 0x1p-52 : 0x1p-23; }

/* Takes the adjoint of (1 - tau v v') from the left to two rows or more, v[0] = 1; `sums` has as many elements as x has
   columns. */
static inline void reflect_rows_f64(const double* restrict v, double tau, int64_t rows, double* restrict x, int64_t row,
                                    int64_t columns, double* restrict sums) {
  for (int64_t c = 0; c < columns; ++c) sums[c] = x[c] + times_f64(conj_f64(v[1]), x[row + c]);
  for (int64_t r = 2; r < rows; ++r) {
    const double e = conj_f64(v[r]);
    for (int64_t c = 0; c < columns; ++c) sums[c] += times_f64(e, x[r * row + c]);
  }
  for (int64_t c = 0; c < columns; ++c) {
    sums[c] = times_f64(conj_f64(tau), sums[c]);
    x[c] -= sums[c];
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) x[r * row + c] -= times_f64(v[r], sums[c]);
  }
}

/* Takes (1 - tau v v') from the right. */
static inline void reflect_columns_f64(const double* restrict v, double tau, int64_t columns, double* restrict x,
                                       int64_t row, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r, x += row) {
    double sum = x[0];
    for (int64_t c = 1; c < columns; ++c) sum += times_f64(x[c], v[c]);
    sum = times_f64(tau, sum);
    x[0] -= sum;
    for (int64_t c = 1; c < columns; ++c) x[c] -= times_f64(sum, conj_f64(v[c]));
  }
}

/* t becomes 0 below the first diagonal beside the middle one; work has 2 n elements. */
static inline void reduce_hessenberg_f64(double* t, double* z, int64_t n, double* work) {
  double *v = work, *sums = work + n;
  for (int64_t k = 0; k + 2 < n; ++k) {
    const int64_t count = n - k - 1;
    for (int64_t i = 0; i < count; ++i) v[i] = t[(k + 1 + i) * n + k];
    const double tau = reflection_f64(v, count);
    if (tau == 0) continue;
    for (int64_t i = 0; i < count; ++i) t[(k + 1 + i) * n + k] = i == 0 ? v[0] : 0;
    reflect_rows_f64(v, tau, count, t + (k + 1) * (n + 1), n, count, sums);
    reflect_columns_f64(v, tau, count, t + k + 1, n, n);
    if (z) reflect_columns_f64(v, tau, count, z + k + 1, n, n);
  }
}

/* The cosine of the rotation that makes (r, 0) of (f, g): [cosine sine; -sine' cosine]. */
static inline real_r64 turning_f64(double f, double g, double* sine, double* r) {
  const double ends[2] = {f, g};
  const real_r64 size = size_f64(f), length = length_f64(ends, 2);
  *sine = 0;
  *r = f;
  if (g == 0) return 1;
  const double phase = size == 0 ? 1 : f / size;
  *sine = times_f64(phase, conj_f64(g) / length);
  *r = phase * length;
  return size / length;
}

/* Takes such a rotation from the left to the rows x and y; from the right its adjoint, to columns, is the same with the
   conjugate of the sine. */
static inline void turn_f64(double* x, double* y, int64_t step, int64_t count, real_r64 cosine, double sine) {
  for (int64_t i = 0; i < count; ++i) {
    const double e = x[i * step], f = y[i * step];
    x[i * step] = cosine * e + times_f64(sine, f);
    y[i * step] = cosine * f - times_f64(conj_f64(sine), e);
  }
}

/* Turns the rows i and i + 1 of t, the columns likewise, and those of z. */
static inline void turn_both_f64(double* t, double* z, int64_t n, int64_t i, real_r64 cosine, double sine) {
  turn_f64(t + i * (n + 1), t + i * (n + 1) + n, 1, n - i, cosine, sine);
  turn_f64(t + i, t + i + 1, n, i + 2, cosine, conj_f64(sine));
  if (z) turn_f64(z + i, z + i + 1, n, n, cosine, conj_f64(sine));
}

/* Makes a triangle of the block at i where its eigenvalues are real, else the two elements of its diagonal equal. */
static inline void set_block_f64(double* t, double* z, int64_t n, int64_t i) {
  double *upper = t + i * (n + 1), *lower = upper + n, sine, r;
  const double b = upper[1], c = lower[0], half = (upper[0] - lower[1]) / 2;
  double scale = fabs(half) > fabs(b) ? fabs(half) : fabs(b);
  if (c == 0) return;
  if (fabs(c) > scale) scale = fabs(c);
  const double p = half / scale, apart = p * p + b / scale * (c / scale);
  const double vector = p + copysign(sqrt(apart > 0 ? apart : 0), p);
  if (apart >= 0 && vector != 0) {
    const double cosine = turning_f64(vector, c / scale, &sine, &r);
    turn_both_f64(t, z, n, i, cosine, sine);
    lower[0] = 0;
    return;
  }
  const double ends[2] = {p, (b / scale + c / scale) / 2}, length = length_f64(ends, 2);
  if (length != 0) { /* the double of the angle has the tangent -p / ends[1] */
    const double cosine = sqrt((1 + fabs(ends[1]) / length) / 2);
    turn_both_f64(t, z, n, i, cosine, -copysign(p, p * ends[1]) / (2 * cosine * length));
  }
  upper[0] = lower[1] = upper[0] / 2 + lower[1] / 2;
  if (upper[1] != 0 && lower[0] != 0 && (upper[1] < 0) != (lower[0] < 0)) return;
  if (fabs(upper[1]) < fabs(lower[0])) turn_both_f64(t, z, n, i, 0, 1); /* rounded to two equal real ones */
  lower[0] = 0;
}

static inline void set_block_c128(complex_c128* t, complex_c128* z, int64_t n, int64_t i) {
  (void)t, (void)z, (void)n, (void)i;
}

/* The rows of the block at i. */
static inline int64_t block_rows_f64(const double* t, int64_t n, int64_t i) {
  return i + 1 < n && t[(i + 1) * n + i] != 0 ? 2 : 1;
}

static inline int64_t block_rows_c128(const complex_c128* t, int64_t n, int64_t i) {
  (void)t, (void)n, (void)i;
  return 1;
}

/* Of the block that ends with row i - 1. */
static inline int64_t rows_before_f64(const double* t, int64_t n, int64_t i) {
  return i > 1 && block_rows_f64(t, n, i - 2) == 2 ? 2 : 1;
}

/* Is the block nothing that steps would make smaller? */
static inline bool is_done_f64(double* t, double* z, int64_t n, int64_t first, int64_t last) {
  if (last == first + 1) set_block_f64(t, z, n, first);
  return last < first + 2;
}

static inline bool is_done_c128(complex_c128* t, complex_c128* z, int64_t n, int64_t first, int64_t last) {
  (void)t, (void)z, (void)n;
  return last == first;
}

/* One step on the rows and columns from first to last, with both eigenvalues of the last two as shifts; without z the
   others are left. Where `by_chance`, the shifts are others, for matrices whose own lead in circles. */
static inline void step_f64(double* t, double* z, int64_t n, int64_t first, int64_t last, bool by_chance,
                            double* sums) {
  const double *d = t + first * (n + 1), *e = t + (last - 1) * (n + 1), *f = e + n;
  const double near = fabs(f[0]) + fabs(e[-1]);
  const double sum = by_chance ? 2 * f[1] + 3 * near / 2 : e[0] + f[1];
  const double product = by_chance ? f[1] * f[1] + 3 * near / 2 * f[1] + near * near : e[0] * f[1] - e[1] * f[0];
  const int64_t begin = z ? 0 : first, end = z ? n : last + 1;
  double v[3] = {d[0] * (d[0] - sum) + product + d[1] * d[n], d[n] * (d[0] + d[n + 1] - sum), d[n] * d[2 * n + 1]};
  for (int64_t k = first; k < last; ++k) {
    const int64_t count = k + 1 < last ? 3 : 2, rows = (k + 3 < last ? k + 3 : last) + 1 - begin;
    const double tau = reflection_f64(v, count);
    if (k > first) {
      for (int64_t i = 0; i < count; ++i) t[(k + i) * n + k - 1] = i == 0 ? v[0] : 0;
    }
    reflect_rows_f64(v, tau, count, t + k * (n + 1), n, end - k, sums);
    reflect_columns_f64(v, tau, count, t + begin * n + k, n, rows);
    if (z) reflect_columns_f64(v, tau, count, z + k, n, n);
    for (int64_t i = 0; i < 3 && k + 1 + i <= last; ++i) v[i] = t[(k + 1 + i) * n + k];
  }
}

/* The eigenvalue of [a b; c d] that is nearer to d. */
static inline complex_c128 near_value_c128(complex_c128 a, complex_c128 b, complex_c128 c, complex_c128 d) {
  const complex_c128 half = (a - d) / 2, product = times_c128(b, c);
  const complex_c128 root = root_c128(times_c128(half, half) + product);
  const complex_c128 one = half + root, other = half - root;
  const complex_c128 far = size_c128(one) > size_c128(other) ? one : other;
  return far == 0 ? d : d - over_c128(product, far);
}

/* With one shift. */
static inline void step_c128(complex_c128* t, complex_c128* z, int64_t n, int64_t first, int64_t last, bool by_chance,
                             complex_c128* sums) {
  const complex_c128 *e = t + (last - 1) * (n + 1), *f = e + n;
  const complex_c128 shift =
      by_chance ? f[1] + size_c128(f[0]) * joined_c128(0.75, 0.25) : near_value_c128(e[0], e[1], f[0], f[1]);
  const int64_t begin = z ? 0 : first, end = z ? n : last + 1;
  complex_c128 x = t[first * (n + 1)] - shift, y = t[first * (n + 1) + n], sine, r;
  (void)sums;
  for (int64_t k = first; k < last; ++k) {
    complex_c128* at = t + k * (n + 1);
    const real_r64 cosine = turning_c128(x, y, &sine, &r);
    if (k > first) {
      at[-1] = r;
      at[n - 1] = 0;
    }
    turn_c128(at, at + n, 1, end - k, cosine, sine);
    turn_c128(t + begin * n + k, t + begin * n + k + 1, n, (k + 2 < last ? k + 2 : last) + 1 - begin, cosine,
              conj_c128(sine));
    if (z) turn_c128(z + k, z + k + 1, n, n, cosine, conj_c128(sine));
    if (k + 1 == last) break;
    x = at[n];
    y = at[2 * n];
  }
}

/* Where the block that ends with row `last` begins. What is nothing beside the diagonal becomes 0. */
static inline int64_t block_begin_f64(double* t, int64_t n, int64_t last) {
  for (int64_t k = last; k > 0; --k) {
    double* beside = t + k * (n + 1) - 1;
    const real_r64 around = rough_size_f64(beside[-n]) + rough_size_f64(beside[1]);
    if (rough_size_f64(*beside) > epsilon_r64() * (around == 0 ? 1 : around)) continue;
    *beside = 0;
    return k;
  }
  return 0;
}

/* What has not converged after so many steps for one block does not. */
static const int kMostSteps = 300;

/* t, whose largest element was about 1, becomes the triangle, and z the vectors, where anyone wants it: else only the
   diagonal and the blocks on it are right. 0, what ended() says, or -1: it does not converge. Work has 2 n elements. */
static inline int32_t make_triangle_f64(double* t, double* z, int64_t n, double* work, InlayCall* call,
                                        const int32_t* stop) {
  const int64_t strides[3] = {0, n, 1};
  int steps = 0;
  if (z) set_identity_f64(z, strides, n);
  reduce_hessenberg_f64(t, z, n, work);
  for (int64_t last = n - 1; last >= 0;) {
    const int64_t first = block_begin_f64(t, n, last);
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (is_done_f64(t, z, n, first, last)) {
      last = first - 1;
      steps = 0;
      continue;
    }
    if (++steps == kMostSteps) return -1;
    step_f64(t, z, n, first, last, steps % 10 == 0, work);
  }
  return 0;
}

/* Number i of them. */
static inline complex_c128 eigenvalue_f64(const double* t, int64_t n, int64_t i) {
  const int64_t rows = block_rows_f64(t, n, i), of_pair = i > 0 && block_rows_f64(t, n, i - 1) == 2;
  const double* at = t + (i - of_pair) * (n + 1);
  if (rows == 1 && !of_pair) return widened_f64(*at);
  const real_r64 im = sqrt(size_f64(at[1])) * sqrt(size_f64(at[n]));
  return joined_c128(re_f64(*at), of_pair ? -im : im);
}

/* x of `system` x = x, of 8 rows at most, by elimination. A pivot below `least`, which is rounding of the system,
   counts as that. */
static inline void solve_few_f64(double* system, int64_t rows, double* x, real_r64 least) {
  int32_t pivots[8];
  eliminate_f64(system, rows, rows, pivots);
  for (int64_t i = 0; i < rows; ++i) {
    swap_rows_f64(x, 1, 1, i, pivots[i]);
    if (size_f64(system[i * (rows + 1)]) < least) system[i * (rows + 1)] = least;
  }
  solve_triangle_f64(system, rows, 1, rows, true, true, false, x, 1, 1);
  solve_triangle_f64(system, rows, 1, rows, false, false, false, x, 1, 1);
}

/* Adds to the system, of `all` columns, the terms a x + sign x b of the elements of x by rows: a has so many rows, b so
   many columns. */
static inline void add_terms_f64(double* system, int64_t all, const double* a, int64_t a_row, int64_t rows,
                                 const double* b, int64_t b_row, int64_t columns, real_r64 sign) {
  for (int64_t e = 0; e < rows * columns; ++e) {
    const int64_t r = e / columns, c = e % columns;
    for (int64_t k = 0; k < rows; ++k) system[e * all + k * columns + c] += a[r * a_row + k];
    for (int64_t k = 0; k < columns; ++k) system[e * all + r * columns + k] += sign * b[k * b_row + c];
  }
}

/* The reflections that bring the span of [-x; 1] to the front; by columns, as factor_qr_f64 leaves them. */
static inline void reflections_of_f64(const double* x, int64_t rows, int64_t columns, double* out, double* tau) {
  const int64_t all = rows + columns;
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < all; ++r) out[c * all + r] = r < rows ? -x[r * columns + c] : r - rows == c;
  }
  factor_qr_f64(out, all, columns, tau, NULL);
}

/* Is there nothing in the rows below the first `upper` ones, in the first `columns`? It becomes 0. `all`: the largest
   element of the rows. */
static inline bool clear_below_f64(double* t, int64_t n, int64_t upper, int64_t rows, int64_t columns) {
  real_r64 all = 0, below = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < rows; ++c) {
      const real_r64 size = rough_size_f64(t[r * n + c]);
      if (size > all) all = size;
      if (r >= upper && c < columns && !(size <= below)) below = size;
    }
  }
  for (int64_t r = upper; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) t[r * n + c] = 0;
  }
  return below <= 32 * epsilon_r64() * all;
}

/* Exchanges the block at i, of `upper` rows, with that behind it, of `lower`: the vectors of the latter are [-x; 1] for
   x of t11 x - x t22 = t12. False where rounding would change their eigenvalues. */
static inline bool swap_blocks_f64(double* t, double* z, int64_t n, int64_t i, int64_t upper, int64_t lower,
                                   double* sums) {
  double *at = t + i * (n + 1), *behind = at + upper * (n + 1), system[16] = {0}, x[4], reflections[8], tau[2];
  const int64_t all = upper + lower, unknown = upper * lower;
  real_r64 largest = 0;
  for (int64_t e = 0; e < unknown; ++e) x[e] = at[e / lower * n + upper + e % lower];
  for (int64_t e = 0; e < all * all; ++e) {
    const real_r64 size = rough_size_f64(at[e / all * n + e % all]);
    if (size > largest) largest = size;
  }
  add_terms_f64(system, unknown, at, n, upper, behind, n, lower, -1);
  solve_few_f64(system, unknown, x, epsilon_r64() * largest);
  reflections_of_f64(x, upper, lower, reflections, tau);
  for (int64_t k = 0; k < lower; ++k) {
    const double* v = reflections + k * (all + 1);
    reflect_rows_f64(v, tau[k], all - k, at + k * n, n, n - i, sums);
    reflect_columns_f64(v, tau[k], all - k, t + i + k, n, i + all);
    reflect_columns_f64(v, tau[k], all - k, z + i + k, n, n);
  }
  if (!clear_below_f64(at, n, lower, all, lower)) return false;
  if (lower == 2) set_block_f64(t, z, n, i);
  if (upper == 2) set_block_f64(t, z, n, i + lower);
  return true;
}

/* Does an option name it? */
static inline bool is_named_c128(complex_c128 w, uint32_t options) {
  if (options & kOptionLeft) return re_c128(w) < 0;
  if (options & kOptionRight) return re_c128(w) >= 0;
  return options & kOptionInside ? size_c128(w) <= 1 : size_c128(w) > 1;
}

/* Brings those that an option names to the front. */
static inline bool order_blocks_f64(double* t, double* z, int64_t n, real_r64 by, uint32_t options, double* sums) {
  for (int64_t i = 0, front = 0, rows; options && i < n; i += rows) {
    rows = block_rows_f64(t, n, i);
    if (!is_named_c128(eigenvalue_f64(t, n, i) * by, options)) continue;
    for (int64_t at = i; at > front;) {
      const int64_t before = rows_before_f64(t, n, at);
      at -= before;
      if (!swap_blocks_f64(t, z, n, at, before, rows, sums)) return false;
    }
    front += rows;
  }
  return true;
}

static int32_t inlay_l_schur_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                 const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                 int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], size = n * n, strides[3] = {0, n, 1}, *z_strides = result_strides + 3;
  double *t = workspace, *z = n ? t + size : NULL, *work = n ? z + size : NULL;
  (void)failure;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    double* t_out = (double*)results[0] + point * result_strides[0];
    double* z_out = (double*)results[1] + point * z_strides[0];
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, n, n, t, strides);
    const real_r64 by = scale_down_f64(t, size);
    const int32_t status = isnan(by) ? -1 : make_triangle_f64(t, z, n, work, call, stop);
    if (status > 0) return status;
    if (status == -1 || !order_blocks_f64(t, z, n, by, options, work)) {
      fill_matrix_f64(t_out, result_strides, n, n, NAN);
      fill_matrix_f64(z_out, z_strides, n, n, NAN);
      continue;
    }
    for (int64_t e = 0; e < size; ++e) t[e] *= by;
    copy_matrix_f64(t, strides, n, n, t_out, result_strides);
    copy_matrix_f64(z, strides, n, n, z_out, z_strides);
  }
  return 0;
}
