#pragma once
// Two doubles: what any instruction set of two lanes does alike, in clang's vectors. The rest is in the header of each.
#include "lane_masks.h"
#include "vector_bits.h"
#if defined(__aarch64__)
#include "vector_neon.h"
#else
#include "vector_sse2.h"
#endif

/// Columns 0, 1, ... of the rows with these indices mod 16: of each lane a pair of numbers, turned around.
typedef double Two __attribute__((ext_vector_type(2), aligned(8)));
INLAY_INLINE const double* row_of(const double* rows, int stride, int64_t index) {
  return rows + (index & 15) * stride;
}
INLAY_INLINE void lookup_2(const double* rows, int stride, vi index, vd* columns) {
  const vd a = *(const Two*)row_of(rows, stride, index[0]), b = *(const Two*)row_of(rows, stride, index[1]);
  columns[0] = __builtin_shufflevector(a, b, 0, 2);
  columns[1] = __builtin_shufflevector(a, b, 1, 3);
}
/// Both columns of the rows with these indices mod 4.
INLAY_INLINE void lookup_quarter(const double* rows, vi index, vd* columns) { lookup_2(rows, 2, index & 3, columns); }
INLAY_INLINE void lookup_4(const double* rows, int stride, vi index, vd* columns) {
  lookup_2(rows, stride, index, columns);
  lookup_2(rows + 2, stride, index, columns + 2);
}
