#pragma once
// Dot products of rows of bytes: the loop for each instruction set, so that a test can run those that this CPU has.
#include <cstdint>
#include <string_view>
#include <vector>

namespace inlay::library {

/// c[i, j] = the dot product of a[i] and b[j], of m and n rows of k numbers, modulo 2^32.
struct RowDots {
  const uint8_t* a = nullptr;
  const int8_t* b = nullptr;
  int32_t* c = nullptr;
  int64_t a_row = 0, b_row = 0, c_row = 0;  // elements from row to row
  int64_t m = 0, k = 0, n = 0;
};

struct RowDotsForm {
  std::string_view name;
  void (*run)(const RowDots& dots) = nullptr;
};

/// Returns the forms that this CPU can run, the fastest first.
std::vector<RowDotsForm> row_dots_forms();

}  // namespace inlay::library
