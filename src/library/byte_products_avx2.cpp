// Compiled for AVX2: a lane adds two products of numbers of 16 bits.
#ifdef __x86_64__
#include <immintrin.h>

#include "library/byte_product_blocks.h"

namespace inlay::library {
namespace {

struct Lanes {
  using Sums = __m256i;
  static constexpr int64_t kLanes = 8, kVectors = 2, kRows = 6;

  static Sums zero() { return _mm256_setzero_si256(); }
  static Sums load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static void store(void* to, Sums sums) { _mm256_storeu_si256(static_cast<__m256i*>(to), sums); }
  static Sums everywhere(uint32_t group) { return _mm256_set1_epi32(static_cast<int>(group)); }
  static Sums sum(Sums a, Sums b) { return _mm256_add_epi32(a, b); }
  static void add_dots(Sums& sums, Sums a, Sums b) { sums = sum(sums, _mm256_madd_epi16(a, b)); }
};

}  // namespace

const ByteProductForm kByteProductsAvx2 = {"avx2", dots_by_blocks<Halves, Lanes>, sums_by_blocks<Halves, Lanes>};

}  // namespace inlay::library
#endif
