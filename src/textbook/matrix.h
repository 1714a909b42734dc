#pragma once
// A small dense matrix of doubles, and the factorizations of it.
#include <cstdint>
#include <optional>
#include <vector>

namespace inlay::textbook {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> elements;  // row-major

  Matrix() = default;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), elements(static_cast<std::size_t>(r * c), 0.0) {}
  static Matrix identity(int64_t n);

  double& operator()(int64_t r, int64_t c) { return elements[static_cast<std::size_t>(r * columns + c)]; }
  double operator()(int64_t r, int64_t c) const { return elements[static_cast<std::size_t>(r * columns + c)]; }
  Matrix transposed() const;
  void swap_rows(int64_t a, int64_t b);
};

Matrix product(const Matrix& a, const Matrix& b);

// Each returns the number of what went wrong, counted from 1, or 0.

/// `a` becomes its lower triangular factor. Reads the lower triangle.
int64_t cholesky(Matrix& a);
/// `b` becomes x of t @ x = b; `t` is a lower or an upper triangle.
int64_t solve_triangular(const Matrix& t, bool lower, bool unit_diagonal, Matrix& b);
/// `b` becomes x of a @ x = b, by elimination.
int64_t solve(Matrix a, Matrix& b);
/// `a` becomes l and u in one; `pivots` the swaps. The number of the first pivot that is 0.
int64_t lu_factor(Matrix& a, std::vector<int64_t>& pivots);

/// The series, of the matrix divided by a power of 2; squared that often. NaN where it is not finite.
Matrix expm(const Matrix& a);

/// a = q @ r with a square q.
struct QR {
  Matrix q, r;
};
QR qr(const Matrix& a);

/// a @ v = v * w, ascending; reads the lower triangle.
struct Eigen {
  std::vector<double> w;
  Matrix v;
  int sweeps = 0;  // over all pairs of columns; about 10, or it does not converge
};
Eigen eigh(const Matrix& a);

/// a = u[:, :p] * s @ vh[:p], with square u and vh.
struct SVD {
  Matrix u;
  std::vector<double> s;
  Matrix vh;
  int sweeps = 0;
};
SVD svd(const Matrix& a);

}  // namespace inlay::textbook
