// Eigenvalues of any square matrix: its triangle by unitary steps (Schur's form), and vectors by substitution in that.
#include <algorithm>
#include <cmath>
#include <limits>

#include "textbook/matrix.h"

namespace inlay::textbook {
namespace {

using Number = std::complex<double>;
using Square = Matrix<Number>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon(), kLarge = 0x1p500;

double size_of(const Square& a) {
  double sum = 0;
  for (const Number& e : a.elements) sum = std::hypot(sum, std::abs(e));
  return sum;
}

/// The eigenvalue of the last 2 x 2 of the leading `n` that is nearer to its last element.
Number shift(const Square& t, int64_t n) {
  const Number a = t(n - 2, n - 2), b = t(n - 2, n - 1), c = t(n - 1, n - 2), d = t(n - 1, n - 1);
  const Number middle = (a + d) / 2.0, root = std::sqrt((a - d) * (a - d) / 4.0 + b * c);
  return std::abs(middle + root - d) < std::abs(middle - root - d) ? middle + root : middle - root;
}

/// One step on the leading `n`: t = q' t q, v = v q, with q of the shifted part.
void step(Square& t, Square& v, int64_t n, Number by) {
  Square part(n, n);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) part(r, c) = t(r, c) - (r == c ? by : Number(0));
  }
  const Square q = qr(part).q;
  Square whole = Square::identity(t.rows);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < n; ++c) whole(r, c) = q(r, c);
  }
  t = product(product(whole.adjoint(), t), whole);
  v = product(v, whole);
}

/// Is all of row `n` - 1 before its diagonal nothing beside the matrix?
bool is_settled(const Square& t, int64_t n, double size) {
  double left = 0;
  for (int64_t c = 0; c < n - 1; ++c) left = std::hypot(left, std::abs(t(n - 1, c)));
  return left <= kEpsilon * size;
}

/// The vectors of a triangle, by substitution from the diagonal up.
Square vectors_of_triangle(const Square& t, double size) {
  const int64_t n = t.rows;
  Square y(n, n);
  for (int64_t k = 0; k < n; ++k) {
    y(k, k) = 1;
    for (int64_t i = k - 1; i >= 0; --i) {
      Number sum = 0;
      for (int64_t j = i + 1; j <= k; ++j) sum += t(i, j) * y(j, k);
      Number distance = t(i, i) - t(k, k);
      if (!(std::abs(distance) > kEpsilon * size)) distance = std::max(kEpsilon * size, kEpsilon * kEpsilon);
      y(i, k) = -sum / distance;
      const bool is_large = std::abs(y(i, k)) > kLarge;  // its length is chosen in the end
      for (int64_t j = i; is_large && j <= k; ++j) y(j, k) /= kLarge;
    }
  }
  return y;
}

}  // namespace

Eigen eig(const Square& a) {
  const int64_t n = a.rows;
  Eigen out{{}, Square::identity(n)};
  Square t = a;
  const double by = scale_down(t), size = size_of(t);
  out.converged = std::isfinite(by);
  constexpr int kMostSteps = 500;
  for (int64_t left = n; left > 1 && out.converged; --left) {
    int steps = 0;
    for (; steps < kMostSteps && !is_settled(t, left, size); ++steps) {
      // Every tenth shift is another one, for matrices whose own leads in circles.
      step(t, out.v, left, steps % 10 == 9 ? Number(size, size / 3) : shift(t, left));
    }
    out.converged = steps < kMostSteps;
  }
  if (!out.converged) return out;
  for (int64_t i = 0; i < n; ++i) out.w.push_back(t(i, i) * by);
  out.v = product(out.v, vectors_of_triangle(t, size));
  for (int64_t c = 0; c < n; ++c) {
    double length = 0;
    for (int64_t r = 0; r < n; ++r) length = std::hypot(length, std::abs(out.v(r, c)));
    for (int64_t r = 0; r < n; ++r) out.v(r, c) /= length;
  }
  return out;
}

}  // namespace inlay::textbook
