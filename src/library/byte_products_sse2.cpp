// For what x86-64 began with: a lane adds two products of numbers of 16 bits.
#ifdef __x86_64__
#include <immintrin.h>

#include "library/byte_product_blocks.h"

namespace inlay::library {
namespace {

struct Lanes {
  using Sums = __m128i;
  static constexpr int64_t kLanes = 4, kVectors = 2, kRows = 6;

  static Sums zero() { return _mm_setzero_si128(); }
  static Sums load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static void store(void* to, Sums sums) { _mm_storeu_si128(static_cast<__m128i*>(to), sums); }
  static Sums everywhere(uint32_t group) { return _mm_set1_epi32(static_cast<int>(group)); }
  static Sums sum(Sums a, Sums b) { return _mm_add_epi32(a, b); }
  static void add_dots(Sums& sums, Sums a, Sums b) { sums = sum(sums, _mm_madd_epi16(a, b)); }
};

}  // namespace

const ByteProductForm kByteProductsSse2 = {"sse2", dots_by_blocks<Halves, Lanes>, sums_by_blocks<Halves, Lanes>};

}  // namespace inlay::library
#endif
