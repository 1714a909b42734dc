// Factors with orthonormal columns.
#include <algorithm>
#include <cmath>

#include "textbook/matrix.h"
#include "textbook/number.h"

namespace inlay::textbook {

namespace {

/// 1 - tau v v'
template <class T>
struct Reflection {
  T tau = 0;
  std::vector<T> v;
};

/// One of Householder's reflections, with the signs that LAPACK documents: it makes column i real on the diagonal and
/// zero below. A column that is so already is left as it is.
template <class T>
Reflection<T> reflect(QR<T>& parts, int64_t i) {
  Matrix<T>& r = parts.r;
  double below = 0;
  for (int64_t k = i + 1; k < r.rows; ++k) below = std::hypot(below, std::abs(r(k, i)));
  const T alpha = r(i, i);
  std::vector<T> v(static_cast<std::size_t>(r.rows), T(0));
  if (below == 0 && std::imag(alpha) == 0) return {0, v};
  const double beta = -std::copysign(std::hypot(std::abs(alpha), below), std::real(alpha));
  const T tau = (T(beta) - alpha) / beta;
  v[static_cast<std::size_t>(i)] = 1;
  for (int64_t k = i + 1; k < r.rows; ++k) v[static_cast<std::size_t>(k)] = r(k, i) / (alpha - T(beta));
  const auto at = [&](int64_t k) { return v[static_cast<std::size_t>(k)]; };
  for (int64_t c = 0; c < r.columns; ++c) {  // r = (1 - tau v v')' r
    T dot = 0;
    for (int64_t k = i; k < r.rows; ++k) dot += conj(at(k)) * r(k, c);
    for (int64_t k = i; k < r.rows; ++k) r(k, c) -= conj(tau) * dot * at(k);
  }
  for (int64_t row = 0; row < r.rows; ++row) {  // q = q (1 - tau v v')
    T dot = 0;
    for (int64_t k = i; k < r.rows; ++k) dot += parts.q(row, k) * at(k);
    for (int64_t k = i; k < r.rows; ++k) parts.q(row, k) -= tau * dot * conj(at(k));
  }
  return {tau, v};
}

template <class T>
void clear_below_diagonal(Matrix<T>& r) {
  for (int64_t row = 0; row < r.rows; ++row) {
    for (int64_t c = 0; c < std::min(row, r.columns); ++c) r(row, c) = 0;
  }
}

/// Of the rows from `row` on.
template <class T>
double length(const Matrix<T>& a, int64_t column, int64_t row) {
  double out = 0;
  for (; row < a.rows; ++row) out = std::hypot(out, std::abs(a(row, column)));
  return out;
}

}  // namespace

template <class T>
QR<T> qr(const Matrix<T>& a) {
  QR<T> out{Matrix<T>::identity(a.rows), a};
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) reflect(out, i);
  clear_below_diagonal(out.r);
  return out;
}

namespace {

/// `after` is told of each column and its reflection.
template <class T, class After>
PivotedQR<T> by_reflections(const Matrix<T>& a, bool pivots, After after) {
  PivotedQR<T> out{{Matrix<T>::identity(a.rows), a}, {}};
  Matrix<T>& r = out.parts.r;
  for (int64_t c = 0; c < a.columns; ++c) out.order.push_back(c);
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) {
    int64_t longest = i;
    for (int64_t c = i + 1; pivots && c < a.columns; ++c) {
      if (length(r, c, i) > length(r, longest, i) * (1 + 1e-12)) longest = c;  // equals stay in their order
    }
    r.swap_columns(i, longest);
    std::swap(out.order[static_cast<std::size_t>(i)], out.order[static_cast<std::size_t>(longest)]);
    after(i, reflect(out.parts, i));
  }
  clear_below_diagonal(r);
  return out;
}

}  // namespace

template <class T>
PivotedQR<T> pivoted_qr(Matrix<T> a) {
  return by_reflections(a, true, [](int64_t, const Reflection<T>&) {});
}

template <class T>
RawQR<T> raw_qr(Matrix<T> a, bool pivots) {
  RawQR<T> out{Matrix<T>(a.rows, a.columns), {}, {}};
  const PivotedQR<T> found = by_reflections(a, pivots, [&](int64_t i, const Reflection<T>& by) {
    out.tau.push_back(by.tau);
    for (int64_t k = i + 1; k < a.rows; ++k) out.reflections(k, i) = by.v[static_cast<std::size_t>(k)];
  });
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t c = row; c < a.columns; ++c) out.reflections(row, c) = found.parts.r(row, c);
  }
  out.order = found.order;
  return out;
}

template QR<double> qr(const Matrix<double>&);
template QR<std::complex<double>> qr(const Matrix<std::complex<double>>&);
template PivotedQR<double> pivoted_qr(Matrix<double>);
template RawQR<double> raw_qr(Matrix<double>, bool);
template RawQR<std::complex<double>> raw_qr(Matrix<std::complex<double>>, bool);
template PivotedQR<std::complex<double>> pivoted_qr(Matrix<std::complex<double>>);

}  // namespace inlay::textbook
