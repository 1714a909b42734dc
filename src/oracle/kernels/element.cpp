#include "oracle/kernels/element.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "ops/element_types.h"
#include "ops/scalar_functions.h"
#include "support/error.h"

namespace inlay::kernel {
namespace {

__extension__ using Wide = __int128;  // holds every sum and quotient of two 64-bit integers
__extension__ using Bits = unsigned __int128;

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

/// visitor(T()) for bool, integers, f32 and f64. Half precision goes by way of f32 (see apply_op and cast), complex
/// numbers by apply_complex.
template <class Visitor>
auto visit_dtype(DType dtype, Visitor visitor) {
  return visit_element_type(dtype, [&](auto zero) -> decltype(visitor(bool())) {
    if constexpr (std::is_arithmetic_v<decltype(zero)>) {
      return visitor(zero);
    } else {
      throw Error(ErrorCode::unsupported, {}, str("the kernel evaluator has no arithmetic on ", dtype_name(dtype)));
    }
  });
}

template <class T>
T get(const Element& element) {
  if constexpr (std::is_same_v<T, bool>) return element.bytes[0] != std::byte(0);
  T out;
  std::memcpy(&out, element.bytes.data(), sizeof out);
  return out;
}

template <class T>
Element put(DType dtype, T value) {
  Element out{dtype, {}};
  std::memcpy(out.bytes.data(), &value, sizeof value);
  return out;
}

template <class T>
T remainder_of(T a, T b) {
  if constexpr (kIsFloat<T>) {
    const T r = std::fmod(a, b);
    if (b == 0 || std::isnan(r)) return r;
    if (r == 0) return std::copysign(T(0), b);
    return std::signbit(r) == std::signbit(b) ? r : r + b;
  } else {
    if (b == 0) return 0;
    const Wide r = Wide(a) % Wide(b);
    return static_cast<T>(r != 0 && (r < 0) != (Wide(b) < 0) ? r + b : r);
  }
}

template <class T>
T floored_quotient(T a, T b) {
  if constexpr (kIsFloat<T>) {
    // NumPy's way, so that a == b * (a // b) + a % b up to rounding, and 1 // 0.1 is 9.
    if (b == 0) return a / b;
    const T r = std::fmod(a, b);
    T quotient = (a - r) / b;
    if (r != 0 && std::signbit(r) != std::signbit(b)) quotient -= 1;  // not r + b before: b may be infinite
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T below = std::floor(quotient);
    return quotient - below > T(0.5) ? below + 1 : below;
  } else {
    if (b == 0) return 0;
    return static_cast<T>((Wide(a) - Wide(remainder_of(a, b))) / Wide(b));
  }
}

template <class T>
T power(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return std::pow(a, b);
  } else {
    INLAY_CHECK(!(Wide(b) < 0), "an integer to the negative power ", static_cast<int64_t>(b),
                " was not refused by a check before it");
    auto out = uint64_t(1), base = static_cast<uint64_t>(a);
    for (auto rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1, base *= base) out *= rest & 1 ? base : 1;
    return static_cast<T>(out);
  }
}

template <class T>
T sign_of(T a) {
  if (a != a) return a;
  return T(a > T(0) ? 1 : a < T(0) ? -1 : 0);
}

template <class T>
T greater_of(T a, T b) {
  return a != a ? a : b != b ? b : b > a ? b : a;
}

template <class T>
T lesser_of(T a, T b) {
  return a != a ? a : b != b ? b : b < a ? b : a;
}

/// By powers of two in 128 bits: a shift in C++ is undefined where the count is negative or large.
template <class T>
T shifted_left(T a, T count) {
  if constexpr (kIsFloat<T>) return a;
  return Wide(count) < 0 || Wide(count) > 63 ? T(0) : static_cast<T>(Wide(a) * (Wide(1) << static_cast<int>(count)));
}

template <class T>
T shifted_right(T a, T count) {
  if constexpr (kIsFloat<T>) {
    return a;
  } else {
    const int places = Wide(count) < 0 || Wide(count) > 64 ? 64 : static_cast<int>(count);
    const Wide scale = Wide(1) << places;
    return static_cast<T>((Wide(a) - (Wide(a) < 0 ? scale - 1 : 0)) / scale);
  }
}

template <class T>
using Arithmetic = std::conditional_t<kIsFloat<T>, T, Wide>;

/// Of integers the low bits: the square of 2^64 - 1 does not fit into a signed number of 128.
template <class T>
T product_of(T a, T b) {
  if constexpr (kIsFloat<T>) return a * b;
  return static_cast<T>(static_cast<Bits>(a) * static_cast<Bits>(b));
}

/// All ops on elements of one C++ type. For integers and bool the floating functions compile, but `apply_op` lets none
/// come.
template <class T>
Element apply_to(ScalarOp op, DType dtype, T a, T b, T c, T d) {
  using A = Arithmetic<T>;
  const auto same = [&](auto value) { return put<T>(dtype, static_cast<T>(value)); };
  const auto truth = [](bool value) { return put<bool>(DType::boolean, value); };
  const auto x = static_cast<std::conditional_t<kIsFloat<T>, T, double>>(a);
  const auto y = static_cast<std::conditional_t<kIsFloat<T>, T, double>>(b);
  const auto z = static_cast<std::conditional_t<kIsFloat<T>, T, double>>(c);
  const auto w = static_cast<std::conditional_t<kIsFloat<T>, T, double>>(d);
  const auto bits = [](auto value) { return static_cast<Wide>(value); };
  switch (op) {
    case ScalarOp::neg_: return same(-A(a));
    case ScalarOp::abs_:
      if constexpr (kIsFloat<T>) return same(std::fabs(a));
      return same(A(a) < 0 ? -A(a) : A(a));
    case ScalarOp::sign_: return same(sign_of(a));
    case ScalarOp::reciprocal_: return same(1 / x);
    case ScalarOp::square_: return same(product_of(a, a));
    case ScalarOp::sqrt_: return same(std::sqrt(x));
    case ScalarOp::cbrt_: return same(std::cbrt(x));
    case ScalarOp::exp_: return same(std::exp(x));
    case ScalarOp::exp2_: return same(std::exp2(x));
    case ScalarOp::expm1_: return same(std::expm1(x));
    case ScalarOp::log_: return same(std::log(x));
    case ScalarOp::log2_: return same(std::log2(x));
    case ScalarOp::log10_: return same(std::log10(x));
    case ScalarOp::log1p_: return same(std::log1p(x));
    case ScalarOp::log1mexp_: return same(inlay_s_log1mexp(x));
    case ScalarOp::sigmoid_: return same(inlay_s_sigmoid(x));
    case ScalarOp::softplus_: return same(inlay_s_softplus(x));
    case ScalarOp::sin_: return same(std::sin(x));
    case ScalarOp::cos_: return same(std::cos(x));
    case ScalarOp::tan_: return same(std::tan(x));
    case ScalarOp::arcsin_: return same(std::asin(x));
    case ScalarOp::arccos_: return same(std::acos(x));
    case ScalarOp::arctan_: return same(std::atan(x));
    case ScalarOp::sinh_: return same(std::sinh(x));
    case ScalarOp::cosh_: return same(std::cosh(x));
    case ScalarOp::tanh_: return same(std::tanh(x));
    case ScalarOp::arcsinh_: return same(std::asinh(x));
    case ScalarOp::arccosh_: return same(std::acosh(x));
    case ScalarOp::arctanh_: return same(std::atanh(x));
    case ScalarOp::deg2rad_: return same(x * static_cast<decltype(x)>(M_PI / 180));
    case ScalarOp::rad2deg_: return same(x * static_cast<decltype(x)>(180 / M_PI));
    case ScalarOp::floor_: return same(std::floor(x));
    case ScalarOp::ceil_: return same(std::ceil(x));
    case ScalarOp::round_: return same(std::nearbyint(x));
    case ScalarOp::trunc_: return same(std::trunc(x));
    case ScalarOp::erf_: return same(std::erf(x));
    case ScalarOp::erfc_: return same(std::erfc(x));
    case ScalarOp::erfcx_: return same(inlay_s_erfcx(x));
    case ScalarOp::erfinv_: return same(inlay_s_erfinv(x));
    case ScalarOp::erfcinv_: return same(inlay_s_erfcinv(x));
    case ScalarOp::ndtr_: return same(inlay_s_ndtr(x));
    case ScalarOp::ndtri_: return same(inlay_s_ndtri(x));
    case ScalarOp::ndtri_exp_: return same(inlay_s_ndtri_exp(x));
    case ScalarOp::log_ndtr_: return same(inlay_s_log_ndtr(x));
    case ScalarOp::logit_: return same(inlay_s_logit(x));
    case ScalarOp::lgamma_: return same(inlay_s_lgamma(x));
    case ScalarOp::gamma_: return same(inlay_s_gamma(x));
    case ScalarOp::digamma_: return same(inlay_s_digamma(x));
    case ScalarOp::trigamma_: return same(inlay_s_trigamma(x));
    case ScalarOp::i0_: return same(inlay_s_i0(x));
    case ScalarOp::i1_: return same(inlay_s_i1(x));
    case ScalarOp::j0_: return same(inlay_s_j0(x));
    case ScalarOp::j1_: return same(inlay_s_j1(x));
    case ScalarOp::isnan_: return truth(std::isnan(x));
    case ScalarOp::isinf_: return truth(std::isinf(x));
    case ScalarOp::isfinite_: return truth(std::isfinite(x));
    case ScalarOp::signbit_: return truth(std::signbit(x));
    case ScalarOp::not_: return std::is_same_v<T, bool> ? truth(!a) : same(~bits(a));
    case ScalarOp::add_: return same(static_cast<T>(A(a) + A(b)));
    case ScalarOp::sub_: return same(static_cast<T>(A(a) - A(b)));
    case ScalarOp::mul_: return same(product_of(a, b));
    case ScalarOp::div_: return same(x / y);
    case ScalarOp::floor_div_: return same(floored_quotient(a, b));
    case ScalarOp::mod_: return same(remainder_of(a, b));
    case ScalarOp::pow_: return same(power(a, b));
    case ScalarOp::max_: return same(greater_of(a, b));
    case ScalarOp::min_: return same(lesser_of(a, b));
    case ScalarOp::arctan2_: return same(std::atan2(x, y));
    case ScalarOp::copysign_: return same(std::copysign(x, y));
    case ScalarOp::nextafter_: return same(std::nextafter(x, y));
    case ScalarOp::xlogy_: return same(inlay_s_xlogy(x, y));
    case ScalarOp::xlog1py_: return same(inlay_s_xlog1py(x, y));
    case ScalarOp::logaddexp_: return same(inlay_s_logaddexp(x, y));
    case ScalarOp::beta_: return same(inlay_s_beta(x, y));
    case ScalarOp::lbeta_: return same(inlay_s_lbeta(x, y));
    case ScalarOp::polygamma_: return same(inlay_s_polygamma(x, y));
    case ScalarOp::gammainc_: return same(inlay_s_gammainc(x, y));
    case ScalarOp::gammaincc_: return same(inlay_s_gammaincc(x, y));
    case ScalarOp::gammainc_da_: return same(inlay_s_gammainc_da(x, y));
    case ScalarOp::gammaincinv_: return same(inlay_s_gammaincinv(x, y));
    case ScalarOp::gammainccinv_: return same(inlay_s_gammainccinv(x, y));
    case ScalarOp::owens_t_: return same(inlay_s_owens_t(x, y));
    case ScalarOp::jv_: return same(inlay_s_jv(x, y));
    case ScalarOp::ive_: return same(inlay_s_ive(x, y));
    case ScalarOp::kve_: return same(inlay_s_kve(x, y));
    case ScalarOp::eq_: return truth(a == b);
    case ScalarOp::ne_: return truth(a != b);
    case ScalarOp::lt_: return truth(a < b);
    case ScalarOp::le_: return truth(a <= b);
    case ScalarOp::gt_: return truth(a > b);
    case ScalarOp::ge_: return truth(a >= b);
    case ScalarOp::and_: return same(bits(a) & bits(b));
    case ScalarOp::or_: return same(bits(a) | bits(b));
    case ScalarOp::xor_: return same(bits(a) ^ bits(b));
    case ScalarOp::left_shift_: return same(shifted_left(a, b));
    case ScalarOp::right_shift_: return same(shifted_right(a, b));
    case ScalarOp::clip_: return same(lesser_of(greater_of(a, b), c));
    case ScalarOp::betainc_: return same(inlay_s_betainc(x, y, z));
    case ScalarOp::betainc_da_: return same(inlay_s_betainc_da(x, y, z));
    case ScalarOp::betainc_db_: return same(inlay_s_betainc_db(x, y, z));
    case ScalarOp::betaincinv_: return same(inlay_s_betaincinv(x, y, z));
    case ScalarOp::hyp2f1_: return same(inlay_s_hyp2f1(x, y, z, w));
    case ScalarOp::complex_:
      if constexpr (kIsFloat<T>) return put(complex_of(dtype), std::complex<T>(a, b));
      break;
    case ScalarOp::real_:
    case ScalarOp::imag_:
    case ScalarOp::conj_:
    case ScalarOp::angle_:  // see apply_complex
    case ScalarOp::select_: break;
  }
  INLAY_CHECK(false, "`", facts(op).name, "` is no op of elements of ", dtype_name(dtype));
  return {};
}

template <class R>
std::complex<R> quotient(std::complex<R> a, std::complex<R> b) {
  // Both divided by the larger part of b; where b is 0, by +0, so that the result is infinite or NaN.
  const R x = b.real(), y = b.imag();
  if (x == 0 && y == 0) return {a.real() / std::fabs(x), a.imag() / std::fabs(x)};
  const bool real_is_larger = std::fabs(x) >= std::fabs(y);
  const R ratio = real_is_larger ? y / x : x / y, factor = 1 / (real_is_larger ? x + y * ratio : y + x * ratio);
  if (real_is_larger) return {(a.real() + a.imag() * ratio) * factor, (a.imag() - a.real() * ratio) * factor};
  return {(a.real() * ratio + a.imag()) * factor, (a.imag() * ratio - a.real()) * factor};
}

template <class R>
std::complex<R> one_over(std::complex<R> a) {
  const R x = a.real(), y = a.imag();
  if (std::fabs(x) >= std::fabs(y)) return {1 / (x + y * (y / x)), -(y / x) / (x + y * (y / x))};
  return {(x / y) / (x * (x / y) + y), -1 / (x * (x / y) + y)};
}

/// The functions of two doubles that return one part and write the other.
std::complex<double> by_function(double (*function)(double, double, double*), std::complex<double> z) {
  double im = 0;
  const double re = function(z.real(), z.imag(), &im);
  return {re, im};
}

/// All ops on complex elements.
template <class R>
Element apply_complex(ScalarOp op, DType dtype, std::complex<R> a, std::complex<R> b) {
  using Double = std::complex<double>;
  const auto same = [&](auto value) { return put(dtype, std::complex<R>(value)); };
  const auto part = [&](R value) { return put(real_of(dtype), value); };
  const auto truth = [](bool value) { return put<bool>(DType::boolean, value); };
  const auto either = [&](auto holds) { return truth(holds(a.real()) || holds(a.imag())); };
  const auto product = [](std::complex<R> x, std::complex<R> y) {
    return std::complex<R>(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  };
  const Double z(a), w(b);
  switch (op) {
    case ScalarOp::neg_: return same(-a);
    case ScalarOp::abs_: return part(static_cast<R>(std::hypot(z.real(), z.imag())));
    case ScalarOp::sign_: return same(by_function(inlay_s_csign, z));
    case ScalarOp::reciprocal_: return same(one_over(a));
    case ScalarOp::square_: return same(product(a, a));
    case ScalarOp::sqrt_: return same(std::sqrt(z));
    case ScalarOp::exp_: return same(std::exp(z));
    case ScalarOp::exp2_: return same(by_function(inlay_s_cexp2, z));
    case ScalarOp::expm1_: return same(by_function(inlay_s_cexpm1, z));
    case ScalarOp::log_: return same(std::log(z));
    case ScalarOp::log2_: return same(by_function(inlay_s_clog2, z));
    case ScalarOp::log10_: return same(by_function(inlay_s_clog10, z));
    case ScalarOp::log1p_: return same(by_function(inlay_s_clog1p, z));
    case ScalarOp::sin_: return same(std::sin(z));
    case ScalarOp::cos_: return same(std::cos(z));
    case ScalarOp::tan_: return same(std::tan(z));
    case ScalarOp::arcsin_: return same(std::asin(z));
    case ScalarOp::arccos_: return same(std::acos(z));
    case ScalarOp::arctan_: return same(std::atan(z));
    case ScalarOp::sinh_: return same(std::sinh(z));
    case ScalarOp::cosh_: return same(std::cosh(z));
    case ScalarOp::tanh_: return same(std::tanh(z));
    case ScalarOp::arcsinh_: return same(std::asinh(z));
    case ScalarOp::arccosh_: return same(std::acosh(z));
    case ScalarOp::arctanh_: return same(std::atanh(z));
    case ScalarOp::isnan_: return either([](R x) { return std::isnan(x); });
    case ScalarOp::isinf_: return either([](R x) { return std::isinf(x); });
    case ScalarOp::isfinite_: return truth(std::isfinite(a.real()) && std::isfinite(a.imag()));
    case ScalarOp::real_: return part(a.real());
    case ScalarOp::imag_: return part(a.imag());
    case ScalarOp::conj_: return same(std::complex<R>(a.real(), -a.imag()));
    case ScalarOp::angle_: return part(std::atan2(a.imag(), a.real()));
    case ScalarOp::add_: return same(a + b);
    case ScalarOp::sub_: return same(a - b);
    case ScalarOp::mul_: return same(product(a, b));
    case ScalarOp::div_: return same(quotient(a, b));
    case ScalarOp::pow_: {
      double im = 0;
      const double re = inlay_s_cpow(z.real(), z.imag(), w.real(), w.imag(), &im);
      return same(Double(re, im));
    }
    case ScalarOp::eq_: return truth(a == b);
    case ScalarOp::ne_: return truth(!(a == b));
    default: break;
  }
  INLAY_CHECK(false, "`", facts(op).name, "` is no op of complex numbers");
  return {};
}

/// f16 and bf16 are computed in f32. From and to their bits without the conversions that the reference uses.
float half_to_float(DType dtype, uint16_t bits) {
  const int digits = dtype == DType::f16 ? 10 : 7, bias = dtype == DType::f16 ? 15 : 127;
  const int fraction = bits & ((1 << digits) - 1), exponent = (bits & 0x7fff) >> digits;
  double value = exponent == 2 * bias + 1
                     ? (fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
                     : std::ldexp(fraction + (exponent ? 1 << digits : 0), std::max(exponent, 1) - bias - digits);
  return static_cast<float>(std::copysign(value, bits & 0x8000 ? -1 : 1));
}

/// The nearest of all 2^15 numbers: their order is that of their bits.
uint16_t float_to_half(DType dtype, double x) {
  const uint16_t infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80, sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | infinity | (dtype == DType::f16 ? 0x200 : 0x40);
  const auto value = [&](int bits) {
    if (bits == infinity) return dtype == DType::f16 ? 0x1p16 : 0x1p128;  // where the next number would be
    return static_cast<double>(half_to_float(dtype, static_cast<uint16_t>(bits)));
  };
  const double magnitude = std::fabs(x);
  int below = 0, above = infinity;
  if (magnitude >= value(infinity)) return sign | infinity;
  while (above - below > 1) {
    const int middle = (below + above) / 2;
    (value(middle) <= magnitude ? below : above) = middle;
  }
  const double down = magnitude - value(below), up = value(above) - magnitude;
  const bool stays = down < up || (down == up && below % 2 == 0);
  return static_cast<uint16_t>(sign | (stays ? below : above));
}

Element widened(const Element& x) {
  return is_half(x.dtype) ? put(DType::f32, half_to_float(x.dtype, get<uint16_t>(x))) : x;
}

Element narrowed(DType dtype, double value) {
  return put(dtype, float_to_half(dtype, dtype == DType::f16 ? value : static_cast<double>(static_cast<float>(value))));
}

Element to_complex(const Element& x, DType dtype) {
  if (is_complex(x.dtype)) {
    if (dtype == DType::c128) return put(dtype, std::complex<double>(get<std::complex<float>>(x)));
    return put(dtype, std::complex<float>(get<std::complex<double>>(x)));
  }
  const Element part = cast(x, real_of(dtype));
  if (dtype == DType::c64) return put(dtype, std::complex<float>(get<float>(part), 0));
  return put(dtype, std::complex<double>(get<double>(part), 0));
}

template <class From>
int64_t to_int64(From a) {
  constexpr auto kLimit = static_cast<From>(9223372036854775808.0);  // 2^63
  return a >= -kLimit && a < kLimit ? static_cast<int64_t>(a) : std::numeric_limits<int64_t>::min();
}

template <class To, class From>
To convert(From a) {
  if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    INLAY_CHECK(a == a, "NaN was made an integer, and no check before it refused it");
    const bool only_u64 =
        std::is_same_v<To, uint64_t> && a >= From(9223372036854775808.0) && a < From(18446744073709551616.0);
    return only_u64 ? static_cast<To>(static_cast<uint64_t>(a)) : static_cast<To>(to_int64(a));
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace

Element Element::load(DType dtype, const std::byte* from) {
  Element out{dtype, {}};
  std::memcpy(out.bytes.data(), from, static_cast<std::size_t>(size_bytes(dtype)));
  return out;
}

void Element::store(std::byte* to) const { std::memcpy(to, bytes.data(), static_cast<std::size_t>(size_bytes(dtype))); }

Element Element::of(const Literal& literal) {
  Element out{literal.dtype, {}};
  literal.store(out.bytes.data());
  return out;
}

Element Element::of_integer(DType dtype, int64_t value) {
  return visit_dtype(dtype, [&](auto zero) { return put(dtype, static_cast<decltype(zero)>(value)); });
}

bool Element::is_true() const { return bytes[0] != std::byte(0); }

int64_t Element::to_integer() const {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    INLAY_CHECK(!kIsFloat<T>, "a ", dtype_name(dtype), " was used as an index");
    return static_cast<int64_t>(get<T>(*this));
  });
}

Element apply_op(ScalarOp op, std::span<const Element> operands) {
  INLAY_CHECK(static_cast<int>(operands.size()) == facts(op).arity, facts(op).name, " of ", operands.size(),
              " operands");
  if (op == ScalarOp::select_) return operands[0].is_true() ? operands[1] : operands[2];
  const DType dtype = operands[0].dtype;
  INLAY_CHECK(accepts(op, dtype), "`", facts(op).name, "` does not take ", dtype_name(dtype));
  const Element& last = operands.back();
  if (dtype == DType::c64) {
    return apply_complex(op, dtype, get<std::complex<float>>(operands[0]), get<std::complex<float>>(last));
  }
  if (dtype == DType::c128) {
    return apply_complex(op, dtype, get<std::complex<double>>(operands[0]), get<std::complex<double>>(last));
  }
  if (is_half(dtype)) {
    std::array<Element, 4> wide;
    for (std::size_t i = 0; i < operands.size(); ++i) wide[i] = widened(operands[i]);
    const Element result = apply_op(op, std::span(wide).first(operands.size()));
    return result.dtype == DType::f32 ? narrowed(dtype, static_cast<double>(get<float>(result))) : result;
  }
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T a = get<T>(operands[0]);
    const T b = operands.size() > 1 ? get<T>(operands[1]) : a;
    const T c = operands.size() > 2 ? get<T>(operands[2]) : a;
    return apply_to<T>(op, dtype, a, b, c, operands.size() > 3 ? get<T>(operands[3]) : a);
  });
}

Element cast(const Element& x, DType dtype) {
  if (x.dtype == dtype) return x;
  INLAY_CHECK(!is_complex(x.dtype) || is_complex(dtype), "a complex number was cast to ", dtype_name(dtype));
  if (is_complex(dtype)) return to_complex(x, dtype);
  if (is_half(x.dtype)) return cast(widened(x), dtype);
  if (is_half(dtype)) return narrowed(dtype, get<double>(cast(x, DType::f64)));
  return visit_dtype(x.dtype, [&](auto from) {
    return visit_dtype(dtype, [&](auto to) { return put(dtype, convert<decltype(to)>(get<decltype(from)>(x))); });
  });
}

}  // namespace inlay::kernel
