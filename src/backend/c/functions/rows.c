#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* They are called as the functions of matrices are. */

/* Four columns at a time: their sums do not wait for each other. */
static int32_t inlay_l_row_dots_u8(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                   const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                   void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t m = sizes[1], k = sizes[2], n = sizes[3];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < sizes[0]; ++point) {
    for (int64_t r = 0; r < m; ++r) {
      const uint8_t* x = (const uint8_t*)operands[0] + point * operand_strides[0] + r * operand_strides[1];
      const int8_t* b = (const int8_t*)operands[1] + point * operand_strides[3];
      int32_t* y = (int32_t*)results[0] + point * result_strides[0] + r * result_strides[1];
      int64_t c = 0;
      if (r % 64 == 0 && ended(call, stop)) return INLAY_INTERRUPTED;
      for (; c + 4 <= n; c += 4, b += 4 * operand_strides[4]) {
        const int8_t *b1 = b + operand_strides[4], *b2 = b1 + operand_strides[4], *b3 = b2 + operand_strides[4];
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int64_t e = 0; e < k; ++e) {
          s0 += (uint32_t)(x[e] * b[e]);
          s1 += (uint32_t)(x[e] * b1[e]);
          s2 += (uint32_t)(x[e] * b2[e]);
          s3 += (uint32_t)(x[e] * b3[e]);
        }
        y[c] = (int32_t)s0;
        y[c + 1] = (int32_t)s1;
        y[c + 2] = (int32_t)s2;
        y[c + 3] = (int32_t)s3;
      }
      for (; c < n; ++c, b += operand_strides[4]) {
        uint32_t sum = 0;
        for (int64_t e = 0; e < k; ++e) sum += (uint32_t)(x[e] * b[e]);
        y[c] = (int32_t)sum;
      }
    }
  }
  return 0;
}

static int32_t inlay_l_weighted_rows_u8(const void* const* operands, const int64_t* operand_strides,
                                        void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                        const int32_t* stop) {
  const int64_t k = sizes[1], n = sizes[2], m = sizes[3];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < sizes[0]; ++point) {
    for (int64_t r = 0; r < m; ++r) {
      const uint8_t* x = (const uint8_t*)operands[0] + point * operand_strides[0];
      const int8_t* b = (const int8_t*)operands[1] + point * operand_strides[3] + r * operand_strides[4];
      int32_t* y = (int32_t*)results[0] + point * result_strides[0] + r * result_strides[1];
      if (r % 64 == 0 && ended(call, stop)) return INLAY_INTERRUPTED;
      for (int64_t c = 0; c < n; ++c) y[c] = 0;
      for (int64_t e = 0; e < k; ++e, x += operand_strides[1]) {
        for (int64_t c = 0; c < n; ++c) y[c] = (int32_t)((uint32_t)y[c] + (uint32_t)(b[e] * x[c]));
      }
    }
  }
  return 0;
}

/* The others are of rows of any ordered type. NaN comes last. */

static inline bool comes_before_f64(double a, double b) { return a < b || (isnan(b) && !isnan(a)); }

/* By the real, then the imaginary part; first of all what is NaN in neither, then in the imaginary one, in the real
   one, in both. */
static inline bool comes_before_c128(complex_c128 a, complex_c128 b) {
  const real_r64 x = re_c128(a), y = re_c128(b);
  if (isnan(x) != isnan(y)) return isnan(y);
  if (isnan(im_c128(a)) != isnan(im_c128(b))) return isnan(im_c128(b));
  return x < y || y < x ? x < y : im_c128(a) < im_c128(b);
}

static inline bool comes_before_i64(int64_t a, int64_t b) { return a < b; }

/* A heap whose largest element is x[0], but for x[at], which sinks. */
static inline void sink_f64(double* x, int64_t at, int64_t count) {
  const double moved = x[at];
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before_f64(x[child], x[child + 1])) ++child;
    if (!comes_before_f64(moved, x[child])) break;
    x[at] = x[child];
  }
  x[at] = moved;
}

static int32_t inlay_l_sort_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                const int64_t* result_strides, const int64_t* sizes, uint32_t options, void* workspace,
                                int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    const double* x = (const double*)operands[0] + point * operand_strides[0];
    double* out = (double*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    for (int64_t i = 0; i < n; ++i) out[i] = x[i * operand_strides[1]];
    for (int64_t i = n / 2; i-- > 0;) sink_f64(out, i, n);
    for (int64_t last = n - 1; last > 0; --last) {
      const double largest = out[0];
      out[0] = out[last];
      out[last] = largest;
      sink_f64(out, 0, last);
    }
  }
  return 0;
}

/* Of equal elements that which stands before. */
static inline bool position_comes_before_f64(const double* x, int64_t step, int64_t a, int64_t b) {
  return comes_before_f64(x[a * step], x[b * step]) || (!comes_before_f64(x[b * step], x[a * step]) && a < b);
}

static inline void sink_position_f64(const double* x, int64_t step, int64_t* order, int64_t at, int64_t count) {
  const int64_t moved = order[at];
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && position_comes_before_f64(x, step, order[child], order[child + 1])) ++child;
    if (!position_comes_before_f64(x, step, moved, order[child])) break;
    order[at] = order[child];
  }
  order[at] = moved;
}

static int32_t inlay_l_argsort_f64(const void* const* operands, const int64_t* operand_strides, void* const* results,
                                   const int64_t* result_strides, const int64_t* sizes, uint32_t options,
                                   void* workspace, int64_t* failure, InlayCall* call, const int32_t* stop) {
  const int64_t n = sizes[1];
  (void)options, (void)workspace, (void)failure;
  for (int64_t point = 0; point < (n ? sizes[0] : 0); ++point) {
    const double* x = (const double*)operands[0] + point * operand_strides[0];
    int64_t* order = (int64_t*)results[0] + point * result_strides[0];
    if (ended(call, stop)) return INLAY_INTERRUPTED;
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    for (int64_t i = n / 2; i-- > 0;) sink_position_f64(x, operand_strides[1], order, i, n);
    for (int64_t last = n - 1; last > 0; --last) {
      const int64_t largest = order[0];
      order[0] = order[last];
      order[last] = largest;
      sink_position_f64(x, operand_strides[1], order, 0, last);
    }
  }
  return 0;
}

static int32_t inlay_l_searchsorted_f64(const void* const* operands, const int64_t* operand_strides,
                                        void* const* results, const int64_t* result_strides, const int64_t* sizes,
                                        uint32_t options, void* workspace, int64_t* failure, InlayCall* call,
                                        const int32_t* stop) {
  const int64_t n = sizes[1], num_wanted = sizes[2], *wanted_strides = operand_strides + 3;
  (void)workspace, (void)failure;
  for (int64_t point = 0; point < (num_wanted ? sizes[0] : 0); ++point) {
    const double* x = (const double*)operands[0] + point * operand_strides[0];
    const double* wanted = (const double*)operands[1] + point * wanted_strides[0];
    int64_t* out = (int64_t*)results[0] + point * result_strides[0];
    for (int64_t i = 0; i < num_wanted; ++i) {
      const double element = wanted[i * wanted_strides[1]];
      int64_t begin = 0, end = n; /* its position is in [begin, end] */
      if (i % 16384 == 0 && ended(call, stop)) return INLAY_INTERRUPTED;
      while (begin < end) {
        const int64_t at = begin + (end - begin) / 2;
        const double other = x[at * operand_strides[1]];
        const bool is_behind =
            (options & kOptionRight) ? !comes_before_f64(element, other) : comes_before_f64(other, element);
        if (is_behind) begin = at + 1;
        if (!is_behind) end = at;
      }
      out[i * result_strides[1]] = begin;
    }
  }
  return 0;
}
