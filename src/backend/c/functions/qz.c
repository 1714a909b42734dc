#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Schur's triangles of two matrices at once: s = q' a z and t = q' b z at any time, by rotations of two rows or two
   columns of both. */

typedef struct {
  double *s, *t, *q, *z, *sums; /* the last of n elements */
  int64_t n;
  real_r64 of_s, of_t; /* what counts as nothing */
} Pencil_f64;

/* Turns the rows i and i + 1 as it makes (r, 0) of (f, g); returns r. */
static inline double turn_rows_f64(const Pencil_f64* p, int64_t i, double f, double g) {
  const int64_t n = p->n;
  double sine, r;
  const real_r64 cosine = turning_f64(f, g, &sine, &r);
  if (g == 0) return r;
  turn_f64(p->s + i * n, p->s + (i + 1) * n, 1, n, cosine, sine);
  turn_f64(p->t + i * n, p->t + (i + 1) * n, 1, n, cosine, sine);
  turn_f64(p->q + i, p->q + i + 1, n, n, cosine, conj_f64(sine));
  return r;
}

/* Turns the columns i and i + 1 as it makes (0, r) of (f, g). */
static inline void turn_columns_f64(const Pencil_f64* p, int64_t i, double f, double g) {
  double sine, r;
  const real_r64 cosine = turning_f64(g, f, &sine, &r);
  double* const all[3] = {p->s + i, p->t + i, p->z + i};
  for (int k = 0; k < 3 && f != 0; ++k) turn_f64(all[k] + 1, all[k], p->n, p->n, cosine, sine);
}

/* The same, of the rows for element (i + 1, c) of x, which is s or t, and of the columns for element (r, i): that
   becomes 0. */
static inline void clear_by_rows_f64(const Pencil_f64* p, double* x, int64_t i, int64_t c) {
  double* at = x + i * p->n + c;
  turn_rows_f64(p, i, at[0], at[p->n]);
  at[p->n] = 0;
}

static inline void clear_by_columns_f64(const Pencil_f64* p, double* x, int64_t r, int64_t i) {
  double* at = x + r * p->n + i;
  turn_columns_f64(p, i, at[0], at[1]);
  at[0] = 0;
}

/* t becomes a triangle, s one with one more diagonal. */
static inline void reduce_pencil_f64(const Pencil_f64* p) {
  for (int64_t c = 0; c + 1 < p->n; ++c) {
    for (int64_t r = p->n - 1; r > c; --r) clear_by_rows_f64(p, p->t, r - 1, c);
  }
  for (int64_t c = 0; c + 2 < p->n; ++c) {
    for (int64_t r = p->n - 1; r > c + 1; --r) {
      clear_by_rows_f64(p, p->s, r - 1, c);
      clear_by_columns_f64(p, p->t, r, r - 1);
    }
  }
}

/* The block at i of s over t, by rows: of the product of the former and the inverse of the latter, a triangle. */
static inline void quotient_f64(const Pencil_f64* p, int64_t i, double* m) {
  const double *a = p->s + i * (p->n + 1), *c = a + p->n, *e = p->t + i * (p->n + 1), *g = e + p->n;
  m[0] = over_f64(a[0], e[0]);
  m[1] = over_f64(a[1] - times_f64(m[0], e[1]), g[1]);
  m[2] = over_f64(c[0], e[0]);
  m[3] = over_f64(c[1] - times_f64(m[2], e[1]), g[1]);
}

/* What two real eigenvalues of [m0 m1; m2 m3] have in common, and the square of half of what is between them. */
static inline double apart_f64(const double* m, double* mean) {
  const double half = (m[0] - m[3]) / 2;
  *mean = m[0] / 2 + m[3] / 2;
  return times_f64(half, half) + times_f64(m[1], m[2]);
}

/* Makes the diagonal of t positive there. */
static inline void make_positive_f64(const Pencil_f64* p, int64_t i) {
  const int64_t n = p->n;
  double* const at = p->t + i * (n + 1);
  const real_r64 size = size_f64(*at);
  if (size == 0 || *at == size) return;
  const double turn = conj_f64(*at / size);
  for (int64_t r = 0; r < n; ++r) {
    p->s[r * n + i] = times_f64(turn, p->s[r * n + i]);
    p->t[r * n + i] = times_f64(turn, p->t[r * n + i]);
    p->z[r * n + i] = times_f64(turn, p->z[r * n + i]);
  }
  *at = size;
}

/* Makes both triangles in the block at i, of which w is a real eigenvalue. */
static inline void split_pencil_f64(const Pencil_f64* p, int64_t i, double w) {
  const int64_t n = p->n;
  double *a = p->s + i * (n + 1), *c = a + n, *e = p->t + i * (n + 1), *g = e + n;
  const double upper[2] = {a[0] - w * e[0], a[1] - w * e[1]}, lower[2] = {c[0], c[1] - w * g[1]};
  const double* row = length_f64(upper, 2) > length_f64(lower, 2) ? upper : lower;
  turn_columns_f64(p, i, row[0], row[1]);
  const double of_s[2] = {a[0], c[0]}, of_t[2] = {e[0], g[0]};
  const double* column = length_f64(of_s, 2) > length_f64(of_t, 2) ? of_s : of_t;
  turn_rows_f64(p, i, column[0], column[1]);
  c[0] = g[0] = 0;
}

/* Makes triangles of the block at i where its eigenvalues are real, else t a diagonal, positive. */
static inline void set_pencil_block_f64(const Pencil_f64* p, int64_t i) {
  const int64_t n = p->n;
  double *a = p->s + i * (n + 1), *c = a + n, *e = p->t + i * (n + 1), *g = e + n, m[4], mean;
  clear_by_rows_f64(p, p->t, i, i);
  if (c[0] == 0) return;
  if (fabs(e[0]) <= p->of_t) {
    e[0] = 0;
    clear_by_rows_f64(p, p->s, i, i);
    return;
  }
  if (fabs(g[1]) <= p->of_t) {
    g[1] = 0;
    clear_by_columns_f64(p, p->s, i + 1, i);
    return;
  }
  quotient_f64(p, i, m);
  const double apart = apart_f64(m, &mean);
  if (apart >= 0) {
    split_pencil_f64(p, i, mean + copysign(sqrt(apart), m[0] - m[3]));
    return;
  }
  if (e[1] != 0) {
    double sine, half;
    rotation_of_r64((e[1] * e[1] + g[1] * g[1] - e[0] * e[0]) / (2 * e[0] * e[1]), &sine, &half);
    double* const all[3] = {p->s + i, p->t + i, p->z + i};
    for (int k = 0; k < 3; ++k) turn_f64(all[k], all[k] + 1, n, n, 1 - sine * half, -sine);
    clear_by_rows_f64(p, p->t, i, i);
    e[1] = 0;
  }
  for (int64_t k = i; k < i + 2; ++k) make_positive_f64(p, k);
}

static inline void set_pencil_block_c128(const Pencil_c128* p, int64_t i) { (void)p, (void)i; }

static inline bool is_pencil_done_f64(const Pencil_f64* p, int64_t first, int64_t last) {
  if (last == first + 1) set_pencil_block_f64(p, first);
  return last < first + 2;
}

static inline bool is_pencil_done_c128(const Pencil_c128* p, int64_t first, int64_t last) {
  (void)p;
  return last == first;
}

/* As step_f64, which has s over t. */
static inline void step_pencil_f64(const Pencil_f64* p, int64_t first, int64_t last, bool by_chance) {
  const int64_t n = p->n;
  double *s = p->s, *t = p->t, m[4], end[4];
  quotient_f64(p, first, m);
  quotient_f64(p, last - 1, end);
  const double near = by_chance ? fabs(end[2]) + fabs(end[1]) : 0;
  const double sum = by_chance ? 2 * end[3] + 3 * near / 2 : end[0] + end[3];
  const double product =
      by_chance ? end[3] * end[3] + 3 * near / 2 * end[3] + near * near : end[0] * end[3] - end[1] * end[2];
  const double below = s[(first + 2) * n + first + 1] / t[(first + 1) * (n + 1)];
  const double x = m[0] * (m[0] - sum) + product + m[1] * m[2], y = m[2] * (m[0] + m[3] - sum);
  for (int64_t k = first; k < last; ++k) {
    if (k == first) {
      turn_rows_f64(p, k, x, turn_rows_f64(p, k + 1, y, m[2] * below));
    } else {
      if (k + 1 < last) clear_by_rows_f64(p, s, k + 1, k - 1);
      clear_by_rows_f64(p, s, k, k - 1);
    }
    if (k + 1 < last) {
      clear_by_columns_f64(p, t, k + 2, k);
      clear_by_columns_f64(p, t, k + 2, k + 1);
    }
    clear_by_columns_f64(p, t, k + 1, k);
  }
}

static inline void step_pencil_c128(const Pencil_c128* p, int64_t first, int64_t last, bool by_chance) {
  const complex_c128 *a = p->s + first * (p->n + 1), *e = p->t + first * (p->n + 1);
  complex_c128 m[4];
  quotient_c128(p, last - 1, m);
  const complex_c128 chance = m[3] + size_c128(m[2]) * joined_c128(0.75, 0.25);
  const complex_c128 shift = by_chance ? chance : near_value_c128(m[0], m[1], m[2], m[3]);
  turn_rows_c128(p, first, a[0] - times_c128(shift, e[0]), a[p->n]);
  for (int64_t k = first; k < last; ++k) {
    if (k > first) clear_by_rows_c128(p, p->s, k, k - 1);
    clear_by_columns_c128(p, p->t, k + 1, k);
  }
}

/* Brings a 0 on the diagonal of t, at i, to row `last`, which it takes from the block: an infinite eigenvalue. */
static inline void chase_zero_f64(const Pencil_f64* p, int64_t i, int64_t last) {
  for (int64_t k = i; k < last; ++k) {
    clear_by_rows_f64(p, p->t, k, k + 1);
    if (k > 0) clear_by_columns_f64(p, p->s, k + 1, k - 1);
  }
  if (last > 0) clear_by_columns_f64(p, p->s, last, last - 1);
}

/* Where the block that ends with row `last` begins. What is nothing below the diagonal of s, or on that of t, becomes
   0; a 0 of the latter goes to the end of the block, which is then `last`. */
static inline int64_t pencil_begin_f64(const Pencil_f64* p, int64_t last) {
  int64_t first = last;
  for (; first > 0; --first) {
    double* beside = p->s + first * (p->n + 1) - 1;
    if (size_f64(*beside) > p->of_s) continue;
    *beside = 0;
    break;
  }
  for (int64_t k = first; k <= last; ++k) {
    double* at = p->t + k * (p->n + 1);
    if (size_f64(*at) > p->of_t) continue;
    *at = 0;
    chase_zero_f64(p, k, last);
    return last;
  }
  return first;
}

/* As make_triangle_f64; s and t are a and b, whose largest elements are about 1. */
static inline int32_t make_triangles_f64(Pencil_f64* p, InlayCall* call, const int32_t* stop) {
  const int64_t n = p->n, strides[3] = {0, n, 1};
  int steps = 0;
  set_identity_f64(p->q, strides, n);
  set_identity_f64(p->z, strides, n);
  p->of_s = epsilon_r64() * length_f64(p->s, n * n);
  p->of_t = epsilon_r64() * length_f64(p->t, n * n);
  reduce_pencil_f64(p);
  for (int64_t last = n - 1; last >= 0;) {
    const int64_t first = pencil_begin_f64(p, last);
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    if (is_pencil_done_f64(p, first, last)) {
      last = first - 1;
      steps = 0;
      continue;
    }
    if (++steps == kMostSteps) return -1;
    step_pencil_f64(p, first, last, steps % 10 == 0);
  }
  for (int64_t i = 0; i < n; ++i) make_positive_f64(p, i);
  return 0;
}

/* As swap_blocks_f64: of s11 x - y s22 = s12 and t11 x - y t22 = t12. */
static inline bool swap_pencil_blocks_f64(const Pencil_f64* p, int64_t i, int64_t upper, int64_t lower) {
  const int64_t n = p->n, all = upper + lower, half = upper * lower, unknown = 2 * half;
  double system[64] = {0}, x[8], of_z[8], of_q[8], tau_z[2], tau_q[2];
  real_r64 largest = 0;
  for (int k = 0; k < 2; ++k) {
    const double *at = (k == 0 ? p->s : p->t) + i * (n + 1), *behind = at + upper * (n + 1);
    for (int64_t e = 0; e < half; ++e) {
      const int64_t r = e / lower, c = e % lower, row = (k * half + e) * unknown;
      x[k * half + e] = at[r * n + upper + c];
      for (int64_t j = 0; j < upper; ++j) system[row + j * lower + c] = at[r * n + j];
      for (int64_t j = 0; j < lower; ++j) system[row + half + r * lower + j] = -behind[j * n + c];
    }
  }
  for (int64_t e = 0; e < unknown * unknown; ++e) {
    if (rough_size_f64(system[e]) > largest) largest = rough_size_f64(system[e]);
  }
  solve_few_f64(system, unknown, x, epsilon_r64() * largest);
  reflections_of_f64(x, upper, lower, of_z, tau_z);
  reflections_of_f64(x + half, upper, lower, of_q, tau_q);
  for (int64_t k = 0; k < lower; ++k) {
    const double *u = of_z + k * (all + 1), *v = of_q + k * (all + 1);
    reflect_columns_f64(u, tau_z[k], all - k, p->s + i + k, n, n);
    reflect_columns_f64(u, tau_z[k], all - k, p->t + i + k, n, n);
    reflect_columns_f64(u, tau_z[k], all - k, p->z + i + k, n, n);
    reflect_rows_f64(v, tau_q[k], all - k, p->s + (i + k) * n, n, n, p->sums);
    reflect_rows_f64(v, tau_q[k], all - k, p->t + (i + k) * n, n, n, p->sums);
    reflect_columns_f64(v, tau_q[k], all - k, p->q + i + k, n, n);
  }
  const bool of_s = clear_below_f64(p->s + i * (n + 1), n, lower, all, lower);
  if (!clear_below_f64(p->t + i * (n + 1), n, lower, all, lower) || !of_s) return false;
  if (lower == 2) set_pencil_block_f64(p, i);
  if (upper == 2) set_pencil_block_f64(p, i + lower);
  for (int64_t k = i; k < i + all; ++k) make_positive_f64(p, k);
  return true;
}

/* Number i of the eigenvalues, alpha / beta. Of a pair both are so long that the product of beta is the determinant. */
static inline complex_c128 pencil_value_f64(const Pencil_f64* p, int64_t i, real_r64* beta) {
  const int64_t n = p->n, of_pair = i > 0 && block_rows_f64(p->s, n, i - 1) == 2, at = i - of_pair;
  const double* e = p->t + at * (n + 1);
  double m[4], mean;
  *beta = re_f64(e[0]);
  if (block_rows_f64(p->s, n, at) == 1) return widened_f64(p->s[at * (n + 1)]);
  quotient_f64(p, at, m);
  const real_r64 apart = re_f64(apart_f64(m, &mean)), im = apart < 0 ? sqrt(-apart) : 0;
  *beta = sqrt(re_f64(e[0])) * sqrt(re_f64(e[n + 1]));
  return *beta * joined_c128(re_f64(mean), of_pair ? -im : im);
}

/* Does an option name it? */
static inline bool is_quotient_named_c128(complex_c128 alpha, real_r64 beta, uint32_t options) {
  if (options & kOptionLeft) return beta != 0 && re_c128(alpha) < 0;
  if (options & kOptionRight) return beta != 0 && re_c128(alpha) > 0;
  return options & kOptionInside ? size_c128(alpha) < beta : size_c128(alpha) > beta;
}

/* As order_blocks_f64; s is to be multiplied by of_s, t by of_t. */
static inline bool order_pencil_f64(const Pencil_f64* p, real_r64 of_s, real_r64 of_t, uint32_t options) {
  const int64_t n = p->n;
  for (int64_t i = 0, front = 0, rows; options && i < n; i += rows) {
    real_r64 beta;
    const complex_c128 alpha = pencil_value_f64(p, i, &beta);
    rows = block_rows_f64(p->s, n, i);
    if (!is_quotient_named_c128(alpha * of_s, beta * of_t, options)) continue;
    for (int64_t at = i; at > front;) {
      const int64_t before = rows_before_f64(p->s, n, at);
      at -= before;
      if (!swap_pencil_blocks_f64(p, at, before, rows)) return false;
    }
    front += rows;
  }
  return true;
}

static int32_t inlay_l_qz_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                              const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                              int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1], size = n * n, strides[3] = {0, n, 1};
  double* const all = workspace;
  Pencil_f64 p = {.n = n};
  double** const parts[6] = {&p.s, &p.t, NULL, NULL, &p.q, &p.z}; /* by the results */
  (void)failure;
  for (int k = 0, made = 0; n && k < 6; ++k) {
    if (parts[k]) *parts[k] = all + size * made++;
  }
  if (n) p.sums = all + 4 * size;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    complex_c128* alpha = (complex_c128*)results[2] + point * result_strides[6];
    real_r64* beta = (real_r64*)results[3] + point * result_strides[9];
    copy_matrix_f64((const double*)operands[0] + point * operand_strides[0], operand_strides, n, n, p.s, strides);
    copy_matrix_f64((const double*)operands[1] + point * operand_strides[3], operand_strides + 3, n, n, p.t, strides);
    const real_r64 of_s = scale_down_f64(p.s, size), of_t = scale_down_f64(p.t, size);
    const int32_t status = isnan(of_s) || isnan(of_t) ? -1 : make_triangles_f64(&p, call, stop);
    if (status > 0) return status;
    const bool is_made = status == 0 && order_pencil_f64(&p, of_s, of_t, options);
    for (int64_t i = 0; i < n; ++i) {
      real_r64 below = NAN;
      const complex_c128 above = is_made ? pencil_value_f64(&p, i, &below) * of_s : NAN;
      alpha[i * result_strides[7]] = above;
      beta[i * result_strides[10]] = below * of_t;
    }
    for (int64_t e = 0; e < size; ++e) {
      p.s[e] *= of_s;
      p.t[e] *= of_t;
    }
    for (int k = 0; k < 6; ++k) {
      if (!parts[k]) continue;
      double* out = (double*)results[k] + point * result_strides[3 * k];
      if (!is_made) fill_matrix_f64(*parts[k], strides, n, n, NAN);
      copy_matrix_f64(*parts[k], strides, n, n, out, result_strides + 3 * k);
    }
  }
  return 0;
}
