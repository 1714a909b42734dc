// exp of a matrix: a rational approximation of degree 13 of the matrix divided by a power of 2, squared as many times.
// N. J. Higham, The Scaling and Squaring Method for the Matrix Exponential Revisited, SIAM J. Matrix Anal. Appl. 26
// (2005).
#include <algorithm>
#include <array>
#include <cmath>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {
namespace {

/// Square matrices of one size. exp(a') = exp(a)', so row-major and column-major make no difference.
template <class T>
struct Square {
  int n = 0;
  int64_t size = 0;

  void multiply(const T* a, const T* b, T* out) const {
    Lapack<T>::gemm(Turned::no, Turned::no, n, n, n, a, n, b, n, out, n);
  }
  /// out = the sum of factors[i] * terms[i], and `constant` on the diagonal.
  template <std::size_t count>
  void combine(const std::array<Real<T>, count>& factors, const std::array<const T*, count>& terms, Real<T> constant,
               T* out) const {
    for (int64_t e = 0; e < size; ++e) {
      T sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += factors[i] * terms[i][e];
      out[e] = sum;
    }
    for (int64_t i = 0; i < n; ++i) out[i * (n + 1)] += constant;
  }
  Real<T> norm(View<const T> a) const {
    Real<T> maximum = 0;
    for (int64_t r = 0; r < n; ++r) {
      Real<T> sum = 0;
      for (int64_t c = 0; c < n; ++c) sum += std::abs(a(r, c));
      if (!(sum <= maximum)) maximum = sum;  // NaN stays
    }
    return maximum;
  }
};

/// Of the approximation, by power.
template <class R>
constexpr std::array<R, 14> kCoefficients = {R(64764752532480000),
                                             R(32382376266240000),
                                             R(7771770303897600),
                                             R(1187353796428800),
                                             R(129060195264000),
                                             R(10559470521600),
                                             R(670442572800),
                                             R(33522128640),
                                             R(1323241920),
                                             R(40840800),
                                             R(960960),
                                             R(16380),
                                             R(182),
                                             R(1)};

}  // namespace

template <class T>
int32_t expm(const Call& call) {
  if (call.is_too_large(1)) return kTooLarge;
  using R = Real<T>;
  const Square<T> square{call.count(0), call.size(0) * call.size(0)};
  constexpr const std::array<R, 14>& c = kCoefficients<R>;
  Workspace workspace(call);
  T *a = workspace.take<T>(square.size), *a2 = workspace.take<T>(square.size), *a4 = workspace.take<T>(square.size),
    *a6 = workspace.take<T>(square.size), *u = workspace.take<T>(square.size), *v = workspace.take<T>(square.size);
  int* pivots = workspace.take_integers(square.n);
  for (int64_t point = 0; point < (square.size ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> from = call.operand<T>(0, point);
    T* out = call.result<T>(0, point).data;
    const R norm = square.norm(from);
    if (!std::isfinite(norm)) {
      std::fill(out, out + square.size, not_a_number<T>());
      continue;
    }
    constexpr R kGreatest = R(5.371920351148152);  // up to here the approximation is exact to rounding
    const int halvings = norm > kGreatest ? static_cast<int>(std::ceil(std::log2(norm / kGreatest))) : 0;
    const R scale = std::ldexp(R(1), -halvings);
    copy(from, square.n, square.n, by_rows(a, square.n));
    for (int64_t e = 0; e < square.size; ++e) a[e] *= scale;
    square.multiply(a, a, a2);
    square.multiply(a2, a2, a4);
    square.multiply(a4, a2, a6);
    // u = a (a6 (c13 a6 + c11 a4 + c9 a2) + c7 a6 + c5 a4 + c3 a2 + c1), v the same with even coefficients and without
    // a.
    square.combine(std::array{c[13], c[11], c[9]}, std::array<const T*, 3>{a6, a4, a2}, R(0), out);
    square.multiply(a6, out, v);
    square.combine(std::array{R(1), c[7], c[5], c[3]}, std::array<const T*, 4>{v, a6, a4, a2}, c[1], out);
    square.multiply(a, out, u);
    square.combine(std::array{c[12], c[10], c[8]}, std::array<const T*, 3>{a6, a4, a2}, R(0), out);
    square.multiply(a6, out, v);
    square.combine(std::array{R(1), c[6], c[4], c[2]}, std::array<const T*, 4>{v, a6, a4, a2}, c[0], v);
    square.combine(std::array{R(1), R(1)}, std::array<const T*, 2>{v, u}, R(0), out);
    square.combine(std::array{R(1), R(-1)}, std::array<const T*, 2>{v, u}, R(0), v);
    int info = 0;
    Lapack<T>::getrf(&square.n, &square.n, v, &square.n, pivots, &info);
    Lapack<T>::getrs("N", &square.n, &square.n, v, &square.n, pivots, out, &square.n, &info, 1);
    for (int i = 0; i < halvings; ++i) {
      square.multiply(out, out, a);
      std::copy(a, a + square.size, out);
    }
  }
  return 0;
}

INLAY_OF_FIELDS(expm)

}  // namespace inlay::library
