#pragma once
// Sorting and searching of rows by the book, for every ordered dtype.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/dtype.h"
#include "support/error.h"

namespace inlay::textbook {

/// visitor(T()) with the C++ type of an ordered dtype.
template <class Visitor>
void visit_ordered(DType dtype, Visitor visitor) {
  switch (dtype) {
    case DType::boolean: return visitor(uint8_t());
    case DType::i8: return visitor(int8_t());
    case DType::i16: return visitor(int16_t());
    case DType::i32: return visitor(int32_t());
    case DType::i64: return visitor(int64_t());
    case DType::u8: return visitor(uint8_t());
    case DType::u16: return visitor(uint16_t());
    case DType::u32: return visitor(uint32_t());
    case DType::u64: return visitor(uint64_t());
    case DType::f32: return visitor(float());
    case DType::f64: return visitor(double());
    case DType::f16:
    case DType::bf16:
    case DType::c64:
    case DType::c128:
    case DType::opaque: break;
  }
  INLAY_CHECK(false, dtype_name(dtype), " has no order here");
}

/// NaN comes after everything.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

/// By insertion: where the element at `order[i]` stands is found by walking to the left.
template <class T>
void argsort(const T* x, int64_t n, int64_t* order) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = i;
    for (; to > 0 && comes_before(x[i], x[order[to - 1]]); --to) order[to] = order[to - 1];
    order[to] = i;
  }
}

template <class T>
void sort(const T* x, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t to = i;
    for (; to > 0 && comes_before(x[i], out[to - 1]); --to) out[to] = out[to - 1];
    out[to] = x[i];
  }
}

template <class T>
void search_sorted(const T* x, int64_t n, const T* wanted, int64_t num_wanted, bool right, int64_t* out) {
  for (int64_t i = 0; i < num_wanted; ++i) {
    int64_t at = 0;
    while (at < n && (right ? !comes_before(wanted[i], x[at]) : comes_before(x[at], wanted[i]))) ++at;
    out[i] = at;
  }
}

/// 0, or the number of the first pivot that is no row.
inline int64_t pivots_to_permutation(const int64_t* pivots, int64_t n, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = i;
  for (int64_t i = 0; i < n; ++i) {
    if (pivots[i] < 0 || pivots[i] >= n) return i + 1;
    const int64_t kept = out[i];
    out[i] = out[pivots[i]];
    out[pivots[i]] = kept;
  }
  return 0;
}

}  // namespace inlay::textbook
