#pragma once
// One lane of doubles, in C99.
#include <math.h>
#include <stdint.h>

typedef double vd;
typedef int64_t vi;

#define INLAY_INLINE static inline

INLAY_INLINE vd splat(double x) { return x; }

INLAY_INLINE vi splat_i(int64_t x) { return x; }

INLAY_INLINE vi bits_d(vd x) {
  const union {
    double number;
    int64_t bits;
  } same = {x};
  return same.bits;
}

INLAY_INLINE vd of_bits_d(vi bits) {
  const union {
    int64_t bits;
    double number;
  } same = {bits};
  return same.number;
}

INLAY_INLINE vi difference_i(vi a, vi b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

INLAY_INLINE vi shifted_right(vi x, int count) { return (int64_t)((uint64_t)x >> count); }

INLAY_INLINE vi shifted_left(vi x, int count) { return (int64_t)((uint64_t)x << count); }

INLAY_INLINE vd select_d(vi condition, vd yes, vd no) { return condition ? yes : no; }

/// The second operand when one is nan.
INLAY_INLINE vd min_d(vd a, vd b) { return a < b ? a : b; }

INLAY_INLINE vd max_d(vd a, vd b) { return a > b ? a : b; }

INLAY_INLINE vd sqrt_d(vd x) { return sqrt(x); }

typedef int Lanes;

INLAY_INLINE Lanes not_below_0(vd x) { return !(x < 0); }

INLAY_INLINE Lanes above_0(vd x) { return x > 0; }

INLAY_INLINE Lanes above(vd x, double limit) { return x > limit; }

INLAY_INLINE Lanes below(vd x, double limit) { return x < limit; }

INLAY_INLINE Lanes equals(vd x, double value) { return x == value; }

/// Columns 0, 1, ... of the row with this index mod 16.
INLAY_INLINE void lookup_2(const double* rows, int stride, vi index, vd* columns) {
  const double* row = rows + (index & 15) * stride;
  columns[0] = row[0];
  columns[1] = row[1];
}

/// Both columns of the row with this index mod 4.
INLAY_INLINE void lookup_quarter(const double* rows, vi index, vd* columns) { lookup_2(rows, 2, index & 3, columns); }

INLAY_INLINE void lookup_4(const double* rows, int stride, vi index, vd* columns) {
  lookup_2(rows, stride, index, columns);
  lookup_2(rows + 2, stride, index, columns + 2);
}
