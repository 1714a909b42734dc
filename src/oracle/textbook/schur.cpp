// Schur's triangle, one eigenvector after the other, and the equation of Sylvester.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/textbook/matrix.h"

namespace inlay::textbook {
namespace {

using Number = std::complex<double>;

template <class T>
Matrix<T> corner(const Matrix<T>& a, int64_t from) {
  Matrix<T> out(a.rows - from, a.columns - from);
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) out(r, c) = a(from + r, from + c);
  }
  return out;
}

/// Columns that span what the eigenvector does: of a real matrix, its two parts, or where it is real but for a phase,
/// one.
Matrix<double> columns_of(const Matrix<Number>& v, int64_t which, bool is_real, double /*of*/) {
  int64_t largest = 0;
  for (int64_t r = 1; r < v.rows; ++r) {
    if (std::abs(v(r, which)) > std::abs(v(largest, which))) largest = r;
  }
  const Number phase = v(largest, which) / std::abs(v(largest, which));
  Matrix<double> out(v.rows, is_real ? 1 : 2);
  for (int64_t r = 0; r < v.rows; ++r) {
    const Number e = v(r, which) / phase;
    out(r, 0) = e.real();
    if (!is_real) out(r, 1) = e.imag();
  }
  return out;
}
Matrix<Number> columns_of(const Matrix<Number>& v, int64_t which, bool, Number /*of*/) {
  Matrix<Number> out(v.rows, 1);
  for (int64_t r = 0; r < v.rows; ++r) out(r, 0) = v(r, which);
  return out;
}

}  // namespace

template <class T>
Schur<T> schur(const Matrix<T>& a, bool (*leads)(Number)) {
  const int64_t n = a.rows;
  Schur<T> out{a, Matrix<T>::identity(n)};
  double size = 0;
  for (const T& e : a.elements) size = std::hypot(size, std::abs(e));
  for (int64_t done = 0; done < n;) {
    const Matrix<T> left = corner(out.t, done);
    Matrix<Number> whole(left.rows, left.columns);
    std::ranges::copy(left.elements, whole.elements.begin());
    const Eigen found = eig(whole);
    if (!std::isfinite(size) || !found.converged) {
      std::ranges::fill(out.t.elements, T(std::numeric_limits<double>::quiet_NaN()));
      std::ranges::fill(out.z.elements, T(std::numeric_limits<double>::quiet_NaN()));
      return out;
    }
    const auto first = leads ? std::ranges::find_if(found.w, leads) : found.w.begin();
    const int64_t which = first == found.w.end() ? 0 : first - found.w.begin();
    const bool is_real = std::abs(found.w[static_cast<std::size_t>(which)].imag()) <= 1e-9 * size;
    const Matrix<T> columns = columns_of(found.v, which, is_real, T());
    const Matrix<T> q = qr(columns).q;
    Matrix<T> turn = Matrix<T>::identity(n);
    for (int64_t r = 0; r < q.rows; ++r) {
      for (int64_t c = 0; c < q.columns; ++c) turn(done + r, done + c) = q(r, c);
    }
    out.t = product(product(turn.adjoint(), out.t), turn);
    out.z = product(out.z, turn);
    for (int64_t c = done; c < done + columns.columns; ++c) {
      for (int64_t r = done + columns.columns; r < n; ++r) out.t(r, c) = 0;
    }
    done += columns.columns;
  }
  return out;
}

template <class T>
Matrix<T> sylvester(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  const int64_t below = std::is_same_v<T, double> ? 1 : 0, m = a.rows, n = b.rows;
  const auto part = [&](const Matrix<T>& x, int64_t row, int64_t column) {
    return row - column <= below ? x(row, column) : T(0);
  };
  Matrix<T> system(m * n, m * n), x(m * n, 1);
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t row = r * n + k;
      x(row, 0) = c(r, k);
      for (int64_t i = 0; i < m; ++i) system(row, i * n + k) += part(a, r, i);
      for (int64_t i = 0; i < n; ++i) system(row, r * n + i) += part(b, i, k);
    }
  }
  solve(system, x);
  Matrix<T> out(m, n);
  out.elements = x.elements;
  return out;
}

template Schur<double> schur(const Matrix<double>&, bool (*)(Number));
template Schur<Number> schur(const Matrix<Number>&, bool (*)(Number));
template Matrix<double> sylvester(const Matrix<double>&, const Matrix<double>&, const Matrix<double>&);
template Matrix<Number> sylvester(const Matrix<Number>&, const Matrix<Number>&, const Matrix<Number>&);

}  // namespace inlay::textbook
