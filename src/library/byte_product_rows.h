#pragma once
// Products of bytes as plain loops: compiled for an instruction set that has one, they are its instruction for dot
// products of bytes (VNNI). Of others the best is the one for numbers of 16 bits (pmaddwd), so bytes are widened
// before.
//
// This file is compiled for several instruction sets, so all of it is local to its reader, and no function of the
// standard library is called: the linker would take one reader's copy for all.
#include <cstdint>

#include "library/byte_products.h"
#include "library/layout.h"

namespace inlay::library {
namespace {

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// Bytes as they are.
struct Bytes {
  static constexpr int64_t kBytes = 1, kChunk = INT64_MAX;

  template <class T>
  View<const T> of(View<const T> rows, int64_t, int64_t, int64_t begin) {
    return {rows.data + begin, rows.row, 1};
  }
};

/// Some rows, widened to 16 bits, a chunk at a time.
struct Halves {
  static constexpr int64_t kBytes = 2, kChunk = 512, kRows = 6;

  int16_t numbers[kRows][kChunk];

  template <class T>
  [[gnu::always_inline]] View<const int16_t> of(View<const T> rows, int64_t num_rows, int64_t k, int64_t begin) {
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t p = 0; p < k; ++p) numbers[i][p] = rows.data[i * rows.row + begin + p];
    }
    return {numbers[0], kChunk, 1};
  }
};

inline View<const uint8_t> rows_of_a(const ByteProduct& x, int64_t i) { return {x.a + i * x.a_row, x.a_row, 1}; }
inline View<const int8_t> rows_of_b(const ByteProduct& x, int64_t j) { return {x.b + j * x.b_row, x.b_row, 1}; }

/// Adds to (or, first, sets) R x C dot products, whose sums stay in registers.
template <int R, int C, class A, class B>
[[gnu::always_inline]] inline void add_dots(View<const A> a, View<const B> b, int64_t k, bool is_first,
                                            View<int32_t> c) {
  uint32_t sums[R][C] = {};
  for (int64_t p = 0; p < k; ++p) {
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) {
        sums[i][j] += static_cast<uint32_t>(int32_t{a.data[i * a.row + p]} * int32_t{b.data[j * b.row + p]});
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) {
      const uint32_t before = is_first ? 0 : static_cast<uint32_t>(c.data[i * c.row + j]);
      c.data[i * c.row + j] = static_cast<int32_t>(before + sums[i][j]);
    }
  }
}

/// All rows of a beside C of b.
template <class Form, int C>
[[gnu::always_inline]] inline void dot_columns(const ByteProduct& x, int64_t j) {
  Form left, right;
  for (int64_t begin = 0; begin < x.k || begin == 0; begin += least(Form::kChunk, x.k > 0 ? x.k : 1)) {
    const int64_t k = least(Form::kChunk, x.k - begin);
    const auto b = right.of(rows_of_b(x, j), C, k, begin);
    const auto run = [&]<int R>(int64_t i) __attribute__((always_inline)) {
      const auto a = left.of(rows_of_a(x, i), R, k, begin);
      add_dots<R, C>(a, b, k, begin == 0, View<int32_t>{x.c + i * x.c_row + j, x.c_row, 1});
    };
    int64_t i = 0;
    for (; i + 4 <= x.m; i += 4) run.template operator()<4>(i);
    for (; i < x.m; ++i) run.template operator()<1>(i);
  }
}

template <class Form>
void dot_rows(const ByteProduct& x) {
  int64_t j = 0;
  for (; j + 4 <= x.n; j += 4) dot_columns<Form, 4>(x, j);
  for (; j < x.n; ++j) dot_columns<Form, 1>(x, j);
}

/// A few hundred sums of a row at a time, to which rows of a are added one after the other.
inline void add_rows(const ByteProduct& x) {
  constexpr int64_t kSums = 512;
  for (int64_t j = 0; j < x.n; j += kSums) {
    const int64_t n = least(kSums, x.n - j);
    for (int64_t i = 0; i < x.m; ++i) {
      uint32_t sums[kSums] = {};
      for (int64_t p = 0; p < x.k; ++p) {
        const int32_t weight = x.b[i * x.b_row + p];
        const uint8_t* row = x.a + p * x.a_row + j;
        for (int64_t l = 0; l < n; ++l) sums[l] += static_cast<uint32_t>(weight * int32_t{row[l]});
      }
      for (int64_t l = 0; l < n; ++l) x.c[i * x.c_row + j + l] = static_cast<int32_t>(sums[l]);
    }
  }
}

}  // namespace
}  // namespace inlay::library
