// exp of a matrix: a rational approximation of degree 13 of the matrix divided by a power of 2, squared that often.
// N. J. Higham, The Scaling and Squaring Method for the Matrix Exponential Revisited, SIAM J. Matrix Anal. Appl. 26
// (2005).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {
namespace {

/// Square matrices of one size. exp(a') = exp(a)': it does not matter whether they lie by rows or by columns.
template <class T>
struct Square {
  int n = 0;
  int64_t size = 0;

  void multiply(const T* a, const T* b, T* out) const {
    Lapack<T>::gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, T(1), a, n, b, n, T(0), out, n);
  }
  /// out = the sum of factors[i] * terms[i], and `constant` on the diagonal.
  template <std::size_t count>
  void combine(const std::array<T, count>& factors, const std::array<const T*, count>& terms, T constant,
               T* out) const {
    for (int64_t e = 0; e < size; ++e) {
      T sum = 0;
      for (std::size_t i = 0; i < count; ++i) sum += factors[i] * terms[i][e];
      out[e] = sum;
    }
    for (int64_t i = 0; i < n; ++i) out[i * (n + 1)] += constant;
  }
  T norm(const T* a) const {
    T greatest = 0;
    for (int64_t r = 0; r < n; ++r) {
      T sum = 0;
      for (int64_t c = 0; c < n; ++c) sum += std::fabs(a[r * n + c]);
      if (!(sum <= greatest)) greatest = sum;  // NaN stays
    }
    return greatest;
  }
};

}  // namespace

template <class T>
int32_t expm(const Call& call) {
  if (call.is_too_large(1)) return kTooLarge;
  const Square<T> square{call.count(0), call.size(0) * call.size(0)};
  constexpr std::array<T, 14> c = {T(64764752532480000),
                                   T(32382376266240000),
                                   T(7771770303897600),
                                   T(1187353796428800),
                                   T(129060195264000),
                                   T(10559470521600),
                                   T(670442572800),
                                   T(33522128640),
                                   T(1323241920),
                                   T(40840800),
                                   T(960960),
                                   T(16380),
                                   T(182),
                                   T(1)};
  Workspace workspace(call);
  T *a = workspace.take<T>(square.size), *a2 = workspace.take<T>(square.size), *a4 = workspace.take<T>(square.size),
    *a6 = workspace.take<T>(square.size), *u = workspace.take<T>(square.size), *v = workspace.take<T>(square.size);
  int* pivots = workspace.take_integers(square.n);
  for (int64_t point = 0; point < (square.size ? call.batch() : 0); ++point) {
    const T* from = call.operand<T>(0, point, square.size);
    T* out = call.result<T>(0, point, square.size);
    const T norm = square.norm(from);
    if (!std::isfinite(norm)) {
      std::fill(out, out + square.size, std::numeric_limits<T>::quiet_NaN());
      continue;
    }
    constexpr T kGreatest = T(5.371920351148152);  // up to here the approximation is exact to rounding
    const int halvings = norm > kGreatest ? static_cast<int>(std::ceil(std::log2(norm / kGreatest))) : 0;
    for (int64_t e = 0; e < square.size; ++e) a[e] = std::ldexp(from[e], -halvings);
    square.multiply(a, a, a2);
    square.multiply(a2, a2, a4);
    square.multiply(a4, a2, a6);
    // u = a (a6 (c13 a6 + c11 a4 + c9 a2) + c7 a6 + c5 a4 + c3 a2 + c1), v the same with even coefficients and without
    // a.
    square.combine(std::array{c[13], c[11], c[9]}, std::array<const T*, 3>{a6, a4, a2}, T(0), out);
    square.multiply(a6, out, v);
    square.combine(std::array{T(1), c[7], c[5], c[3]}, std::array<const T*, 4>{v, a6, a4, a2}, c[1], out);
    square.multiply(a, out, u);
    square.combine(std::array{c[12], c[10], c[8]}, std::array<const T*, 3>{a6, a4, a2}, T(0), out);
    square.multiply(a6, out, v);
    square.combine(std::array{T(1), c[6], c[4], c[2]}, std::array<const T*, 4>{v, a6, a4, a2}, c[0], v);
    square.combine(std::array{T(1), T(1)}, std::array<const T*, 2>{v, u}, T(0), out);
    square.combine(std::array{T(1), T(-1)}, std::array<const T*, 2>{v, u}, T(0), v);
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

template int32_t expm<float>(const Call&);
template int32_t expm<double>(const Call&);

}  // namespace inlay::library
