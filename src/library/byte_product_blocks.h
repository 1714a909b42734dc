#pragma once
// Products of bytes in blocks: each lane of a vector has a sum, so that nothing is added across lanes. What the lanes
// multiply is laid so that a lane's next numbers stand side by side, as many as there are in 32 bits (a group); the
// same numbers of a row of the other operand go to all lanes. As in byte_product_rows.h, all is local to its reader.
#include <cstring>

#include <emmintrin.h>

#include "library/byte_product_rows.h"

namespace inlay::library {
namespace {

inline __m128i load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
inline void store(void* to, __m128i numbers) { _mm_storeu_si128(static_cast<__m128i*>(to), numbers); }

template <class T>
uint32_t group_of(const T* numbers, int64_t count) {
  uint32_t out = 0;
  std::memcpy(&out, numbers, static_cast<std::size_t>(count) * sizeof(T));
  return out;
}

/// Row dots: lanes are rows of b, and its numbers those of their groups as they stand.
struct DotsOfRows {
  static auto rows(const ByteProduct& x, int64_t i) { return rows_of_a(x, i); }

  template <class Lanes, class Sums>
  [[gnu::always_inline]] static void add(Sums& sums, Sums of_row, Sums of_lanes) {
    Lanes::add_dots(sums, of_row, of_lanes);
  }

  /// Lays the rows of `width` lanes from j on, four at a time. Lanes behind the last row have sums that nobody reads.
  template <class Form, int64_t width>
  static void lay(const ByteProduct& x, int64_t j, int64_t begin, int64_t k, uint32_t* groups) {
    constexpr int64_t kGroup = 4 / Form::kBytes;
    Form form;
    for (int64_t lane = 0; lane < width && j + lane < x.n; lane += 4) {
      const int64_t count = least(x.n - j - lane, 4);
      const auto rows = form.of(rows_of_b(x, j + lane), count, k, begin);
      const auto row = [&](int64_t i) { return rows.data + least(i, count - 1) * rows.row; };
      uint32_t* to = groups + lane;
      int64_t p = 0;
      for (; p + 4 * kGroup <= k; p += 4 * kGroup, to += 4 * width) {
        const __m128i a = load(row(0) + p), b = load(row(1) + p), c = load(row(2) + p), d = load(row(3) + p);
        const __m128i first = _mm_unpacklo_epi32(a, b), second = _mm_unpacklo_epi32(c, d);
        const __m128i third = _mm_unpackhi_epi32(a, b), fourth = _mm_unpackhi_epi32(c, d);
        store(to, _mm_unpacklo_epi64(first, second));
        store(to + width, _mm_unpackhi_epi64(first, second));
        store(to + 2 * width, _mm_unpacklo_epi64(third, fourth));
        store(to + 3 * width, _mm_unpackhi_epi64(third, fourth));
      }
      for (; p < k; p += kGroup, to += width) {
        for (int64_t i = 0; i < 4; ++i) to[i] = group_of(row(i) + p, least(kGroup, k - p));
      }
    }
  }
};

/// Weighted rows: lanes are columns of a, and a group has the numbers of rows that follow each other.
struct SumsOfRows {
  static auto rows(const ByteProduct& x, int64_t i) { return rows_of_b(x, i); }

  template <class Lanes, class Sums>
  [[gnu::always_inline]] static void add(Sums& sums, Sums of_row, Sums of_lanes) {
    Lanes::add_dots(sums, of_lanes, of_row);
  }

  /// Lays the columns of `width` lanes from j on. Rows behind the last are 0; lanes behind the last column have sums
  /// that nobody reads.
  template <class Form, int64_t width>
  static void lay(const ByteProduct& x, int64_t j, int64_t begin, int64_t k, uint32_t* groups) {
    constexpr int64_t kGroup = 4 / Form::kBytes, kOnce = least(width, 16);
    for (int64_t p = 0; p < k; p += kGroup, groups += width) {
      for (int64_t lane = 0; lane < width && j + lane < x.n; lane += kOnce) {
        __m128i rows[4], out[4];
        for (int64_t i = 0; i < 4; ++i) {
          const bool is_row = i < kGroup && p + i < k;
          rows[i] = is_row ? bytes_of(x.a + (begin + p + i) * x.a_row + j + lane, x.n - j - lane) : _mm_setzero_si128();
        }
        put_together<Form>(rows, out);
        for (int64_t i = 0; i < kOnce / 4; ++i) store(groups + lane + 4 * i, out[i]);
      }
    }
  }

  [[gnu::always_inline]] static __m128i bytes_of(const uint8_t* from, int64_t count) {
    if (count >= 16) return load(from);
    uint8_t bytes[16] = {};
    std::memcpy(bytes, from, static_cast<std::size_t>(count));
    return load(bytes);
  }

  /// The groups of 16 columns: of four rows of bytes, or of two, each of which becomes 16 bits.
  template <class Form>
  [[gnu::always_inline]] static void put_together(const __m128i (&rows)[4], __m128i (&out)[4]) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i low = _mm_unpacklo_epi8(rows[0], rows[1]), high = _mm_unpackhi_epi8(rows[0], rows[1]);
    if constexpr (Form::kBytes == 2) {
      out[0] = _mm_unpacklo_epi8(low, zero), out[1] = _mm_unpackhi_epi8(low, zero);
      out[2] = _mm_unpacklo_epi8(high, zero), out[3] = _mm_unpackhi_epi8(high, zero);
    } else {
      const __m128i second_low = _mm_unpacklo_epi8(rows[2], rows[3]), second_high = _mm_unpackhi_epi8(rows[2], rows[3]);
      out[0] = _mm_unpacklo_epi16(low, second_low), out[1] = _mm_unpackhi_epi16(low, second_low);
      out[2] = _mm_unpacklo_epi16(high, second_high), out[3] = _mm_unpackhi_epi16(high, second_high);
    }
  }
};

/// Lanes: how many sums a vector has (kLanes), how many vectors and rows are a tile (kVectors, kRows), and what is done
/// with them. Form: the numbers as they are multiplied. Task: which of the operands the lanes multiply.
template <class Task, class Form, class Lanes>
class Blocks {
  using Sums = typename Lanes::Sums;
  static constexpr int64_t kLanes = Lanes::kLanes, kWidth = Lanes::kVectors * kLanes, kGroup = 4 / Form::kBytes;
  static constexpr int64_t kChunk = 512;

 public:
  void run(const ByteProduct& x) {
    for (int64_t j = 0; j < x.n; j += kWidth) {
      for (int64_t begin = 0; begin < x.k || begin == 0; begin += kChunk) {
        const int64_t k = least(kChunk, x.k - begin);
        Task::template lay<Form, kWidth>(x, j, begin, k, groups_);
        switch ((least(kWidth, x.n - j) + kLanes - 1) / kLanes) {
          case 1: run_columns<1>(x, j, begin, k); break;
          case 2: run_columns<2>(x, j, begin, k); break;
          case 3: run_columns<least(3, Lanes::kVectors)>(x, j, begin, k); break;
          default: run_columns<Lanes::kVectors>(x, j, begin, k);
        }
      }
    }
  }

 private:
  template <int V>
  void run_columns(const ByteProduct& x, int64_t j, int64_t begin, int64_t k) {
    int64_t i = 0;
    for (; i + Lanes::kRows <= x.m; i += Lanes::kRows) tile<Lanes::kRows, V>(x, i, j, begin, k);
    for (; i + 2 <= x.m; i += 2) tile<2, V>(x, i, j, begin, k);
    for (; i < x.m; ++i) tile<1, V>(x, i, j, begin, k);
  }

  /// R rows beside V vectors.
  template <int R, int V>
  [[gnu::always_inline]] void tile(const ByteProduct& x, int64_t i, int64_t j, int64_t begin, int64_t k) {
    Form form;
    const auto rows = form.of(Task::rows(x, i), R, k, begin);
    Sums sums[R][V];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sums[r][v] = Lanes::zero();
    }
    int64_t p = 0;
    for (; p + kGroup <= k; p += kGroup) add<R, V>(rows, p, kGroup, sums);
    if (p < k) add<R, V>(rows, p, k - p, sums);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        const int64_t at = j + v * kLanes;
        put(sums[r][v], begin == 0, x.c + (i + r) * x.c_row + at, least(x.n - at, kLanes));
      }
    }
  }

  /// Adds the products of `count` numbers of each row.
  template <int R, int V, class T>
  [[gnu::always_inline]] void add(View<const T> rows, int64_t p, int64_t count, Sums (&sums)[R][V]) {
    Sums lanes[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) lanes[v] = Lanes::load(groups_ + p / kGroup * kWidth + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Sums group = Lanes::everywhere(group_of(rows.data + r * rows.row + p, count));
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) Task::template add<Lanes>(sums[r][v], group, lanes[v]);
    }
  }

  [[gnu::always_inline]] static void put(Sums sums, bool is_first, int32_t* c, int64_t count) {
    if (count >= kLanes) return Lanes::store(c, is_first ? sums : Lanes::sum(sums, Lanes::load(c)));
    uint32_t numbers[kLanes];
    Lanes::store(numbers, sums);
    for (int64_t l = 0; l < count; ++l) {
      c[l] = static_cast<int32_t>((is_first ? 0 : static_cast<uint32_t>(c[l])) + numbers[l]);
    }
  }

  alignas(64) uint32_t groups_[kChunk / kGroup * kWidth];
};

/// By rows where so few share what is laid that this costs more than adding across lanes.
template <class Form, class Lanes>
void dots_by_blocks(const ByteProduct& x) {
  if (x.m * 64 < x.k) return dot_rows<Form>(x);
  Blocks<DotsOfRows, Form, Lanes> blocks;
  blocks.run(x);
}

template <class Form, class Lanes>
void sums_by_blocks(const ByteProduct& x) {
  Blocks<SumsOfRows, Form, Lanes> blocks;
  blocks.run(x);
}

}  // namespace
}  // namespace inlay::library
