#include "textbook/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "textbook/number.h"

namespace inlay::textbook {

template <class T>
Matrix<T> Matrix<T>::identity(int64_t n) {
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

template <class T>
Matrix<T> Matrix<T>::transposed() const {
  Matrix out(columns, rows);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out(c, r) = (*this)(r, c);
  }
  return out;
}

template <class T>
Matrix<T> Matrix<T>::adjoint() const {
  Matrix out = transposed();
  for (T& e : out.elements) e = conj(e);
  return out;
}

template <class T>
void Matrix<T>::swap_rows(int64_t a, int64_t b) {
  for (int64_t c = 0; c < columns; ++c) std::swap((*this)(a, c), (*this)(b, c));
}

template <class T>
void Matrix<T>::swap_columns(int64_t a, int64_t b) {
  for (int64_t r = 0; r < rows; ++r) std::swap((*this)(r, a), (*this)(r, b));
}

template <class T>
double scale_down(Matrix<T>& a) {
  double largest = 0;
  for (const T& e : a.elements) {
    const double size = std::max(std::fabs(std::real(e)), std::fabs(std::imag(e)));
    if (!std::isfinite(size)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, size);
  }
  if (largest == 0) return 1;
  const double by = std::ldexp(1.0, std::ilogb(largest));
  for (T& e : a.elements) e /= by;
  return by;
}

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> out(a.rows, b.columns);
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      for (int64_t k = 0; k < a.columns; ++k) out(r, c) += a(r, k) * b(k, c);
    }
  }
  return out;
}

template <class T>
int64_t cholesky(Matrix<T>& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < a.columns; ++c) {
      if (c > r) {
        a(r, c) = 0;
        continue;
      }
      T rest = r == c ? T(std::real(a(r, c))) : a(r, c);
      for (int64_t k = 0; k < c; ++k) rest -= a(r, k) * conj(a(c, k));
      if (r == c && !(std::real(rest) > 0)) return r + 1;
      a(r, c) = r == c ? T(std::sqrt(std::real(rest))) : rest / a(c, c);
    }
  }
  return 0;
}

template <class T>
int64_t solve_triangular(const Matrix<T>& t, bool lower, bool unit_diagonal, Matrix<T>& b) {
  for (int64_t i = 0; i < t.rows && !unit_diagonal; ++i) {
    if (t(i, i) == T(0)) return i + 1;
  }
  for (int64_t step = 0; step < t.rows; ++step) {
    const int64_t row = lower ? step : t.rows - 1 - step;
    for (int64_t c = 0; c < b.columns; ++c) {
      for (int64_t k = lower ? 0 : row + 1; k < (lower ? row : t.rows); ++k) b(row, c) -= t(row, k) * b(k, c);
      if (!unit_diagonal) b(row, c) /= t(row, row);
    }
  }
  return 0;
}

template <class T>
int64_t lu_factor(Matrix<T>& a, std::vector<int64_t>& pivots) {
  int64_t first_zero = 0;
  pivots.clear();
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) {
    int64_t largest = i;
    for (int64_t r = i + 1; r < a.rows; ++r) {
      if (rough_size(a(r, i)) > rough_size(a(largest, i))) largest = r;
    }
    pivots.push_back(largest);
    a.swap_rows(i, largest);
    if (a(i, i) == T(0)) {
      if (first_zero == 0) first_zero = i + 1;
      continue;
    }
    for (int64_t r = i + 1; r < a.rows; ++r) {
      a(r, i) /= a(i, i);
      for (int64_t c = i + 1; c < a.columns; ++c) a(r, c) -= a(r, i) * a(i, c);
    }
  }
  return first_zero;
}

template <class T>
int64_t solve(Matrix<T> a, Matrix<T>& b) {
  std::vector<int64_t> pivots;
  const int64_t singular = lu_factor(a, pivots);
  if (singular != 0) return singular;
  for (std::size_t i = 0; i < pivots.size(); ++i) b.swap_rows(static_cast<int64_t>(i), pivots[i]);
  solve_triangular(a, /*lower=*/true, /*unit_diagonal=*/true, b);
  return solve_triangular(a, /*lower=*/false, /*unit_diagonal=*/false, b);
}

template <class T>
void tridiagonal_solve(const std::vector<T>& l, const Matrix<T>& u, std::span<const int64_t> pivots, bool transposed,
                       Matrix<T>& b) {
  const int64_t n = u.rows, steps = static_cast<int64_t>(l.size());
  const auto subtract = [&](int64_t from, T factor, int64_t other) {
    for (int64_t c = 0; c < b.columns; ++c) b(from, c) -= factor * b(other, c);
  };
  const auto divide = [&](int64_t i) {
    for (int64_t c = 0; c < b.columns; ++c) b(i, c) /= u(i, i);
  };
  if (transposed) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = std::max<int64_t>(i - 2, 0); j < i; ++j) subtract(i, u(j, i), j);
      divide(i);
    }
    for (int64_t i = steps; i-- > 0;) {
      subtract(i, l[static_cast<std::size_t>(i)], i + 1);
      b.swap_rows(i, pivots[static_cast<std::size_t>(i)]);
    }
    return;
  }
  for (int64_t i = 0; i < steps; ++i) {
    b.swap_rows(i, pivots[static_cast<std::size_t>(i)]);
    subtract(i + 1, l[static_cast<std::size_t>(i)], i);
  }
  for (int64_t i = n; i-- > 0;) {
    for (int64_t j = std::min(i + 2, n - 1); j > i; --j) subtract(i, u(i, j), j);
    divide(i);
  }
}

template <class T>
Matrix<T> expm(const Matrix<T>& a) {
  double norm = 0;
  for (const T& e : a.elements) norm += std::abs(e);
  Matrix<T> x = a;
  if (!std::isfinite(norm)) {
    std::ranges::fill(x.elements, T(std::numeric_limits<double>::quiet_NaN()));
    return x;
  }
  int halvings = 0;
  for (; norm > 0.25; norm /= 2) ++halvings;
  for (T& e : x.elements) e *= std::ldexp(1.0, -halvings);
  Matrix<T> sum = Matrix<T>::identity(a.rows), term = sum;
  for (int k = 1; k <= 18; ++k) {
    term = product(term, x);
    for (T& e : term.elements) e /= static_cast<double>(k);
    for (std::size_t e = 0; e < sum.elements.size(); ++e) sum.elements[e] += term.elements[e];
  }
  for (; halvings > 0; --halvings) sum = product(sum, sum);
  return sum;
}

#define INLAY_OF_ELEMENTS(T)                                                                               \
  template struct Matrix<T>;                                                                               \
  template Matrix<T> product(const Matrix<T>&, const Matrix<T>&);                                          \
  template double scale_down(Matrix<T>&);                                                                  \
  template int64_t cholesky(Matrix<T>&);                                                                   \
  template int64_t solve_triangular(const Matrix<T>&, bool, bool, Matrix<T>&);                             \
  template int64_t solve(Matrix<T>, Matrix<T>&);                                                           \
  template int64_t lu_factor(Matrix<T>&, std::vector<int64_t>&);                                           \
  template void tridiagonal_solve(const std::vector<T>&, const Matrix<T>&, std::span<const int64_t>, bool, \
                                  Matrix<T>&);                                                             \
  template Matrix<T> expm(const Matrix<T>&);
INLAY_OF_ELEMENTS(double)
INLAY_OF_ELEMENTS(std::complex<double>)
#undef INLAY_OF_ELEMENTS

}  // namespace inlay::textbook
