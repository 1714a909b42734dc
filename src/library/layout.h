#pragma once
// Views of a matrix or a row in memory, and copies between layouts.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace inlay::library {

/// A matrix whose element (r, c) is at data[r * row + c * column], or a row whose element r is at data[r * row].
template <class T>
struct View {
  T* data = nullptr;
  int64_t row = 0, column = 0;

  T& operator()(int64_t r, int64_t c) const { return data[r * row + c * column]; }
  T& operator()(int64_t r) const { return data[r * row]; }
  View transposed() const { return {data, column, row}; }
  operator View<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, row, column};
  }
};

template <class T>
View<T> by_rows(T* data, int64_t columns) {
  return {data, columns, 1};
}
template <class T>
View<T> by_columns(T* data, int64_t rows) {
  return {data, 1, rows};
}

/// Copies from[r, c] to to[r, c], in blocks, for the cache, if one is row-major and the other column-major.
template <class T>
void copy(std::type_identity_t<View<const T>> from, int64_t rows, int64_t columns, View<T> to) {
  if (from.data == to.data && from.row == to.row && from.column == to.column) return;
  if (from.column == 1 && to.column == 1) {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(&from(r, 0), columns, &to(r, 0));
    return;
  }
  constexpr int64_t kBlock = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      for (int64_t r = r0; r < std::min(rows, r0 + kBlock); ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kBlock); ++c) to(r, c) = from(r, c);
      }
    }
  }
}

/// Copies a row.
template <class T>
void copy(std::type_identity_t<View<const T>> from, int64_t count, View<T> to) {
  copy<T>(from.transposed(), 1, count, to.transposed());
}

template <class T>
void fill(View<T> to, int64_t rows, int64_t columns, T value) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to(r, c) = value;
  }
}

/// Are all elements of the square matrix finite? LAPACK's loops may not end otherwise.
template <class T>
bool is_finite(const View<const T>& x, int64_t n) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      if (!std::isfinite(std::real(x(r, c))) || !std::isfinite(std::imag(x(r, c)))) return false;
    }
  }
  return true;
}

template <class T>
void transpose_in_place(View<T> x, int64_t n) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < r; ++c) std::swap(x(r, c), x(c, r));
  }
}

/// Returns the leading dimension for BLAS and LAPACK; the row stride of a single row may be anything.
template <class T>
int64_t leading(const View<T>& x, int64_t columns) {
  return std::max<int64_t>({x.row, columns, 1});
}

}  // namespace inlay::library
