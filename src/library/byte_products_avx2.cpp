// Compiled for AVX2: a lane adds two products of numbers of 16 bits.
#ifdef __x86_64__
#include "library/byte_product_blocks.h"
#include "library/byte_product_lanes_256.h"

namespace inlay::library {
namespace {

struct Lanes : Lanes256 {
  static void add_dots(Sums& sums, Sums a, Sums b) { sums = sum(sums, _mm256_madd_epi16(a, b)); }
};

}  // namespace

const ByteProductForm kByteProductsAvx2 = {"avx2", dots_by_blocks<Halves, Lanes>, sums_by_blocks<Halves, Lanes>};

}  // namespace inlay::library
#endif
