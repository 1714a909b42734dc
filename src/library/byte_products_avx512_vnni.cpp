// Compiled for AVX-512 VNNI: a lane adds four products of bytes.
#ifdef __x86_64__
#include <immintrin.h>

#include "library/byte_product_blocks.h"

namespace inlay::library {
namespace {

struct Lanes {
  using Sums = __m512i;
  static constexpr int64_t kLanes = 16, kVectors = 4, kRows = 6;

  static Sums zero() { return _mm512_setzero_si512(); }
  static Sums load(const void* from) { return _mm512_loadu_si512(from); }
  static void store(void* to, Sums sums) { _mm512_storeu_si512(to, sums); }
  static Sums everywhere(uint32_t group) { return _mm512_set1_epi32(static_cast<int>(group)); }
  static Sums sum(Sums a, Sums b) { return _mm512_add_epi32(a, b); }
  /// The intrinsic has gcc 12 take sums through memory.
  static void add_dots(Sums& sums, Sums a, Sums b) { asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b)); }
};

}  // namespace

const ByteProductForm kByteProductsAvx512Vnni = {"avx512vnni", dots_by_blocks<Bytes, Lanes>,
                                                 sums_by_blocks<Bytes, Lanes>};

}  // namespace inlay::library
#endif
