#pragma once
// Products of bytes, exact modulo 2^32: the loop for each instruction set, so that a test can run those that this CPU
// has.
#include <cstdint>
#include <string_view>
#include <vector>

namespace inlay::library {

/// Rows lie a_row, b_row and c_row elements from each other.
struct ByteProduct {
  const uint8_t* a = nullptr;
  const int8_t* b = nullptr;
  int32_t* c = nullptr;
  int64_t a_row = 0, b_row = 0, c_row = 0;
  int64_t m = 0, k = 0, n = 0;
};

struct ByteProductForm {
  std::string_view name;
  /// c[i, j] = the sum over p of a[i, p] b[j, p]: a has m rows and b has n, of k numbers each.
  void (*row_dots)(const ByteProduct& product) = nullptr;
  /// c[i, j] = the sum over p of b[i, p] a[p, j]: b has m rows of k numbers, and a has k rows of n.
  void (*weighted_rows)(const ByteProduct& product) = nullptr;
};

#ifdef __x86_64__
extern const ByteProductForm kByteProductsSse2, kByteProductsAvx2, kByteProductsAvxVnni, kByteProductsAvx512Vnni;
#endif

/// Returns the forms that this CPU can run, the fastest first.
std::vector<ByteProductForm> byte_product_forms();

}  // namespace inlay::library
