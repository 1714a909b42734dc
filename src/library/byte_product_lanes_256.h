#pragma once
// Vectors of 256 bits, for the files that are compiled for them. As in byte_product_rows.h, all is local to its reader.
#include <cstdint>

#include <immintrin.h>

namespace inlay::library {
namespace {

/// All but how products are added.
struct Lanes256 {
  using Sums = __m256i;
  static constexpr int64_t kLanes = 8, kVectors = 2, kRows = 6;

  static Sums zero() { return _mm256_setzero_si256(); }
  static Sums load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static void store(void* to, Sums sums) { _mm256_storeu_si256(static_cast<__m256i*>(to), sums); }
  static Sums everywhere(uint32_t group) { return _mm256_set1_epi32(static_cast<int>(group)); }
  static Sums sum(Sums a, Sums b) { return _mm256_add_epi32(a, b); }
};

}  // namespace
}  // namespace inlay::library
