#include "ops/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/error.h"

namespace inlay {
namespace {

template <class Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor visitor) {
  switch (dtype) {
    case DType::boolean: return visitor(bool());
    case DType::i8: return visitor(int8_t());
    case DType::i16: return visitor(int16_t());
    case DType::i32: return visitor(int32_t());
    case DType::i64: return visitor(int64_t());
    case DType::u8: return visitor(uint8_t());
    case DType::u16: return visitor(uint16_t());
    case DType::u32: return visitor(uint32_t());
    case DType::u64: return visitor(uint64_t());
    case DType::f32: return visitor(float());
    case DType::f64: return visitor(double());
    case DType::f16:
    case DType::bf16:
    case DType::c64:
    case DType::c128:
    case DType::opaque: break;
  }
  throw Error(ErrorCode::unsupported, {}, str("a literal cannot have dtype ", dtype_name(dtype)));
}

}  // namespace

Literal Literal::of(DType dtype, double value) {
  return is_float(dtype) ? of_float(dtype, value) : of_integer(dtype, static_cast<int64_t>(value));
}

std::string Literal::to_text() const {
  if (dtype == DType::boolean) return i ? "true" : "false";
  if (dtype == DType::u64) return std::to_string(static_cast<uint64_t>(i));
  if (!is_float(dtype)) return std::to_string(i);
  if (std::isnan(f)) return "nan";
  if (std::isinf(f)) return f < 0 ? "-inf" : "inf";
  char text[40];
  const auto end = dtype == DType::f32 ? std::to_chars(text, text + sizeof text, static_cast<float>(f))
                                       : std::to_chars(text, text + sizeof text, f);
  std::string out(text, end.ptr);
  // A float reads as one: "1" would read as an integer.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

void Literal::store(void* bytes) const {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T value = std::is_floating_point_v<T> ? static_cast<T>(f) : static_cast<T>(i);
    std::memcpy(bytes, &value, sizeof value);
  });
}

Literal Literal::load(DType dtype, const void* bytes) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return std::is_floating_point_v<T> ? of_float(dtype, static_cast<double>(value))
                                       : of_integer(dtype, static_cast<int64_t>(value));
  });
}

bool Literal::same_bits(const Literal& other) const {
  return dtype == other.dtype && i == other.i && std::bit_cast<int64_t>(f) == std::bit_cast<int64_t>(other.f);
}

Literal identity_of(Combine combine, DType dtype) {
  return visit_dtype(dtype, [&](auto zero) -> Literal {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    const auto real = [&](double value, T integer) {
      return std::is_floating_point_v<T> ? Literal::of_float(dtype, value)
                                         : Literal::of_integer(dtype, static_cast<int64_t>(integer));
    };
    switch (combine) {
      case Combine::set:
      case Combine::add:
      case Combine::or_: return real(0, T(0));
      case Combine::mul: return real(1, T(1));
      case Combine::max: return real(-Limits::infinity(), Limits::lowest());
      case Combine::min: return real(Limits::infinity(), Limits::max());
      case Combine::and_:
        // All ones: true for bool, every bit for an integer.
        return real(0, std::is_same_v<T, bool> ? T(1) : static_cast<T>(~uint64_t(0)));
    }
    return real(0, T(0));
  });
}

}  // namespace inlay
