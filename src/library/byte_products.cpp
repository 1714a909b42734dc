// The two products of bytes as library functions: parts of a call, and the form that this CPU runs fastest.
#include "library/byte_products.h"

#include <algorithm>
#include <optional>

#include "library/byte_product_rows.h"
#include "library/call.h"

namespace inlay::library {
namespace {

/// How far the rows of all matrices of the batch are from each other, where they are those of one tall matrix.
std::optional<int64_t> tall_row(const int64_t* strides, int64_t rows) {
  if (rows == 1) return strides[0];
  return strides[0] == rows * strides[1] ? std::optional(strides[1]) : std::nullopt;
}

const ByteProductForm& fastest() {
  static const ByteProductForm form = byte_product_forms().front();
  return form;
}

/// A call is asked between parts of so many columns whether it is to end.
constexpr int64_t kColumns = 1024;

}  // namespace

std::vector<ByteProductForm> byte_product_forms() {
  std::vector<ByteProductForm> out;
#ifdef __x86_64__
  const bool has_avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (has_avx512 && __builtin_cpu_supports("avx512vnni")) out.push_back(kByteProductsAvx512Vnni);
  if (__builtin_cpu_supports("avxvnni")) out.push_back(kByteProductsAvxVnni);
  if (__builtin_cpu_supports("avx2")) out.push_back(kByteProductsAvx2);
  out.push_back(kByteProductsSse2);
#endif
  out.push_back({"plain", dot_rows<Halves>, add_rows});
  return out;
}

/// By parts of so many rows that these stay in the cache.
int32_t row_dots(const Call& call) {
  constexpr int64_t kCache = int64_t{1} << 17;
  const int64_t *left = call.operand_strides, *right = left + 3, *to = call.result_strides;
  const int64_t k = call.size(1), n = call.size(2);
  const std::optional<int64_t> left_row = tall_row(left, call.size(0)), to_row = tall_row(to, call.size(0));
  const bool is_tall = call.is_shared(1) && left_row && to_row;
  ByteProduct part{
      .a_row = is_tall ? *left_row : left[1], .b_row = right[1], .c_row = is_tall ? *to_row : to[1], .k = k};
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
        fastest().row_dots(part);
      }
    }
  }
  return 0;
}

int32_t weighted_rows(const Call& call) {
  const int64_t *left = call.operand_strides, *right = left + 3, *to = call.result_strides;
  const int64_t n = call.size(1);
  ByteProduct part{.a_row = left[1], .b_row = right[1], .c_row = to[1], .m = call.size(2), .k = call.size(0)};
  for (int64_t point = 0; point < call.batch(); ++point) {
    part.b = call.operand<int8_t>(1, point).data;
    for (int64_t j = 0; j < n; j += kColumns) {
      if (call.is_to_end()) return INLAY_INTERRUPTED;
      part.a = call.operand<uint8_t>(0, point).data + j;
      part.c = call.result<int32_t>(0, point).data + j;
      part.n = std::min(kColumns, n - j);
      fastest().weighted_rows(part);
    }
  }
  return 0;
}

}  // namespace inlay::library
