#pragma once
// The C++ types of elements, and what they are computed in.
//
// f16 and bf16 have no C++ type in the compilers that we support: here they are their bits, and every op on them is
// computed in f32 and rounded to the nearest, to even in the middle, as NumPy and ml_dtypes do.
#include <complex>
#include <cstdint>
#include <type_traits>

#include "ops/scalar_op.h"
#include "support/error.h"

namespace inlay {

struct Half {  // f16
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

float widen(Half x);
float widen(BFloat16 x);
Half half_of(double x);         // rounded once
BFloat16 bfloat16_of(float x);  // ml_dtypes too rounds a double twice

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsComplex = false;
template <class R>
inline constexpr bool kIsComplex<std::complex<R>> = true;
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;

/// What elements of type T are computed in.
template <class T>
using Computed = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
Computed<T> computed(T x) {
  if constexpr (kIsHalf<T>) {
    return widen(x);
  } else {
    return x;
  }
}

/// A computed number as an element.
template <class T, class From>
T stored(From x) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_of(static_cast<double>(x));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return bfloat16_of(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
struct RealOf {
  using Type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using Type = R;
};
template <class T>
struct ComplexOf {
  using Type = std::complex<double>;
};
template <>
struct ComplexOf<float> {
  using Type = std::complex<float>;
};

/// The element that an op with this rule makes of elements of type T.
template <ResultRule rule, class T>
using ResultElement = std::conditional_t<
    rule == ResultRule::Bool, bool,
    std::conditional_t<rule == ResultRule::Real, typename RealOf<T>::Type,
                       std::conditional_t<rule == ResultRule::Pair, typename ComplexOf<T>::Type, T>>>;

/// accepts(op, dtype) for the C++ type of the dtype.
template <class T>
constexpr bool takes(OperandClass operands) {
  constexpr bool is_bool = std::is_same_v<T, bool>;
  constexpr bool is_integer = std::is_integral_v<T> && !is_bool;
  constexpr bool is_floating = kIsFloating<T>;
  switch (operands) {
    case OperandClass::Numeric: return is_integer || is_floating;
    case OperandClass::Floating: return is_floating;
    case OperandClass::Ordered: return is_bool || is_integer || is_floating;
    case OperandClass::Integer: return is_integer;
    case OperandClass::Logical: return is_bool || is_integer;
    case OperandClass::Number: return is_integer || is_floating || kIsComplex<T>;
    case OperandClass::Analytic: return is_floating || kIsComplex<T>;
    case OperandClass::Complex: return kIsComplex<T>;
    case OperandClass::Part: return std::is_floating_point_v<T>;
    case OperandClass::Any: return true;
  }
  return false;
}

/// visitor(T()) with the C++ type of the elements of a dtype. An opaque value has none: unsupported.
template <class Visitor>
decltype(auto) visit_element_type(DType dtype, Visitor visitor) {
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
    case DType::f16: return visitor(Half());
    case DType::bf16: return visitor(BFloat16());
    case DType::f32: return visitor(float());
    case DType::f64: return visitor(double());
    case DType::c64: return visitor(std::complex<float>());
    case DType::c128: return visitor(std::complex<double>());
    case DType::opaque: break;
  }
  throw Error(ErrorCode::unsupported, {}, str("elements of dtype ", dtype_name(dtype)));
}

}  // namespace inlay
