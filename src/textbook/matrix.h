#pragma once
// A small dense matrix of double or std::complex<double>, and the factorizations of it. Each function is written once:
// of real numbers, conj is nothing and the adjoint is the transpose.
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace inlay::textbook {

template <class T>
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<T> elements;  // row-major

  Matrix() = default;
  Matrix(int64_t r, int64_t c) : rows(r), columns(c), elements(static_cast<std::size_t>(r * c), T(0)) {}
  static Matrix identity(int64_t n);

  T& operator()(int64_t r, int64_t c) { return elements[static_cast<std::size_t>(r * columns + c)]; }
  const T& operator()(int64_t r, int64_t c) const { return elements[static_cast<std::size_t>(r * columns + c)]; }
  Matrix transposed() const;
  Matrix adjoint() const;
  void swap_rows(int64_t a, int64_t b);
  void swap_columns(int64_t a, int64_t b);
};

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b);

/// Divides by the power of 2 next to the largest element, which it returns: so squares neither overflow nor vanish.
/// NaN, and nothing divided, where an element is not finite.
template <class T>
double scale_down(Matrix<T>& a);

// Each returns the number of what went wrong, counted from 1, or 0.

/// `a` becomes its lower triangular factor: a = l l', with the adjoint. Reads the lower triangle.
template <class T>
int64_t cholesky(Matrix<T>& a);
/// `b` becomes x of t @ x = b; `t` is a lower or an upper triangle.
template <class T>
int64_t solve_triangular(const Matrix<T>& t, bool lower, bool unit_diagonal, Matrix<T>& b);
/// `b` becomes x of a @ x = b, by elimination.
template <class T>
int64_t solve(Matrix<T> a, Matrix<T>& b);
/// `a` becomes l and u in one; `pivots` the swaps. The number of the first pivot that is 0. A pivot is the largest by
/// |re| + |im|, as in LAPACK.
template <class T>
int64_t lu_factor(Matrix<T>& a, std::vector<int64_t>& pivots);

/// `b` becomes x of a @ x = b, or of a.T @ x = b, where `a` is tridiagonal: `l` has one factor for each row but the
/// first, `u` is zero outside of its diagonal and two above it, and `pivots` are the swaps between. Nothing is NaN that
/// need not be, where `u` has a 0 on its diagonal.
template <class T>
void tridiagonal_solve(const std::vector<T>& l, const Matrix<T>& u, std::span<const int64_t> pivots, bool transposed,
                       Matrix<T>& b);

/// The series, of the matrix divided by a power of 2; squared that often. NaN where it is not finite.
template <class T>
Matrix<T> expm(const Matrix<T>& a);

/// a = q @ r with a square q.
template <class T>
struct QR {
  Matrix<T> q, r;
};
template <class T>
QR<T> qr(const Matrix<T>& a);

/// a[:, order] = q @ r: before each step the column that is longest in the rows that are left comes to the front.
template <class T>
struct PivotedQR {
  QR<T> parts;
  std::vector<int64_t> order;
};
template <class T>
PivotedQR<T> pivoted_qr(Matrix<T> a);

/// What is left of the same without making q: r with, below it, the vectors of the reflections 1 - tau v v', whose
/// first element is 1 and left out.
template <class T>
struct RawQR {
  Matrix<T> reflections;
  std::vector<T> tau;
  std::vector<int64_t> order;
};
template <class T>
RawQR<T> raw_qr(Matrix<T> a, bool pivots);

/// a = z t z', z with orthonormal columns; t is a triangle, of a real matrix with blocks of two rows. The eigenvalues
/// that `leads` come first; the others in no order. NaN where nothing converges.
template <class T>
struct Schur {
  Matrix<T> t, z;
};
template <class T>
Schur<T> schur(const Matrix<T>& a, bool (*leads)(std::complex<double>));

/// a = q s z' and b = q t z', q and z with orthonormal columns; s and t are triangles, of real matrices with blocks of
/// two rows, and beside these the diagonal of t is not negative. The eigenvalues are alpha / beta, infinite where beta
/// is 0; those that `leads` come first, the others in no order. NaN where nothing converges, as where a and b send one
/// vector to 0.
template <class T>
struct QZ {
  Matrix<T> s, t, q, z;
  std::vector<std::complex<double>> alpha;
  std::vector<double> beta;
};
template <class T>
QZ<T> qz(const Matrix<T>& a, const Matrix<T>& b, bool (*leads)(std::complex<double> alpha, double beta));

/// x of a @ x + x @ b = c, of a and b with nothing below the first diagonal beside the middle one (that one itself for
/// complex ones). As one system of all elements.
template <class T>
Matrix<T> sylvester(const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c);

/// a @ v = v * w, ascending; reads the lower triangle.
template <class T>
struct Hermitian {
  std::vector<double> w;
  Matrix<T> v;
  int sweeps = 0;  // over all pairs of columns; about 10, or it does not converge
};
template <class T>
Hermitian<T> eigh(const Matrix<T>& a);

/// a @ v = v * w of any square matrix, in no order; columns of length 1. `converged` is false where an element is not
/// finite, or many steps did not suffice.
struct Eigen {
  std::vector<std::complex<double>> w;
  Matrix<std::complex<double>> v;
  bool converged = true;
};
Eigen eig(const Matrix<std::complex<double>>& a);

/// a = u[:, :p] * s @ vh[:p], with square u and vh, or with p columns and rows of them where it is not to be full. NaN
/// where an element is not finite, and of eigh.
template <class T>
struct SVD {
  Matrix<T> u;
  std::vector<double> s;
  Matrix<T> vh;
  int sweeps = 0;
};
template <class T>
SVD<T> svd(const Matrix<T>& a, bool is_full = true);

}  // namespace inlay::textbook
