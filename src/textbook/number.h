#pragma once
// What is the same word for real and complex numbers.
#include <cmath>
#include <complex>

namespace inlay::textbook {

inline double conj(double x) { return x; }
inline std::complex<double> conj(std::complex<double> x) { return std::conj(x); }

/// |re| + |im|
inline double rough_size(double x) { return std::fabs(x); }
inline double rough_size(std::complex<double> x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

/// x without its size: of a real number its sign. In two steps, for numbers so small that their size is not exact.
template <class T>
T phase(T x) {
  if (x == T(0)) return T(1);
  const T near_one = x / rough_size(x);
  return near_one / std::abs(near_one);
}

}  // namespace inlay::textbook
