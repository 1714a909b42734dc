#include "backend/c/types.h"

#include <cmath>

#include "support/error.h"
#include "support/number_text.h"

namespace inlay::c_backend {
namespace {

std::string float_text(double value, bool is_f32) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  std::string text = is_f32 ? number_text(static_cast<float>(value)) : number_text(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_f32) text += "f";
  return std::signbit(value) ? str("(", text, ")") : text;
}

std::string integer_text(DType dtype, int64_t value) {
  if (dtype == DType::u64) return str("UINT64_C(", static_cast<uint64_t>(value), ")");
  if (dtype == DType::u32) return str(static_cast<uint32_t>(value), "u");
  if (value == INT64_MIN) return "INT64_MIN";
  if (value == INT32_MIN) return "INT32_MIN";
  const bool is_long = value > INT32_MAX || value < INT32_MIN;
  const std::string text = is_long ? str("INT64_C(", value < 0 ? -value : value, ")") : str(value < 0 ? -value : value);
  return value < 0 ? str("(-", text, ")") : text;
}

/// The bits of an f16 or bf16.
std::string bits_text(const Literal& literal) {
  uint16_t bits = 0;
  literal.store(&bits);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) text += kDigits[bits >> shift & 0xf];
  return text;
}

}  // namespace

std::string_view memory_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "uint8_t";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::u8: return "uint8_t";
    case DType::u16: return "uint16_t";
    case DType::u32: return "uint32_t";
    case DType::u64: return "uint64_t";
    case DType::f16:
    case DType::bf16: return "uint16_t";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::c64: return "c64";
    case DType::c128: return "c128";
    case DType::opaque: return "void";
  }
  return "";
}

std::string_view value_type(DType dtype) { return dtype == DType::boolean ? "bool" : memory_type(dtype); }

std::string suffix(DType dtype) { return std::string(dtype_name(dtype)); }

void use_type(Needs& needs, DType dtype) {
  if (is_complex(dtype)) needs.use(suffix(dtype));
}

std::string complex_text(DType dtype, std::string_view re, std::string_view im) {
  return str("((", suffix(dtype), "){", re, ", ", im, "})");
}

std::string constant(Needs& needs, const Literal& literal) {
  if (literal.dtype == DType::boolean) return literal.i != 0 ? "true" : "false";
  if (is_half(literal.dtype)) return bits_text(literal);
  if (is_complex(literal.dtype)) {
    use_type(needs, literal.dtype);
    const bool is_c64 = literal.dtype == DType::c64;
    return complex_text(literal.dtype, float_text(literal.f, is_c64), float_text(literal.imaginary, is_c64));
  }
  if (is_float(literal.dtype)) return float_text(literal.f, literal.dtype == DType::f32);
  return integer_text(literal.dtype, literal.i);
}

std::string memory_constant(Needs& needs, const Literal& literal) {
  if (literal.dtype == DType::boolean) return literal.i != 0 ? "1" : "0";
  if (!is_complex(literal.dtype)) return constant(needs, literal);
  const std::string text = constant(needs, literal);
  const std::size_t begin = text.find('{');
  return text.substr(begin, text.find('}') + 1 - begin);  // a compound literal is no constant for a table
}

}  // namespace inlay::c_backend
