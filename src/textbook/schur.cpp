// Schur's triangle, of one matrix and of two, one eigenvector after the other; and the equation of Sylvester.
#include <algorithm>
#include <cmath>
#include <limits>

#include "textbook/matrix.h"

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

template <class T>
Matrix<Number> as_complex(const Matrix<T>& a) {
  Matrix<Number> out(a.rows, a.columns);
  std::ranges::copy(a.elements, out.elements.begin());
  return out;
}

/// n x n: the identity, and in its last rows and columns an orthonormal basis whose first vectors span the columns.
template <class T>
Matrix<T> turn_to(const Matrix<T>& columns, int64_t n) {
  const Matrix<T> q = qr(columns).q;
  const int64_t from = n - q.rows;
  Matrix<T> turn = Matrix<T>::identity(n);
  for (int64_t r = 0; r < q.rows; ++r) {
    for (int64_t c = 0; c < q.columns; ++c) turn(from + r, from + c) = q(r, c);
  }
  return turn;
}

template <class T>
void clear_below(Matrix<T>& t, int64_t from, int64_t columns) {
  for (int64_t c = from; c < from + columns; ++c) {
    for (int64_t r = from + columns; r < t.rows; ++r) t(r, c) = 0;
  }
}

/// a x + b y
Matrix<Number> sum(const Matrix<Number>& x, Number a, const Matrix<Number>& y, Number b) {
  Matrix<Number> out(x.rows, x.columns);
  for (std::size_t e = 0; e < out.elements.size(); ++e) out.elements[e] = a * x.elements[e] + b * y.elements[e];
  return out;
}

/// beta a v = alpha b v, each v of length 1 and each pair of numbers too.
struct PencilEigen {
  std::vector<Number> alpha;
  std::vector<double> beta;
  Matrix<Number> v;
  bool converged = false;
};

/// By one matrix, (c a + s b)^-1 (c b - s a) with the cosine and sine of an angle: where its eigenvalue is m, alpha is
/// c - s m and beta s + c m. Since b may be singular, the angle is, of a few, that with the best inverse.
PencilEigen eig(const Matrix<Number>& a, const Matrix<Number>& b) {
  double best = 0, c = 1, s = 0;
  for (int i = 0; i < 5; ++i) {
    const double angle = 0.3 + 0.6 * i;
    const Matrix<Number> r = pivoted_qr(sum(a, std::cos(angle), b, std::sin(angle))).parts.r;
    const double minimum = std::abs(r(r.rows - 1, r.rows - 1)) / std::abs(r(0, 0));
    if (!(minimum > best)) continue;
    best = minimum, c = std::cos(angle), s = std::sin(angle);
  }
  PencilEigen out;
  Matrix<Number> turned = sum(a, -s, b, c);
  if (best == 0 || solve(sum(a, c, b, s), turned) != 0) return out;
  Eigen found = eig(turned);
  for (const Number& m : found.w) {
    const Number alpha = c - s * m, beta = s + c * m;
    const double size = std::hypot(std::abs(alpha), std::abs(beta)), part = std::abs(beta) / size;
    const bool is_infinite = part < 1e-12;
    out.alpha.push_back(is_infinite ? alpha / size : alpha * std::conj(beta) / (std::abs(beta) * size));
    out.beta.push_back(is_infinite ? 0 : part);
  }
  out.v = std::move(found.v);
  out.converged = found.converged;
  return out;
}

/// Turns the phase of column i of q, so that element i of the diagonal of t is positive.
template <class T>
void make_positive(QZ<T>& x, int64_t i) {
  const T e = x.t(i, i);
  if (e == T(0)) return;
  for (int64_t k = 0; k < x.t.rows; ++k) {
    x.q(k, i) *= e / std::abs(e);
    x.s(i, k) *= std::abs(e) / e;
    x.t(i, k) *= std::abs(e) / e;
  }
}

template <class T>
void fill_with_nan(std::vector<T>& elements) {
  std::ranges::fill(elements, T(std::numeric_limits<double>::quiet_NaN()));
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
    const Eigen found = eig(as_complex(left));
    if (!std::isfinite(size) || !found.converged) {
      fill_with_nan(out.t.elements);
      fill_with_nan(out.z.elements);
      return out;
    }
    const auto first = leads ? std::ranges::find_if(found.w, leads) : found.w.begin();
    const int64_t which = first == found.w.end() ? 0 : first - found.w.begin();
    const bool is_real = std::abs(found.w[static_cast<std::size_t>(which)].imag()) <= 1e-9 * size;
    const Matrix<T> columns = columns_of(found.v, which, is_real, T());
    const Matrix<T> turn = turn_to(columns, n);
    out.t = product(product(turn.adjoint(), out.t), turn);
    out.z = product(out.z, turn);
    clear_below(out.t, done, columns.columns);
    done += columns.columns;
  }
  return out;
}

template <class T>
QZ<T> qz(const Matrix<T>& a, const Matrix<T>& b, bool (*leads)(Number alpha, double beta)) {
  const int64_t n = a.rows;
  QZ<T> out{a, b, Matrix<T>::identity(n), Matrix<T>::identity(n), {}, {}};
  const auto is_finite = [](const T& e) { return std::isfinite(std::abs(e)); };
  const bool finite = std::ranges::all_of(a.elements, is_finite) && std::ranges::all_of(b.elements, is_finite);
  for (int64_t done = 0; done < n;) {
    const Matrix<Number> left = as_complex(corner(out.s, done)), right = as_complex(corner(out.t, done));
    const PencilEigen found = finite ? eig(left, right) : PencilEigen();
    if (!found.converged) {
      for (Matrix<T>* part : {&out.s, &out.t, &out.q, &out.z}) fill_with_nan(part->elements);
      out.alpha.assign(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
      out.beta.assign(static_cast<std::size_t>(n), std::numeric_limits<double>::quiet_NaN());
      return out;
    }
    int64_t which = 0;
    while (leads && which < n - done && !leads(found.alpha[which], found.beta[which])) ++which;
    which = which == n - done ? 0 : which;
    const Number alpha = found.alpha[which];
    const double beta = found.beta[which];
    const bool is_real = std::abs(alpha.imag()) <= 1e-9;
    const Matrix<T> z_columns = columns_of(found.v, which, is_real, T());
    const bool is_pair = z_columns.columns == 2;
    // a v and b v go one way, that of u, but where one of them is 0. Of many vectors of one real eigenvalue any sum is
    // another, so v may be complex; its real part is one of them.
    const Matrix<Number> v = is_pair ? columns_of(found.v, which, true, Number()) : as_complex(z_columns);
    const Matrix<Number> u = sum(product(left, v), std::conj(alpha), product(right, v), beta);
    const Matrix<T> q_columns = columns_of(u, 0, is_real, T());
    const Matrix<T> q = turn_to(q_columns, n), z = turn_to(z_columns, n);
    for (Matrix<T>* triangle : {&out.s, &out.t}) {
      *triangle = product(product(q.adjoint(), *triangle), z);
      clear_below(*triangle, done, z_columns.columns);
    }
    out.q = product(out.q, q);
    out.z = product(out.z, z);
    if (!is_pair) {
      make_positive(out, done);
      if (beta == 0) out.t(done, done) = 0;
      out.alpha.push_back(out.s(done, done));
      out.beta.push_back(std::real(out.t(done, done)));
    } else {
      const T block = out.t(done, done) * out.t(done + 1, done + 1) - out.t(done, done + 1) * out.t(done + 1, done);
      const double size = std::sqrt(std::abs(block));  // so that the product of all beta is the determinant's size
      out.alpha.insert(out.alpha.end(), {alpha / beta * size, std::conj(alpha) / beta * size});
      out.beta.insert(out.beta.end(), {size, size});
    }
    done += z_columns.columns;
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
template QZ<double> qz(const Matrix<double>&, const Matrix<double>&, bool (*)(Number, double));
template QZ<Number> qz(const Matrix<Number>&, const Matrix<Number>&, bool (*)(Number, double));
template Matrix<double> sylvester(const Matrix<double>&, const Matrix<double>&, const Matrix<double>&);
template Matrix<Number> sylvester(const Matrix<Number>&, const Matrix<Number>&, const Matrix<Number>&);

}  // namespace inlay::textbook
