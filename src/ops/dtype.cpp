#include "ops/dtype.h"

#include <array>
#include <utility>

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
DType wider(DType a, DType b) { return size_bytes(a) < size_bytes(b) ? b : a; }

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
bool is_half(DType dtype) { return within(dtype, DType::f16, DType::bf16); }

DType real_of(DType dtype) {
  if (!is_complex(dtype)) return dtype;
  return dtype == DType::c64 ? DType::f32 : DType::f64;
}

DType complex_of(DType dtype) {
  if (dtype == DType::f32) return DType::c64;
  return dtype == DType::f64 ? DType::c128 : dtype;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // bool, signed, unsigned, floats, complex: each gives way to the next
  if (a == DType::boolean || b == DType::opaque) return b;
  if (is_complex(b)) {
    const DType part = promote(real_of(a), real_of(b));
    return part == DType::f64 ? DType::c128 : DType::c64;
  }
  if (is_float(a)) return a == DType::f16 && b == DType::bf16 ? DType::f32 : b;
  if (is_float(b)) return size_bytes(a) == 1 ? b : size_bytes(a) == 2 ? wider(b, DType::f32) : DType::f64;
  if (is_signed_integer(a) && is_unsigned_integer(b)) {
    if (size_bytes(b) < size_bytes(a)) return a;
    return size_bytes(b) == 1   ? DType::i16
           : size_bytes(b) == 2 ? DType::i32
           : size_bytes(b) == 4 ? DType::i64
                                : DType::f64;
  }
  return b;
}

}  // namespace inlay
