#include "ops/scalar_functions.h"

#include <cmath>
#include <limits>

#include "ops/complex_value.h"

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

/// NumPy's divmod: the quotient rounded down; the remainder has the sign of y.
double divide_down(double x, double y, double* remainder) {
  double mod = std::fmod(x, y);
  double quotient = (x - mod) / y;
  if (mod != 0) {
    if ((y < 0) != (mod < 0)) {
      mod += y;
      quotient -= 1;
    }
  } else {
    mod = std::copysign(0.0, y);
  }
  *remainder = mod;
  if (quotient == 0) return std::copysign(0.0, x / y);
  const double down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;
}

int64_t wrapping_multiply(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}

}  // namespace

extern "C" {

#define STANDARD(name, function) \
  double inlay_s_##name(double x) noexcept { return function(x); }
STANDARD(exp, std::exp)
STANDARD(exp2, std::exp2)
STANDARD(expm1, std::expm1)
STANDARD(log, std::log)
STANDARD(log2, std::log2)
STANDARD(log10, std::log10)
STANDARD(log1p, std::log1p)
STANDARD(cbrt, std::cbrt)
STANDARD(sin, std::sin)
STANDARD(cos, std::cos)
STANDARD(tan, std::tan)
STANDARD(arcsin, std::asin)
STANDARD(arccos, std::acos)
STANDARD(arctan, std::atan)
STANDARD(sinh, std::sinh)
STANDARD(cosh, std::cosh)
STANDARD(tanh, std::tanh)
STANDARD(arcsinh, std::asinh)
STANDARD(arccosh, std::acosh)
STANDARD(arctanh, std::atanh)
STANDARD(erf, std::erf)
STANDARD(erfc, std::erfc)
#undef STANDARD

/// log(1 - e^x): each branch where it does not cancel.
double inlay_s_log1mexp(double x) noexcept { return x < -kLn2 ? std::log1p(-std::exp(x)) : std::log(-std::expm1(x)); }

double inlay_s_sigmoid(double x) noexcept {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

double inlay_s_softplus(double x) noexcept { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// Half to even. The rounding mode is the default one.
double inlay_s_round(double x) noexcept { return std::nearbyint(x); }

/// nan -> nan, -0.0 -> 0.
double inlay_s_sign(double x) noexcept { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }

/// Around 1/2 through 2 x - 1, which is exact there, so that the digits around the root are right.
double inlay_s_logit(double x) noexcept {
  if (x > 0.25 && x < 0.75) return std::log1p(2 * x - 1) - std::log1p(1 - 2 * x);
  return std::log(x) - std::log1p(-x);
}

/// x log y, and 0 for x = 0 and any y but nan.
double inlay_s_xlogy(double x, double y) noexcept { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
double inlay_s_xlog1py(double x, double y) noexcept { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }

/// log(e^x + e^y)
double inlay_s_logaddexp(double x, double y) noexcept {
  if (x == y) return x + kLn2;  // infinities too
  if (std::isnan(x) || std::isnan(y)) return x + y;
  return std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}

double inlay_s_pow(double x, double y) noexcept { return std::pow(x, y); }
double inlay_s_arctan2(double x, double y) noexcept { return std::atan2(x, y); }
double inlay_s_hypot(double x, double y) noexcept { return std::hypot(x, y); }
double inlay_s_nextafter(double x, double y) noexcept { return std::nextafter(x, y); }

double inlay_s_floor_div(double x, double y) noexcept {
  double remainder = 0;
  return y == 0 ? x / y : divide_down(x, y, &remainder);
}

double inlay_s_mod(double x, double y) noexcept {
  if (y == 0) return kNan;
  double remainder = 0;
  divide_down(x, y, &remainder);
  return remainder;
}

/// x // 0 is 0, INT64_MIN // -1 wraps.
int64_t inlay_s_floor_div_i64(int64_t x, int64_t y) noexcept {
  if (y == 0) return 0;
  if (y == -1) return wrapping_multiply(x, -1);
  const int64_t quotient = x / y;
  return quotient - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0);
}

/// x % 0 is 0; else the sign of y.
int64_t inlay_s_mod_i64(int64_t x, int64_t y) noexcept {
  if (y == 0 || y == -1) return 0;
  const int64_t remainder = x % y;
  return remainder != 0 && (x < 0) != (y < 0) ? remainder + y : remainder;
}

/// A negative exponent is for the caller to refuse; here it gives what C would: 0, and the powers of 1 and -1.
int64_t inlay_s_pow_i64(int64_t x, int64_t y) noexcept {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  int64_t power = 1;
  for (uint64_t rest = static_cast<uint64_t>(y); rest != 0; rest >>= 1) {
    if (rest & 1) power = wrapping_multiply(power, x);
    x = wrapping_multiply(x, x);
  }
  return power;
}

#define COMPLEX(name, value)                                                \
  double inlay_s_##name(double re, double im, double* im_result) noexcept { \
    const std::complex<double> z(re, im), result = value;                   \
    *im_result = result.imag();                                             \
    return result.real();                                                   \
  }
COMPLEX(csqrt, std::sqrt(z))
COMPLEX(cexp, std::exp(z))
COMPLEX(cexp2, inlay::complex_exp2(z))
COMPLEX(cexpm1, inlay::complex_expm1(z))
COMPLEX(clog, std::log(z))
COMPLEX(clog2, inlay::complex_log2(z))
COMPLEX(clog10, inlay::complex_log10(z))
COMPLEX(clog1p, inlay::complex_log1p(z))
COMPLEX(csin, std::sin(z))
COMPLEX(ccos, std::cos(z))
COMPLEX(ctan, std::tan(z))
COMPLEX(carcsin, std::asin(z))
COMPLEX(carccos, std::acos(z))
COMPLEX(carctan, std::atan(z))
COMPLEX(csinh, std::sinh(z))
COMPLEX(ccosh, std::cosh(z))
COMPLEX(ctanh, std::tanh(z))
COMPLEX(carcsinh, std::asinh(z))
COMPLEX(carccosh, std::acosh(z))
COMPLEX(carctanh, std::atanh(z))
COMPLEX(csign, inlay::complex_sign(z))
#undef COMPLEX

double inlay_s_cpow(double re_x, double im_x, double re_y, double im_y, double* im_result) noexcept {
  const std::complex<double> result =
      inlay::complex_pow(std::complex<double>(re_x, im_x), std::complex<double>(re_y, im_y));
  *im_result = result.imag();
  return result.real();
}

}  // extern "C"

namespace inlay {
namespace {

template <class F>
const void* address_of(F* function) {
  return reinterpret_cast<const void*>(function);
}

#define UNARY(name) {#name, "inlay_s_" #name, 1, ScalarSignature::f64_f64, address_of(inlay_s_##name)},
#define BINARY(name) {#name, "inlay_s_" #name, 2, ScalarSignature::f64_f64_f64, address_of(inlay_s_##name)},
#define TERNARY(name) {#name, "inlay_s_" #name, 3, ScalarSignature::f64_f64_f64_f64, address_of(inlay_s_##name)},
#define QUATERNARY(name) {#name, "inlay_s_" #name, 4, ScalarSignature::f64_f64_f64_f64_f64, address_of(inlay_s_##name)},
#define INTEGER(name) {#name, "inlay_s_" #name, 2, ScalarSignature::i64_i64_i64, address_of(inlay_s_##name)},
#define COMPLEX(name) {#name, "inlay_s_" #name, 1, ScalarSignature::c128_c128, address_of(inlay_s_##name)},
#define COMPLEX_BINARY(name) {#name, "inlay_s_" #name, 2, ScalarSignature::c128_c128_c128, address_of(inlay_s_##name)},
// clang-format off
const ScalarFunction kScalarFunctions[] = {
    INLAY_SCALAR_UNARY(UNARY) INLAY_SCALAR_BINARY(BINARY) INLAY_SCALAR_TERNARY(TERNARY)
    INLAY_SCALAR_QUATERNARY(QUATERNARY) INLAY_SCALAR_INTEGER(INTEGER)
    INLAY_SCALAR_COMPLEX(COMPLEX) INLAY_SCALAR_COMPLEX_BINARY(COMPLEX_BINARY)};
// clang-format on
#undef UNARY
#undef BINARY
#undef TERNARY
#undef QUATERNARY
#undef INTEGER
#undef COMPLEX
#undef COMPLEX_BINARY

}  // namespace

std::span<const ScalarFunction> scalar_functions() { return kScalarFunctions; }

const ScalarFunction* find_scalar_function(std::string_view name_or_symbol) {
  for (const ScalarFunction& function : kScalarFunctions) {
    if (function.name == name_or_symbol || function.symbol == name_or_symbol) return &function;
  }
  return nullptr;
}

}  // namespace inlay
