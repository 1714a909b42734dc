#include "ops/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/element_types.h"
#include "support/float_environment.h"
#include "support/number_text.h"

namespace inlay {
namespace {

/// As short as reads back the same.
template <class T>
std::string float_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string out = number_text(value);
  // A float reads as one: "1" would read as an integer.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

/// A part of f16, bf16, f32 and c64 is an f32.
std::string part_text(DType dtype, double value) {
  return real_of(dtype) == DType::f64 ? float_text(value) : float_text(static_cast<float>(value));
}

template <class T>
T element_of(const Literal& literal) {
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    return T(static_cast<R>(literal.f), static_cast<R>(literal.imaginary));
  } else if constexpr (kIsFloating<T>) {
    return stored<T>(literal.f);
  } else {
    return static_cast<T>(literal.i);
  }
}

template <class T>
std::optional<int64_t> integer_of(std::string_view text) {
  T value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<int64_t>(value);  // u64 as its bits
}

}  // namespace

Literal Literal::of_float(DType dtype, double value, double imaginary) {
  const DefaultFloatEnvironment environment;
  const auto rounded = [&](double part) {
    switch (real_of(dtype)) {
      case DType::f16: return static_cast<double>(widen(half_of(part)));
      case DType::bf16: return static_cast<double>(widen(bfloat16_of(static_cast<float>(part))));
      case DType::f32: return static_cast<double>(static_cast<float>(part));
      default: return part;
    }
  };
  return {dtype, rounded(value), 0, rounded(imaginary)};
}

Literal Literal::of(DType dtype, double value) {
  return is_float(dtype) || is_complex(dtype) ? of_float(dtype, value) : of_integer(dtype, static_cast<int64_t>(value));
}

std::optional<Literal> Literal::of_text(DType dtype, std::string_view text) {
  if (is_float(dtype) || is_complex(dtype)) {
    const std::optional<double> number = number_of(text);
    if (!number) return std::nullopt;
    const Literal rounded = of_float(dtype, *number);
    // What is infinite is written without digits.
    const bool overflows = std::isinf(rounded.f) && text.find_first_of("0123456789") != std::string_view::npos;
    return overflows ? std::nullopt : std::optional(rounded);
  }
  if (dtype == DType::boolean) {
    if (text != "true" && text != "false") return std::nullopt;
    return of_integer(dtype, text == "true");
  }
  return visit_element_type(dtype, [&](auto zero) -> std::optional<Literal> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const std::optional<int64_t> number = integer_of<T>(text);
      return number ? std::optional(of_integer(dtype, *number)) : std::nullopt;
    }
    return std::nullopt;
  });
}

std::string Literal::to_text() const {
  if (dtype == DType::boolean) return i ? "true" : "false";
  if (dtype == DType::u64) return std::to_string(static_cast<uint64_t>(i));
  if (is_complex(dtype)) return str("(", part_text(dtype, f), ", ", part_text(dtype, imaginary), ")");
  return is_float(dtype) ? part_text(dtype, f) : std::to_string(i);
}

void Literal::store(void* bytes) const {
  visit_element_type(dtype, [&](auto zero) {
    const auto element = element_of<decltype(zero)>(*this);
    std::memcpy(bytes, &element, sizeof element);
  });
}

Literal Literal::load(DType dtype, const void* bytes) {
  return visit_element_type(dtype, [&](auto zero) -> Literal {
    using T = decltype(zero);
    T value;
    std::memcpy(&value, bytes, sizeof value);
    if constexpr (kIsComplex<T>) {
      return {dtype, static_cast<double>(value.real()), 0, static_cast<double>(value.imag())};
    } else if constexpr (kIsFloating<T>) {
      return {dtype, static_cast<double>(computed(value)), 0, 0};
    } else {
      return of_integer(dtype, static_cast<int64_t>(value));
    }
  });
}

bool Literal::same_bits(const Literal& other) const {
  const auto same = [](double a, double b) { return std::bit_cast<int64_t>(a) == std::bit_cast<int64_t>(b); };
  return dtype == other.dtype && i == other.i && same(f, other.f) && same(imaginary, other.imaginary);
}

Literal identity_of(Combine combine, DType dtype) {
  return visit_element_type(dtype, [&](auto zero) -> Literal {
    using T = decltype(zero);
    const auto value = [&](double number, auto integer) {
      if constexpr (kIsFloating<T> || kIsComplex<T>) {
        return Literal::of_float(dtype, number);
      } else {
        return Literal::of_integer(dtype, static_cast<int64_t>(integer));
      }
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (combine) {
      case Combine::set:
      case Combine::add:
      case Combine::or_:
      case Combine::xor_: return value(0, 0);
      case Combine::mul: return value(1, 1);
      case Combine::max: return value(-kInfinity, std::numeric_limits<Computed<T>>::lowest());
      case Combine::min: return value(kInfinity, std::numeric_limits<Computed<T>>::max());
      case Combine::and_:
        // All ones: true for bool, every bit for an integer.
        if constexpr (std::is_integral_v<T>)
          return value(0, std::is_same_v<T, bool> ? T(1) : static_cast<T>(~uint64_t(0)));
        return value(0, 0);
    }
    return value(0, 0);
  });
}

Literal exact_identity_of(Combine combine, DType dtype) {
  return combine == Combine::add && is_float(dtype) ? Literal::of_float(dtype, -0.0) : identity_of(combine, dtype);
}

}  // namespace inlay
