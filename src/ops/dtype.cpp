#include "ops/dtype.h"

#include <array>

namespace inlay {
namespace {

struct Row {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<Row, kNumDTypes> kRows = {{{"bool", 1},
                                                {"i8", 1},
                                                {"i16", 2},
                                                {"i32", 4},
                                                {"i64", 8},
                                                {"u8", 1},
                                                {"u16", 2},
                                                {"u32", 4},
                                                {"u64", 8},
                                                {"f16", 2},
                                                {"bf16", 2},
                                                {"f32", 4},
                                                {"f64", 8},
                                                {"c64", 8},
                                                {"c128", 16},
                                                {"opaque", 8}}};

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }
bool within(DType dtype, DType first, DType last) { return first <= dtype && dtype <= last; }

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int64_t size_bytes(DType dtype) { return row(dtype).bytes; }
bool is_signed_integer(DType dtype) { return within(dtype, DType::i8, DType::i64); }
bool is_unsigned_integer(DType dtype) { return within(dtype, DType::u8, DType::u64); }
bool is_integer(DType dtype) { return within(dtype, DType::i8, DType::u64); }
bool is_float(DType dtype) { return within(dtype, DType::f16, DType::f64); }
bool is_complex(DType dtype) { return within(dtype, DType::c64, DType::c128); }

}  // namespace inlay
