// Compiled for AVX-VNNI: a lane adds four products of bytes.
#ifdef __x86_64__
#include "library/byte_product_blocks.h"
#include "library/byte_product_lanes_256.h"

namespace inlay::library {
namespace {

struct Lanes : Lanes256 {
  /// The intrinsic has gcc 12 take sums through memory.
  static void add_dots(Sums& sums, Sums a, Sums b) { asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b)); }
};

}  // namespace

const ByteProductForm kByteProductsAvxVnni = {"avxvnni", dots_by_blocks<Bytes, Lanes>, sums_by_blocks<Bytes, Lanes>};

}  // namespace inlay::library
#endif
