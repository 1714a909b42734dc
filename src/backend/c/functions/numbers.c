#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "inlay/runtime.h"

/* Leaves with the site of the error and its numbers. */
static int32_t fail(InlayCall* call, int64_t site, int64_t a, int64_t b, int64_t c, int64_t d) {
  call->failure_site = site;
  call->failure_numbers[0] = a;
  call->failure_numbers[1] = b;
  call->failure_numbers[2] = c;
  call->failure_numbers[3] = d;
  return INLAY_FAILED_AT_SITE;
}

/* Was the call asked to end, and is it to? Without a flag nobody asks. */
static inline int32_t ended(InlayCall* call, const int32_t* stop) {
  return !stop || *(const volatile int32_t*)stop == 0 ? INLAY_OK : call->interrupted(call);
}

/* Is the index outside of [-extent, extent), 0 <= extent? Negative ones are made to count from the end. */
static inline bool is_outside(int64_t* index, int64_t extent) {
  if (*index < 0) *index += extent;
  return (uint64_t)*index >= (uint64_t)extent;
}

/* A number of points; int32_t where all of a program are few. */
typedef int64_t inlay_index;

/* Of a long sum: log2 of the number of its blocks is less. */
enum { inlay_parts = 48 };

/* Of a long sum: what its blocks make, 1, 2, 4, ... blocks at a time, as a binary counter counts. */
typedef struct {
  double parts[inlay_parts];
  inlay_index height, count, points;
} parts_f64;

/* Enough points are a block: its sum goes onto the stack, where equal numbers of blocks become one. */
static inline void put_f64(parts_f64* of, double* sum, inlay_index points, inlay_index block) {
  of->points += points;
  if (of->points < block) return;
  double all = *sum;
  for (inlay_index equal = ++of->count; !(equal & 1); equal >>= 1) all = of->parts[--of->height] + all;
  of->parts[of->height++] = all;
  of->points = 0;
  *sum = 0;
}

static inline void scale_f64(parts_f64* of, double factor) {
  for (inlay_index k = 0; k < of->height; ++k) of->parts[k] *= factor;
}

static inline double all_f64(parts_f64* of, double sum) {
  while (of->height > 0) sum = of->parts[--of->height] + sum;
  return sum;
}

/* Of a long sum: what its blocks make, 1, 2, 4, ... blocks at a time, as a binary counter counts. */
typedef struct {
  float parts[inlay_parts];
  inlay_index height, count, points;
} parts_f32;

/* Enough points are a block: its sum goes onto the stack, where equal numbers of blocks become one. */
static inline void put_f32(parts_f32* of, float* sum, inlay_index points, inlay_index block) {
  of->points += points;
  if (of->points < block) return;
  float all = *sum;
  for (inlay_index equal = ++of->count; !(equal & 1); equal >>= 1) all = of->parts[--of->height] + all;
  of->parts[of->height++] = all;
  of->points = 0;
  *sum = 0;
}

static inline void scale_f32(parts_f32* of, float factor) {
  for (inlay_index k = 0; k < of->height; ++k) of->parts[k] *= factor;
}

static inline float all_f32(parts_f32* of, float sum) {
  while (of->height > 0) sum = of->parts[--of->height] + sum;
  return sum;
}

static inline int32_t min_i32(int32_t a, int32_t b) { return a < b ? a : b; }

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* NaN wins from either side. */
static inline double max_f64(double a, double b) { return a >= b ? a : a != a ? a : b; }

static inline double min_f64(double a, double b) { return a <= b ? a : a != a ? a : b; }

static inline float max_f32(float a, float b) { return a >= b ? a : a != a ? a : b; }

static inline float min_f32(float a, float b) { return a <= b ? a : a != a ? a : b; }

/* 0 for -0.0, NaN for NaN. */
static inline double sign_f64(double x) { return x != x ? x : (double)((x > 0) - (x < 0)); }

static inline float sign_f32(float x) { return x != x ? x : (float)((x > 0) - (x < 0)); }

/* Integers wrap: what overflows is computed without a sign. */
static inline int64_t neg_i64(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

/* A sum and a product of sizes; says where it does not fit in 64 bits. */
static inline int64_t add_sizes(int64_t a, int64_t b, bool* overflows) {
  if (b < 0 ? a >= INT64_MIN - b : a <= INT64_MAX - b) return a + b;
  *overflows = true;
  return 0;
}

static inline int64_t multiply_sizes(int64_t a, int64_t b, bool* overflows) {
  const int64_t most = (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
  if (a == 0 || (a == -1 ? b != INT64_MIN : (a < 0) == (most < 0) ? b <= most / a : b >= most / a)) return a * b;
  *overflows = true;
  return 0;
}

/* Rounded down; x / 0 is 0. */
static inline int64_t floor_div_i64(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return neg_i64(a); /* the minimum / -1 traps */
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* A quotient of sizes; says where it does not fit in 64 bits. */
static inline int64_t divide_sizes(int64_t a, int64_t b, bool* overflows) {
  if (a == INT64_MIN && b == -1) *overflows = true;
  return floor_div_i64(a, b);
}

/* With the sign of b; x % 0 is 0. */
static inline int64_t mod_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
}

static inline uint64_t floor_div_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }

static inline uint64_t mod_u64(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }

/* Any integers by their bits: everything wraps. */
static inline uint64_t pow_u64(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) power *= exponent & 1 ? base : 1;
  return power;
}

/* By a negative count, or by all bits and more, everything is moved out. */
static inline uint64_t left_shift(uint64_t a, int64_t count, int bits) {
  return count < 0 || count >= bits ? 0 : a << count;
}

static inline int64_t right_shift_i64(int64_t a, int64_t count) { return a >> (count < 0 || count > 63 ? 63 : count); }

static inline uint64_t right_shift_u64(uint64_t a, int64_t count) { return count < 0 || count > 63 ? 0 : a >> count; }

/* Towards 0; what i64 cannot hold is its minimum. What is less than 1 is said to be 0: where gcc 12 may forget
   traps it makes trunc(x) of (double)(int64_t)x, which is -0.0 for -0.5. */
static inline int64_t i64_of_f64(double x) {
  return x > -1 && x < 1 ? 0 : x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static inline uint64_t u64_of_f64(double x) {
  return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)x : (uint64_t)i64_of_f64(x);
}

static inline float mod_f32(float a, float b) {
  const float rest = fmodf(a, b);
  if (b == 0) return NAN;
  if (rest == 0) return copysignf(0.0f, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* With the sign of b. */
static inline double mod_f64(double a, double b) {
  const double rest = fmod(a, b);
  if (b == 0) return NAN;
  if (rest == 0) return copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Through the remainder: floor(a / b) is one too many where a / b rounds up to an integer. */
static inline double floor_div_f64(double a, double b) {
  if (b == 0) return a / b;
  const double rest = fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return copysign(0.0, a / b);
  const double down = floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}
