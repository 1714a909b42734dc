#include "textbook/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inlay::textbook {

Matrix Matrix::identity(int64_t n) {
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

Matrix Matrix::transposed() const {
  Matrix out(columns, rows);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out(c, r) = (*this)(r, c);
  }
  return out;
}

void Matrix::swap_rows(int64_t a, int64_t b) {
  for (int64_t c = 0; c < columns; ++c) std::swap((*this)(a, c), (*this)(b, c));
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows, b.columns);
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      for (int64_t k = 0; k < a.columns; ++k) out(r, c) += a(r, k) * b(k, c);
    }
  }
  return out;
}

int64_t cholesky(Matrix& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < a.columns; ++c) {
      if (c > r) {
        a(r, c) = 0;
        continue;
      }
      double rest = a(r, c);
      for (int64_t k = 0; k < c; ++k) rest -= a(r, k) * a(c, k);
      if (r == c && !(rest > 0)) return r + 1;
      a(r, c) = r == c ? std::sqrt(rest) : rest / a(c, c);
    }
  }
  return 0;
}

int64_t solve_triangular(const Matrix& t, bool lower, bool unit_diagonal, Matrix& b) {
  for (int64_t i = 0; i < t.rows && !unit_diagonal; ++i) {
    if (t(i, i) == 0) return i + 1;
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

int64_t lu_factor(Matrix& a, std::vector<int64_t>& pivots) {
  int64_t first_zero = 0;
  pivots.clear();
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) {
    int64_t largest = i;
    for (int64_t r = i + 1; r < a.rows; ++r) {
      if (std::fabs(a(r, i)) > std::fabs(a(largest, i))) largest = r;
    }
    pivots.push_back(largest);
    a.swap_rows(i, largest);
    if (a(i, i) == 0) {
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

int64_t solve(Matrix a, Matrix& b) {
  std::vector<int64_t> pivots;
  const int64_t singular = lu_factor(a, pivots);
  if (singular != 0) return singular;
  for (std::size_t i = 0; i < pivots.size(); ++i) b.swap_rows(static_cast<int64_t>(i), pivots[i]);
  solve_triangular(a, /*lower=*/true, /*unit_diagonal=*/true, b);
  return solve_triangular(a, /*lower=*/false, /*unit_diagonal=*/false, b);
}

Matrix expm(const Matrix& a) {
  double norm = 0;
  for (double e : a.elements) norm += std::fabs(e);
  Matrix x = a;
  if (!std::isfinite(norm)) {
    std::ranges::fill(x.elements, std::numeric_limits<double>::quiet_NaN());
    return x;
  }
  int halvings = 0;
  for (; norm > 0.25; norm /= 2) ++halvings;
  for (double& e : x.elements) e = std::ldexp(e, -halvings);
  Matrix sum = Matrix::identity(a.rows), term = sum;
  for (int k = 1; k <= 18; ++k) {
    term = product(term, x);
    for (double& e : term.elements) e /= k;
    for (std::size_t e = 0; e < sum.elements.size(); ++e) sum.elements[e] += term.elements[e];
  }
  for (; halvings > 0; --halvings) sum = product(sum, sum);
  return sum;
}

// Householder's reflections with the signs that LAPACK documents: a column that is zero below its diagonal is left as
// it is.
QR qr(const Matrix& a) {
  QR out{Matrix::identity(a.rows), a};
  Matrix& r = out.r;
  for (int64_t i = 0; i < std::min(a.rows, a.columns); ++i) {
    double below = 0;
    for (int64_t k = i + 1; k < a.rows; ++k) below = std::hypot(below, r(k, i));
    if (below == 0) continue;
    const double beta = -std::copysign(std::hypot(r(i, i), below), r(i, i));
    const double tau = (beta - r(i, i)) / beta;
    std::vector<double> v(static_cast<std::size_t>(a.rows), 0.0);
    v[static_cast<std::size_t>(i)] = 1;
    for (int64_t k = i + 1; k < a.rows; ++k) v[static_cast<std::size_t>(k)] = r(k, i) / (r(i, i) - beta);
    const auto at = [&](int64_t k) { return v[static_cast<std::size_t>(k)]; };
    for (int64_t c = 0; c < r.columns; ++c) {  // r = (1 - tau v v') r
      double dot = 0;
      for (int64_t k = i; k < a.rows; ++k) dot += at(k) * r(k, c);
      for (int64_t k = i; k < a.rows; ++k) r(k, c) -= tau * dot * at(k);
    }
    for (int64_t row = 0; row < a.rows; ++row) {  // q = q (1 - tau v v')
      double dot = 0;
      for (int64_t k = i; k < a.rows; ++k) dot += out.q(row, k) * at(k);
      for (int64_t k = i; k < a.rows; ++k) out.q(row, k) -= tau * dot * at(k);
    }
  }
  for (int64_t row = 0; row < r.rows; ++row) {
    for (int64_t c = 0; c < std::min(row, r.columns); ++c) r(row, c) = 0;
  }
  return out;
}

namespace {

/// What iterates ends here, also where infinities keep it from converging.
constexpr int kMostSweeps = 100;

}  // namespace

// Jacobi's rotations, row by row, until nothing is left beside the diagonal.
Eigen eigh(const Matrix& lower) {
  const int64_t n = lower.rows;
  Matrix a = lower;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = r + 1; c < n; ++c) a(r, c) = lower(c, r);
  }
  Matrix v = Matrix::identity(n);
  Eigen out{{}, Matrix(n, n)};
  while (out.sweeps < kMostSweeps) {
    double beside = 0, all = 0;
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c < n; ++c) (r == c ? all : beside) += a(r, c) * a(r, c);
    }
    if (!(beside > 1e-34 * (all + beside))) break;
    ++out.sweeps;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = std::copysign(1 / (std::fabs(theta) + std::hypot(theta, 1.0)), theta);
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          const double x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y;
          a(k, q) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y;
          a(q, k) = s * x + c * y;
        }
        a(p, q) = a(q, p) = 0;  // it is, but for rounding, which would keep the sweeps going
        for (int64_t k = 0; k < n; ++k) {
          const double x = v(k, p), y = v(k, q);
          v(k, p) = c * x - s * y;
          v(k, q) = s * x + c * y;
        }
      }
    }
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i);
  std::ranges::sort(order, [&](int64_t x, int64_t y) { return a(x, x) < a(y, y); });
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = order[static_cast<std::size_t>(i)];
    out.w.push_back(a(from, from));
    for (int64_t k = 0; k < n; ++k) out.v(k, i) = v(k, from);
  }
  return out;
}

namespace {

/// Fills the columns of `u` from `first` on with what is orthonormal to all before them, by Gram and Schmidt.
void complete_columns(Matrix& u, int64_t first) {
  for (int64_t c = first, unit = 0; c < u.columns && unit < u.rows; ++unit) {
    std::vector<double> x(static_cast<std::size_t>(u.rows), 0.0);
    x[static_cast<std::size_t>(unit)] = 1;
    for (int again = 0; again < 2; ++again) {  // twice is enough
      for (int64_t k = 0; k < c; ++k) {
        double dot = 0;
        for (int64_t r = 0; r < u.rows; ++r) dot += u(r, k) * x[static_cast<std::size_t>(r)];
        for (int64_t r = 0; r < u.rows; ++r) x[static_cast<std::size_t>(r)] -= dot * u(r, k);
      }
    }
    double norm = 0;
    for (double e : x) norm = std::hypot(norm, e);
    if (norm < 0.5 / std::sqrt(static_cast<double>(u.rows))) continue;  // nearly within the span: the next unit vector
    for (int64_t r = 0; r < u.rows; ++r) u(r, c) = x[static_cast<std::size_t>(r)] / norm;
    ++c;
  }
}

}  // namespace

// Rotations of pairs of columns until all are orthogonal (Hestenes); their lengths are the singular values.
SVD svd(const Matrix& a) {
  if (a.rows < a.columns) {
    SVD turned = svd(a.transposed());
    return {turned.vh.transposed(), std::move(turned.s), turned.u.transposed(), turned.sweeps};
  }
  const int64_t m = a.rows, n = a.columns;
  Matrix w = a, v = Matrix::identity(n);
  SVD out{Matrix(m, m), {}, Matrix(n, n)};
  const double rounding = 1e-16 * static_cast<double>(m + 2);  // of a product of two columns
  for (bool rotated = true; rotated && out.sweeps < kMostSweeps; out.sweeps += rotated) {
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double x = 0, y = 0, xy = 0;
        for (int64_t k = 0; k < m; ++k) {
          x += w(k, p) * w(k, p);
          y += w(k, q) * w(k, q);
          xy += w(k, p) * w(k, q);
        }
        if (!(std::fabs(xy) > rounding * std::sqrt(x * y))) continue;
        rotated = true;
        const double zeta = (y - x) / (2 * xy);
        const double t = std::copysign(1 / (std::fabs(zeta) + std::hypot(zeta, 1.0)), zeta);
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        const auto rotate = [&](Matrix& of) {
          for (int64_t k = 0; k < of.rows; ++k) {
            const double e = of(k, p), f = of(k, q);
            of(k, p) = c * e - s * f;
            of(k, q) = s * e + c * f;
          }
        };
        rotate(w);
        rotate(v);
      }
    }
  }
  std::vector<std::pair<double, int64_t>> lengths;
  for (int64_t c = 0; c < n; ++c) {
    double length = 0;
    for (int64_t k = 0; k < m; ++k) length = std::hypot(length, w(k, c));
    lengths.emplace_back(-length, c);
  }
  std::ranges::sort(lengths);
  int64_t independent = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto [negative, from] = lengths[static_cast<std::size_t>(i)];
    out.s.push_back(-negative);
    for (int64_t k = 0; k < n; ++k) out.vh(i, k) = v(k, from);
    if (!(-negative > 1e-15 * -lengths[0].first)) continue;
    for (int64_t k = 0; k < m; ++k) out.u(k, i) = w(k, from) / -negative;
    ++independent;
  }
  complete_columns(out.u, independent);
  return out;
}

}  // namespace inlay::textbook
