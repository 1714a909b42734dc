// Eigenvalues of symmetric and Hermitian matrices, and singular values, by rotations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "textbook/matrix.h"
#include "textbook/number.h"

namespace inlay::textbook {

namespace {

/// What iterates ends here, also where infinities keep it from converging.
constexpr int kMostSweeps = 100;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
Matrix<T> all_nan(int64_t rows, int64_t columns) {
  Matrix<T> out(rows, columns);
  std::ranges::fill(out.elements, T(kNaN));
  return out;
}

}  // namespace

// Jacobi's rotations, row by row, until nothing is left beside the diagonal.
template <class T>
Hermitian<T> eigh(const Matrix<T>& lower) {
  const int64_t n = lower.rows;
  Matrix<T> a = lower;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = r + 1; c < n; ++c) a(r, c) = conj(lower(c, r));
    a(r, r) = std::real(lower(r, r));
  }
  const double by = scale_down(a);
  if (std::isnan(by)) return {std::vector(static_cast<std::size_t>(n), kNaN), all_nan<T>(n, n)};
  Matrix<T> v = Matrix<T>::identity(n);
  Hermitian<T> out{{}, Matrix<T>(n, n)};
  while (out.sweeps < kMostSweeps) {
    double beside = 0, all = 0;
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c < n; ++c) (r == c ? all : beside) += std::norm(a(r, c));
    }
    if (!(beside > 1e-34 * (all + beside))) break;
    ++out.sweeps;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == T(0)) continue;
        const T turn = conj(phase(a(p, q)));  // makes a(p, q) real
        for (int64_t k = 0; k < n; ++k) a(k, q) *= turn, v(k, q) *= turn;
        for (int64_t k = 0; k < n; ++k) a(q, k) *= conj(turn);
        const double theta = std::real(a(q, q) - a(p, p)) / (2 * std::real(a(p, q)));
        const double t = std::copysign(1 / (std::fabs(theta) + std::hypot(theta, 1.0)), theta);
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          const T x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          const T x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
        }
        a(p, q) = a(q, p) = 0;  // it is, but for rounding, which would keep the sweeps going
        for (int64_t k = 0; k < n; ++k) {
          const T x = v(k, p), y = v(k, q);
          v(k, p) = c * x - s * y;
          v(k, q) = s * x + c * y;
        }
      }
    }
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i);
  std::ranges::sort(order, [&](int64_t x, int64_t y) { return std::real(a(x, x)) < std::real(a(y, y)); });
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<std::size_t>(i)];
    out.w.push_back(std::real(a(from, from)) * by);
    for (int64_t k = 0; k < n; ++k) out.v(k, i) = v(k, from);
  }
  return out;
}

namespace {

/// Fills the columns of `u` from `first` on with what is orthonormal to all before them, by Gram and Schmidt.
template <class T>
void complete_columns(Matrix<T>& u, int64_t first) {
  for (int64_t c = first, unit = 0; c < u.columns && unit < u.rows; ++unit) {
    std::vector<T> x(static_cast<std::size_t>(u.rows), T(0));
    x[static_cast<std::size_t>(unit)] = 1;
    for (int again = 0; again < 2; ++again) {  // twice is enough
      for (int64_t k = 0; k < c; ++k) {
        T dot = 0;
        for (int64_t r = 0; r < u.rows; ++r) dot += conj(u(r, k)) * x[static_cast<std::size_t>(r)];
        for (int64_t r = 0; r < u.rows; ++r) x[static_cast<std::size_t>(r)] -= dot * u(r, k);
      }
    }
    double norm = 0;
    for (const T& e : x) norm = std::hypot(norm, std::abs(e));
    if (norm < 0.5 / std::sqrt(static_cast<double>(u.rows))) continue;  // nearly within the span: the next unit vector
    for (int64_t r = 0; r < u.rows; ++r) u(r, c) = x[static_cast<std::size_t>(r)] / norm;
    ++c;
  }
}

/// Makes columns p and q of `w` orthogonal, and turns those of `v` as far. False: they are, but for `rounding` of their
/// product.
template <class T>
bool make_orthogonal(Matrix<T>& w, Matrix<T>& v, int64_t p, int64_t q, double rounding) {
  double x = 0, y = 0;
  T dot = 0;
  for (int64_t k = 0; k < w.rows; ++k) {
    x += std::norm(w(k, p));
    y += std::norm(w(k, q));
    dot += conj(w(k, p)) * w(k, q);
  }
  const double xy = std::abs(dot);
  if (!(xy > rounding * std::sqrt(x * y))) return false;
  const double zeta = (y - x) / (2 * xy);
  const double t = std::copysign(1 / (std::fabs(zeta) + std::hypot(zeta, 1.0)), zeta);
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const T turn = conj(phase(dot));  // makes the product of the columns real
  for (Matrix<T>* of : {&w, &v}) {
    for (int64_t k = 0; k < of->rows; ++k) {
      const T e = (*of)(k, p), f = (*of)(k, q) * turn;
      (*of)(k, p) = c * e - s * f;
      (*of)(k, q) = s * e + c * f;
    }
  }
  return true;
}

}  // namespace

// Rotations of pairs of columns until all are orthogonal (Hestenes); their lengths are the singular values.
template <class T>
SVD<T> svd(const Matrix<T>& a, bool is_full) {
  if (a.rows < a.columns) {
    SVD<T> turned = svd(a.adjoint(), is_full);
    return {turned.vh.adjoint(), std::move(turned.s), turned.u.adjoint(), turned.sweeps};
  }
  const int64_t m = a.rows, n = a.columns, u_columns = is_full ? m : n;
  Matrix<T> w = a, v = Matrix<T>::identity(n);
  const double by = scale_down(w);
  if (std::isnan(by)) {
    return {all_nan<T>(m, u_columns), std::vector(static_cast<std::size_t>(n), kNaN), all_nan<T>(n, n)};
  }
  SVD<T> out{Matrix<T>(m, u_columns), {}, Matrix<T>(n, n)};
  const double rounding = 1e-16 * static_cast<double>(m + 2);  // of a product of two columns
  for (bool rotated = true; rotated && out.sweeps < kMostSweeps; out.sweeps += rotated) {
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) rotated |= make_orthogonal(w, v, p, q, rounding);
    }
  }
  std::vector<std::pair<double, int64_t>> lengths;
  for (int64_t c = 0; c < n; ++c) {
    double length = 0;
    for (int64_t k = 0; k < m; ++k) length = std::hypot(length, std::abs(w(k, c)));
    lengths.emplace_back(-length, c);
  }
  std::ranges::sort(lengths);
  int64_t independent = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto [negative, from] = lengths[static_cast<std::size_t>(i)];
    out.s.push_back(-negative * by);
    for (int64_t k = 0; k < n; ++k) out.vh(i, k) = conj(v(k, from));
    if (!(-negative > 1e-15 * -lengths[0].first)) continue;
    for (int64_t k = 0; k < m; ++k) out.u(k, i) = w(k, from) / -negative;
    ++independent;
  }
  complete_columns(out.u, independent);
  return out;
}

template Hermitian<double> eigh(const Matrix<double>&);
template Hermitian<std::complex<double>> eigh(const Matrix<std::complex<double>>&);
template SVD<double> svd(const Matrix<double>&, bool);
template SVD<std::complex<double>> svd(const Matrix<std::complex<double>>&, bool);

}  // namespace inlay::textbook
