// Compiled for AVX-VNNI: a lane adds four products of bytes.
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
  /// The intrinsic has gcc 12 take sums through memory.
  static void add_dots(Sums& sums, Sums a, Sums b) { asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b)); }
};

}  // namespace

const ByteProductForm kByteProductsAvxVnni = {"avxvnni", dots_by_blocks<Bytes, Lanes>, sums_by_blocks<Bytes, Lanes>};

}  // namespace inlay::library
#endif
