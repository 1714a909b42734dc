#pragma once
// What the rows of scalar_ops.def mean for complex numbers, where that is more than a call of the C++ library.
//
// NumPy's formulas, so that infinities and NaN come out as its: products and squares by parts without C's repair of
// infinities, quotients by Smith's method, z / |z| for sign.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace inlay {

template <class R>
using Complex = std::complex<R>;

template <class R>
Complex<R> complex_mul(Complex<R> a, Complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Smith (1962): divides by the larger part of b first, so that nothing overflows early.
template <class R>
Complex<R> complex_div(Complex<R> a, Complex<R> b) {
  const R re = std::fabs(b.real()), im = std::fabs(b.imag());
  if (re >= im) {
    if (re == 0 && im == 0) return {a.real() / re, a.imag() / re};
    const R ratio = b.imag() / b.real(), scale = R(1) / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const R ratio = b.real() / b.imag(), scale = R(1) / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

template <class R>
Complex<R> complex_reciprocal(Complex<R> a) {
  if (std::fabs(a.imag()) <= std::fabs(a.real())) {
    const R ratio = a.imag() / a.real(), whole = a.real() + a.imag() * ratio;
    return {R(1) / whole, -ratio / whole};
  }
  const R ratio = a.real() / a.imag(), whole = a.real() * ratio + a.imag();
  return {ratio / whole, R(-1) / whole};
}

/// z / |z|, 0 for 0. What is infinite in one part points along it, whatever the other is.
template <class R>
Complex<R> complex_sign(Complex<R> a) {
  constexpr R kNan = std::numeric_limits<R>::quiet_NaN();
  const bool far = std::isinf(a.real()), high = std::isinf(a.imag());
  if (far && high) return {kNan, kNan};
  if (far || high) return {far ? std::copysign(R(1), a.real()) : R(0), high ? std::copysign(R(1), a.imag()) : R(0)};
  if (a == Complex<R>()) return {};
  const bool large = std::fabs(a.real()) > 1 || std::fabs(a.imag()) > 1;
  const R x = large ? a.real() / 2 : a.real(), y = large ? a.imag() / 2 : a.imag();  // or their size may overflow
  const R size = std::hypot(x, y);
  if (std::isnan(size)) return {kNan, kNan};
  return {x / size, y / size};
}

/// Without the cancellation of exp(a) - 1 near 0.
template <class R>
Complex<R> complex_expm1(Complex<R> a) {
  const R half = std::sin(a.imag() / 2);
  return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, std::exp(a.real()) * std::sin(a.imag())};
}

/// log |1 + a| as half of log1p(|1 + a|^2 - 1) near 0, where the square is almost 1.
template <class R>
Complex<R> complex_log1p(Complex<R> a) {
  const R x = a.real(), y = a.imag();
  const bool near = std::fabs(x) < R(0.5) && std::fabs(y) < R(0.5);
  const R size = near ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y));
  return {size, std::atan2(y, 1 + x)};
}

/// In f64 always: rounded to f32, a large angle has no digits left.
template <class R>
Complex<R> complex_exp2(Complex<R> a) {
  return Complex<R>(std::exp(Complex<double>(a) * std::numbers::ln2));
}

template <class R>
Complex<R> complex_log2(Complex<R> a) {
  return std::log(a) * std::numbers::log2e_v<R>;
}

template <class R>
Complex<R> complex_log10(Complex<R> a) {
  return std::log(a) * std::numbers::log10e_v<R>;
}

/// A whole power below 100 by multiplying, as NumPy: (2+0i)^3 is 8+0i. 0 to a power below 0 is NaN. Others in f64, as
/// complex_exp2.
template <class R>
Complex<R> complex_pow(Complex<R> a, Complex<R> b) {
  constexpr R kNan = std::numeric_limits<R>::quiet_NaN();
  if (b == Complex<R>()) return {R(1), R(0)};
  if (a == Complex<R>()) return b.real() > 0 ? Complex<R>() : Complex<R>(kNan, kNan);
  if (b.imag() == 0 && std::fabs(b.real()) < 100 && b.real() == std::trunc(b.real())) {
    Complex<R> power(1), factor = a;
    for (auto rest = static_cast<int>(std::fabs(b.real())); rest != 0; rest /= 2) {
      if (rest % 2 == 1) power = power == Complex<R>(1) ? factor : complex_mul(power, factor);
      if (rest > 1) factor = complex_mul(factor, factor);
    }
    return b.real() > 0 ? power : complex_reciprocal(power);
  }
  return Complex<R>(std::pow(Complex<double>(a), Complex<double>(b)));
}

}  // namespace inlay
