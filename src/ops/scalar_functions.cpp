#include "ops/scalar_functions.h"

#include <cfenv>
#include <cmath>
#include <limits>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
constexpr double kInverseSqrtPi = 0x1.20dd750429b6dp-1;

// Never throws, never sets errno; what has no value is nan or infinite. Double arithmetic is accurate enough.
namespace policies = boost::math::policies;
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>, policies::evaluation_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>, policies::indeterminate_result_error<policies::ignore_error>,
    policies::promote_double<false>, policies::promote_float<false>>;

bool is_negative_integer(double x) { return x < 0 && x == std::floor(x); }

/// e^(scale x^2) f with the digits that x * x loses brought back.
double times_exp_of_square(double scale, double x, double f) {
  const double high = x * x;
  const double low = std::fma(x, x, -high);
  const double e = std::exp(scale * high) * f;
  return std::isfinite(e) && std::isfinite(low) ? std::fma(e, scale * low, e) : e;
}

/// e^(x^2) erfc(x) for x >= 26 (sooner, erfc has lost no digits yet): the asymptotic series; 7 terms reach 1e-17.
double erfcx_large(double x) {
  const double t = 0.5 / (x * x);
  double sum = 1;
  for (int k = 13; k >= 1; k -= 2) sum = 1 - k * t * sum;
  return kInverseSqrtPi / x * sum;
}

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

double inlay_s_erfcx(double x) noexcept {
  if (x >= 26) return erfcx_large(x);
  return times_exp_of_square(1, x, std::erfc(x));
}

double inlay_s_erfinv(double x) noexcept {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(kInf, x) : kNan;
  if (std::fabs(x) < 1e-300) return x == 0 ? x : x / (2 * kInverseSqrtPi);  // Boost divides by what underflows
  return boost::math::erf_inv(x, Quiet());
}

double inlay_s_erfcinv(double x) noexcept {
  if (!(x > 0 && x < 2)) return x == 0 ? kInf : x == 2 ? -kInf : kNan;
  return boost::math::erfc_inv(x, Quiet());
}

/// The quantile of the standard normal distribution.
double inlay_s_ndtri(double p) noexcept { return -kSqrt2 * inlay_s_erfcinv(2 * p); }

/// The logarithm of the standard normal distribution function.
double inlay_s_log_ndtr(double x) noexcept {
  if (x > 1) return std::log1p(-times_exp_of_square(-0.5, x, 0.5 * inlay_s_erfcx(x * kSqrtHalf)));
  if (x > -1) return std::log1p(-0.5 * std::erfc(x * kSqrtHalf));
  return std::log(0.5 * inlay_s_erfcx(-x * kSqrtHalf)) - 0.5 * x * x;
}

double inlay_s_gamma(double x) noexcept { return is_negative_integer(x) ? kNan : std::tgamma(x); }

double inlay_s_lgamma(double x) noexcept {
  int sign = 0;
  return lgamma_r(x, &sign);  // std::lgamma writes a global
}

double inlay_s_digamma(double x) noexcept {
  if (x == 0) return std::copysign(kInf, -x);
  if (is_negative_integer(x) || std::isnan(x)) return kNan;
  if (x == kInf) return kInf;
  return boost::math::digamma(x, Quiet());
}

double inlay_s_trigamma(double x) noexcept {
  if (x == 0 || is_negative_integer(x)) return kInf;
  if (x == kInf) return 0;
  if (std::isnan(x)) return x;
  if (std::fabs(x) < 1e-160) return kInf;
  return boost::math::trigamma(x, Quiet());
}

/// Half to even. The rounding mode is the default one.
double inlay_s_round(double x) noexcept { return std::nearbyint(x); }

/// nan -> nan, -0.0 -> 0.
double inlay_s_sign(double x) noexcept { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }

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

}  // extern "C"

namespace inlay {
namespace {

template <class F>
const void* address_of(F* function) {
  return reinterpret_cast<const void*>(function);
}

#define UNARY(name) {#name, "inlay_s_" #name, 1, ScalarSignature::f64_f64, address_of(inlay_s_##name)},
#define BINARY(name) {#name, "inlay_s_" #name, 2, ScalarSignature::f64_f64_f64, address_of(inlay_s_##name)},
#define INTEGER(name) {#name, "inlay_s_" #name, 2, ScalarSignature::i64_i64_i64, address_of(inlay_s_##name)},
const ScalarFunction kScalarFunctions[] = {INLAY_SCALAR_UNARY(UNARY) INLAY_SCALAR_BINARY(BINARY)
                                               INLAY_SCALAR_INTEGER(INTEGER)};
#undef UNARY
#undef BINARY
#undef INTEGER

}  // namespace

std::span<const ScalarFunction> scalar_functions() { return kScalarFunctions; }

const ScalarFunction* find_scalar_function(std::string_view name_or_symbol) {
  for (const ScalarFunction& function : kScalarFunctions) {
    if (function.name == name_or_symbol || function.symbol == name_or_symbol) return &function;
  }
  return nullptr;
}

}  // namespace inlay
