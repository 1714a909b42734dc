#pragma once
// What the rows of scalar_ops.def call: the meaning of each scalar op for one element, in plain C++.
//
// NumPy's meaning in every corner. Integers wrap, also where C++ leaves it undefined; x // 0 and x % 0 are 0; floor_div
// and mod follow the sign of the divisor; NaN wins in max and min; sign(-0.0) is 0. Bit by bit the reference for
// backends.
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/complex_value.h"
#include "ops/element_types.h"
#include "ops/scalar_functions.h"
#include "support/error.h"

namespace inlay {

// Sums and products are taken in u64, where overflow is defined, and cut to T: the low bits are those of any wider
// type.

template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || kIsComplex<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

template <class T>
T wrap_sub(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || kIsComplex<T>) {
    return a - b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
}

template <class T>
T wrap_mul(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return complex_mul(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
}

template <class T>
T wrap_neg(T a) {
  if constexpr (std::is_floating_point_v<T> || kIsComplex<T>) {
    return -a;  // 0 - a would lose the sign of zero
  } else {
    return wrap_sub(T(0), a);
  }
}

template <class T>
typename RealOf<T>::Type scalar_abs(T a) {
  if constexpr (kIsComplex<T>) {
    return std::hypot(a.real(), a.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(a);
  } else {
    return a < T(0) ? wrap_neg(a) : a;
  }
}

template <class T>
T scalar_sign(T a) {
  if constexpr (kIsComplex<T>) {
    return complex_sign(a);
  } else {
    if (a != a) return a;
    return static_cast<T>(static_cast<T>(a > T(0)) - static_cast<T>(a < T(0)));
  }
}

template <class T>
bool scalar_isinf(T a) {
  if constexpr (kIsComplex<T>) {
    return std::isinf(a.real()) || std::isinf(a.imag());
  } else {
    return std::isinf(a);
  }
}

template <class T>
bool scalar_isfinite(T a) {
  if constexpr (kIsComplex<T>) {
    return std::isfinite(a.real()) && std::isfinite(a.imag());
  } else {
    return std::isfinite(a);
  }
}

template <class T>
T scalar_reciprocal(T a) {
  if constexpr (kIsComplex<T>) {
    return complex_reciprocal(a);
  } else {
    return T(1) / a;
  }
}

template <class T>
T scalar_div(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return complex_div(a, b);
  } else {
    return a / b;
  }
}

// Of these the C++ library has no complex form, or not NumPy's.
#define INLAY_REAL_OR_COMPLEX(name) \
  template <class T>                \
  T scalar_##name(T a) {            \
    if constexpr (kIsComplex<T>) {  \
      return complex_##name(a);     \
    } else {                        \
      return std::name(a);          \
    }                               \
  }
INLAY_REAL_OR_COMPLEX(exp2)
INLAY_REAL_OR_COMPLEX(expm1)
INLAY_REAL_OR_COMPLEX(log2)
INLAY_REAL_OR_COMPLEX(log10)
INLAY_REAL_OR_COMPLEX(log1p)
#undef INLAY_REAL_OR_COMPLEX

template <class T>
T scalar_max(T a, T b) {
  return (a >= b || a != a) ? a : b;
}

template <class T>
T scalar_min(T a, T b) {
  return (a <= b || a != a) ? a : b;
}

template <class T>
T scalar_not(T a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;
  } else {
    return static_cast<T>(~a);
  }
}

/// The bits that a shift by `count` moves out, counted as unsigned, so that a negative count moves out all.
template <class T>
bool shifts_all_out(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) >= 8 * sizeof(T);
}

template <class T>
T scalar_left_shift(T a, T count) {
  return shifts_all_out(count) ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << count);
}

template <class T>
T scalar_right_shift(T a, T count) {
  if (shifts_all_out(count)) return static_cast<T>(a < T(0) ? -1 : 0);
  return static_cast<T>(a >> count);
}

template <class T>
T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

/// log(1 - exp(a)) for a <= 0. Two forms: each loses all digits where the other is used (Maechler, 2012).
template <class T>
T scalar_log1mexp(T a) {
  return a > T(-0.693147180559945309417) ? std::log(-std::expm1(a)) : std::log1p(-std::exp(a));
}

template <class T>
T scalar_sigmoid(T a) {
  if (a >= T(0)) return T(1) / (T(1) + std::exp(-a));
  const T e = std::exp(a);  // exp(-a) would overflow
  return e / (T(1) + e);
}

/// log(1 + exp(a))
template <class T>
T scalar_softplus(T a) {
  if (a != a) return a;
  return scalar_max(a, T(0)) + std::log1p(std::exp(-std::fabs(a)));
}

template <class T>
T scalar_mod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T remainder = std::fmod(a, b);
    if (b == T(0)) return remainder;
    if (remainder == T(0)) return std::copysign(T(0), b);
    return (remainder < T(0)) != (b < T(0)) ? remainder + b : remainder;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);  // the minimum % -1 traps
    }
    const T remainder = static_cast<T>(a % b);
    const bool other_side = remainder != T(0) && (remainder < T(0)) != (b < T(0));
    return other_side ? static_cast<T>(remainder + b) : remainder;
  }
}

template <class T>
T scalar_floor_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == T(0)) return a / b;
    // Through the remainder: floor(a / b) is one too many where a / b rounds up to an integer.
    const T remainder = std::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != T(0) && (remainder < T(0)) != (b < T(0))) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T floored = std::floor(quotient);
    return quotient - floored > T(0.5) ? floored + T(1) : floored;
  } else {
    if (b == T(0)) return T(0);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return wrap_neg(a);  // the minimum / -1 traps
    }
    const T quotient = static_cast<T>(a / b);
    const bool rounded_up = a % b != T(0) && (a < T(0)) != (b < T(0));
    return rounded_up ? static_cast<T>(quotient - T(1)) : quotient;
  }
}

/// Integers: an error for a negative power, for every base (as NumPy), and wrapping otherwise.
template <class T>
T scalar_pow(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return complex_pow(a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if (b < T(0)) {
      throw Error(ErrorCode::negative_power, {}, "pow: an integer to a negative integer power");
    }
    T result = T(1);
    for (T base = a; b != T(0); b = static_cast<T>(b >> 1), base = wrap_mul(base, base)) {
      if (b & T(1)) result = wrap_mul(result, base);
    }
    return result;
  }
}

/// A float becomes an integer towards zero and wraps; NaN is an error; what i64 cannot hold is its minimum first,
/// as x86 converts. (u64 takes also what it alone can hold.) Anything but zero is true. A complex number becomes no
/// other.
template <class To, class From>
To scalar_cast(From a) {
  if constexpr (kIsHalf<From>) {
    return scalar_cast<To>(widen(a));
  } else if constexpr (kIsHalf<To>) {
    return stored<To>(scalar_cast<double>(a));
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    return static_cast<To>(a);
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(a));
  } else if constexpr (kIsComplex<From>) {
    throw Error(ErrorCode::wrong_dtype, {}, "cast: a complex number to a real one");
  } else if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (a != a) throw Error(ErrorCode::nan_to_integer, {}, "cast: NaN to an integer");
    constexpr From kLimit = static_cast<From>(9223372036854775808.0);  // 2^63
    if (a >= -kLimit && a < kLimit) return static_cast<To>(static_cast<int64_t>(a));
    if (std::is_same_v<To, uint64_t> && a > From(0) && a < 2 * kLimit) return static_cast<To>(static_cast<uint64_t>(a));
    return static_cast<To>(std::numeric_limits<int64_t>::min());
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace inlay
