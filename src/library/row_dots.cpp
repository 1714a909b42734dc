// Written as plain loops: compiled for an instruction set that has one, they are its instruction for dot products of
// bytes (VNNI). Of others the best is the one for numbers of 16 bits (pmaddwd), so bytes are widened before.
#include "library/row_dots.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "library/call.h"

namespace inlay::library {
namespace {

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

/// Bytes as they are.
struct Bytes {
  static constexpr int64_t kChunk = std::numeric_limits<int64_t>::max();

  template <class T>
  View<const T> of(View<const T> rows, int64_t, int64_t, int64_t begin) {
    return {rows.data + begin, rows.row, 1};
  }
};

/// Four rows, widened to 16 bits, a chunk at a time.
struct Halves {
  static constexpr int64_t kChunk = 512;

  int16_t numbers[4][kChunk];

  template <class T>
  [[gnu::always_inline]] View<const int16_t> of(View<const T> rows, int64_t num_rows, int64_t k, int64_t begin) {
    for (int64_t i = 0; i < num_rows; ++i) {
      for (int64_t p = 0; p < k; ++p) numbers[i][p] = rows.data[i * rows.row + begin + p];
    }
    return {numbers[0], kChunk, 1};
  }
};

/// All rows of the left beside C of the right.
template <class Form, int C>
[[gnu::always_inline]] inline void run_columns(const RowDots& dots, int64_t j) {
  Form left, right;
  for (int64_t begin = 0; begin < dots.k || begin == 0; begin += std::min(Form::kChunk, std::max<int64_t>(dots.k, 1))) {
    const int64_t k = std::min(Form::kChunk, dots.k - begin);
    const auto b = right.of(View<const int8_t>{dots.b + j * dots.b_row, dots.b_row, 1}, C, k, begin);
    const auto run = [&]<int R>(int64_t i) __attribute__((always_inline)) {
      const auto a = left.of(View<const uint8_t>{dots.a + i * dots.a_row, dots.a_row, 1}, R, k, begin);
      add_dots<R, C>(a, b, k, begin == 0, View<int32_t>{dots.c + i * dots.c_row + j, dots.c_row, 1});
    };
    int64_t i = 0;
    for (; i + 4 <= dots.m; i += 4) run.template operator()<4>(i);
    for (; i < dots.m; ++i) run.template operator()<1>(i);
  }
}

template <class Form>
[[gnu::always_inline]] inline void run_all(const RowDots& dots) {
  int64_t j = 0;
  for (; j + 4 <= dots.n; j += 4) run_columns<Form, 4>(dots, j);
  for (; j < dots.n; ++j) run_columns<Form, 1>(dots, j);
}

/// How far the rows of all matrices of the batch are from each other, where they are those of one tall matrix.
std::optional<int64_t> tall_row(const int64_t* strides, int64_t rows) {
  if (rows == 1) return strides[0];
  return strides[0] == rows * strides[1] ? std::optional(strides[1]) : std::nullopt;
}

void run_plain(const RowDots& dots) { run_all<Halves>(dots); }

#ifdef __x86_64__
[[gnu::target("avx2")]] void run_avx2(const RowDots& dots) { run_all<Halves>(dots); }
[[gnu::target("avx2,avxvnni")]] void run_avx_vnni(const RowDots& dots) { run_all<Bytes>(dots); }
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void run_avx512_vnni(const RowDots& dots) {
  run_all<Bytes>(dots);
}
#endif

}  // namespace

std::vector<RowDotsForm> row_dots_forms() {
  std::vector<RowDotsForm> out;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl")) {
    out.push_back({"avx512vnni", run_avx512_vnni});
  }
  if (__builtin_cpu_supports("avxvnni")) out.push_back({"avxvnni", run_avx_vnni});
  if (__builtin_cpu_supports("avx2")) out.push_back({"avx2", run_avx2});
#endif
  out.push_back({"plain", run_plain});
  return out;
}

/// By parts of so many rows and columns that the left ones stay in the cache, and that a call is soon asked whether to
/// end.
int32_t row_dots(const Call& call) {
  constexpr int64_t kCache = int64_t{1} << 17, kColumns = 1024;
  static const RowDotsForm form = row_dots_forms().front();
  const int64_t *left = call.operand_strides, *right = left + 3, *to = call.result_strides;
  const int64_t k = call.size(1), n = call.size(2);
  const std::optional<int64_t> left_row = tall_row(left, call.size(0)), to_row = tall_row(to, call.size(0));
  const bool is_tall = call.is_shared(1) && left_row && to_row;
  RowDots part{.a_row = is_tall ? *left_row : left[1], .b_row = right[1], .c_row = is_tall ? *to_row : to[1], .k = k};
  const int64_t m = is_tall ? call.batch() * call.size(0) : call.size(0);
  const int64_t rows = std::max<int64_t>(kCache / std::max<int64_t>(k, 1), 16);
  for (int64_t point = 0; point < (is_tall ? 1 : call.batch()); ++point) {
    const uint8_t* a = call.operand<uint8_t>(0, point).data;
    const int8_t* b = call.operand<int8_t>(1, point).data;
    int32_t* c = call.result<int32_t>(0, point).data;
    for (int64_t i = 0; i < m; i += rows) {
      part.a = a + i * part.a_row;
      part.m = std::min(rows, m - i);
      for (int64_t j = 0; j < n; j += kColumns) {
        if (call.is_to_end()) return INLAY_INTERRUPTED;
        part.b = b + j * part.b_row;
        part.c = c + i * part.c_row + j;
        part.n = std::min(kColumns, n - j);
        form.run(part);
      }
    }
  }
  return 0;
}

}  // namespace inlay::library
