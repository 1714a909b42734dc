#pragma once
// Between rows and columns.
#include <algorithm>
#include <cstdint>

namespace inlay::library {

/// to[c][r] = from[r][c]: a row-major matrix by columns, or the way back. In blocks, for the cache.
template <class T>
void transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kBlock = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      for (int64_t r = r0; r < std::min(rows, r0 + kBlock); ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kBlock); ++c) to[c * rows + r] = from[r * columns + c];
      }
    }
  }
}

template <class T>
void transpose_in_place(T* x, int64_t n) {
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < r; ++c) std::swap(x[r * n + c], x[c * n + r]);
  }
}

}  // namespace inlay::library
