#pragma once
// What is computed of rows by the book: sorting and searching, for every ordered dtype, and dot products of bytes.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/element_types.h"
#include "support/error.h"

namespace inlay::textbook {

/// visitor(T()) with the C++ type of an ordered dtype; a bool is read as its byte.
template <class Visitor>
void visit_ordered(DType dtype, Visitor visitor) {
  visit_element_type(dtype, [&](auto zero) {
    if constexpr (std::is_same_v<decltype(zero), bool>) {
      visitor(uint8_t());
    } else if constexpr (std::is_arithmetic_v<decltype(zero)> || kIsComplex<decltype(zero)>) {
      visitor(zero);
    } else {
      INLAY_CHECK(false, dtype_name(dtype), " has no order here");
    }
  });
}

/// NaN comes after everything.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (kIsComplex<T>) {
    // First those of two numbers, then those with NaN in the imaginary part, in the real part, in both.
    if (std::isnan(a.real()) != std::isnan(b.real())) return std::isnan(b.real());
    if (std::isnan(a.imag()) != std::isnan(b.imag())) return std::isnan(b.imag());
    if (a.real() < b.real() || b.real() < a.real()) return a.real() < b.real();
    return a.imag() < b.imag();
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    }
    return a < b;
  }
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

/// c[i, j] = the sum of a[i, k] b[j, k], modulo 2^32.
inline void row_dots(const uint8_t* a, const int8_t* b, int64_t m, int64_t k, int64_t n, int32_t* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += int64_t{a[i * k + p]} * b[j * k + p];
      c[i * n + j] = static_cast<int32_t>(sum);
    }
  }
}

inline void weighted_rows(const uint8_t* a, const int8_t* b, int64_t m, int64_t k, int64_t n, int32_t* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += int64_t{b[i * k + p]} * a[p * n + j];
      c[i * n + j] = static_cast<int32_t>(sum);
    }
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
