// The factors, multiplied again.
#include "textbook/matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inlay::textbook {
namespace {

using Complex = std::complex<double>;

double random_number() {
  static std::mt19937 random(1);
  return std::uniform_real_distribution<double>(-1, 1)(random);
}

template <class T>
Matrix<T> random_matrix(int64_t rows, int64_t columns) {
  Matrix<T> out(rows, columns);
  for (T& e : out.elements) {
    e = random_number();
    if constexpr (std::is_same_v<T, Complex>) e += Complex(0, random_number());
  }
  return out;
}

template <class T>
double distance(const Matrix<T>& a, const Matrix<T>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  double maximum = 0;
  for (std::size_t e = 0; e < a.elements.size(); ++e) {
    maximum = std::max(maximum, std::abs(a.elements[e] - b.elements[e]));
  }
  return maximum;
}

template <class T>
bool is_orthogonal(const Matrix<T>& q) {
  return distance(product(q.adjoint(), q), Matrix<T>::identity(q.columns)) < 1e-12;
}

/// rows x columns with the elements of `s` on the diagonal.
template <class T, class S>
Matrix<T> diagonal(const std::vector<S>& s, int64_t rows, int64_t columns) {
  Matrix<T> out(rows, columns);
  for (std::size_t i = 0; i < s.size(); ++i) out(static_cast<int64_t>(i), static_cast<int64_t>(i)) = s[i];
  return out;
}

template <class T>
class MatrixOf : public testing::Test {};
using Elements = testing::Types<double, Complex>;
TYPED_TEST_SUITE(MatrixOf, Elements);

TYPED_TEST(MatrixOf, SingularValuesOfAllShapesAndRanks) {
  using M = Matrix<TypeParam>;
  M rank_one(3, 3);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 3; ++j) rank_one(i, j) = static_cast<double>((i + 1) * (j + 1));
  }
  for (const M& a : {random_matrix<TypeParam>(4, 3), random_matrix<TypeParam>(3, 5), random_matrix<TypeParam>(1, 1),
                     random_matrix<TypeParam>(0, 2), rank_one, M(3, 2)}) {
    const auto parts = svd(a);
    EXPECT_TRUE(is_orthogonal(parts.u));
    EXPECT_TRUE(is_orthogonal(parts.vh));
    EXPECT_TRUE(std::ranges::is_sorted(parts.s, std::greater<>()));
    EXPECT_LT(distance(product(product(parts.u, diagonal<TypeParam>(parts.s, a.rows, a.columns)), parts.vh), a), 1e-12);
  }
}

TYPED_TEST(MatrixOf, EigenvectorsOfAHermitianMatrix) {
  for (int64_t n : {0, 1, 2, 6}) {
    const auto a = random_matrix<TypeParam>(n, n);
    Matrix<TypeParam> whole = a, other = a.adjoint();
    for (int64_t r = 0; r < n; ++r) {
      whole(r, r) = std::real(a(r, r));
      for (int64_t c = r + 1; c < n; ++c) whole(r, c) = other(r, c);
    }
    const auto parts = eigh(a);
    EXPECT_TRUE(is_orthogonal(parts.v));
    EXPECT_TRUE(std::ranges::is_sorted(parts.w));
    EXPECT_LT(distance(product(whole, parts.v), product(parts.v, diagonal<TypeParam>(parts.w, n, n))), 1e-12);
  }
}

TYPED_TEST(MatrixOf, RotationsAreOfNumbersOfAnySize) {
  for (const double size : {1e200, 1e-200, 0x1p-1060}) {
    Matrix<TypeParam> beside(2, 2), all(2, 2);
    beside(0, 1) = beside(1, 0) = size;
    std::ranges::fill(all.elements, TypeParam(size));
    const auto close = [&](double x) { return testing::DoubleNear(x, 1e-14 * size + 0x1p-1073); };
    EXPECT_THAT(eigh(beside).w, testing::ElementsAre(close(-size), close(size)));
    EXPECT_THAT(svd(all).s, testing::ElementsAre(close(2 * size), close(0)));
  }
  Matrix<TypeParam> unknown(2, 2);
  unknown(1, 0) = std::numeric_limits<double>::quiet_NaN();
  for (const double w : eigh(unknown).w) EXPECT_TRUE(std::isnan(w));
  for (const double s : svd(unknown).s) EXPECT_TRUE(std::isnan(s));
}

TYPED_TEST(MatrixOf, RotationsConvergeInAFewSweeps) {
  const auto random = [](int64_t rows, int64_t columns) { return random_matrix<TypeParam>(rows, columns); };
  for (int64_t n : {2, 9, 33}) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_LT(eigh(random(n, n)).sweeps, 15);
      EXPECT_LT(svd(random(n, n)).sweeps, 15);
      EXPECT_LT(svd(product(random(n, 1), random(1, n))).sweeps, 15);
    }
  }
}

template <class T>
void expect_triangle(int64_t n) {
  const Matrix<T> a = random_matrix<T>(n, n);
  const Schur<T> found = schur<T>(a, nullptr);
  EXPECT_LT(distance(product(product(found.z, found.t), found.z.adjoint()), a), 1e-12 * (1 + n));
  EXPECT_LT(distance(product(found.z.adjoint(), found.z), Matrix<T>::identity(n)), 1e-12 * (1 + n));
  const int64_t below = std::is_same_v<T, double> ? 1 : 0;
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t c = 0; c < r - below; ++c) EXPECT_EQ(found.t(r, c), T(0));
    if (r < 2 || below == 0) continue;
    EXPECT_TRUE(found.t(r, r - 1) == 0.0 || found.t(r - 1, r - 2) == 0.0) << "a block of three rows";
  }
}

TEST(Matrix, TriangleOfAnyMatrix) {
  for (int64_t n : {0, 1, 2, 3, 6, 9}) {
    expect_triangle<double>(n);
    expect_triangle<Complex>(n);
  }
}

TEST(Matrix, TriangleWithTheNamedEigenvaluesFirst) {
  const Schur<double> found = schur<double>(random_matrix<double>(7, 7), [](Complex w) { return w.real() < 0; });
  bool is_left = true;
  for (int64_t i = 0; i < 7; ++i) {  // equal elements in a block, or the number itself: close enough for its sign
    const bool is_block = i < 6 && found.t(i + 1, i) != 0;
    const double real = is_block ? (found.t(i, i) + found.t(i + 1, i + 1)) / 2 : found.t(i, i);
    EXPECT_TRUE(is_left || real >= 0) << i;
    is_left = real < 0;
    i += is_block;
  }
}

template <class T>
void expect_triangles(const Matrix<T>& a, const Matrix<T>& b) {
  const int64_t n = a.rows;
  const QZ<T> found = qz<T>(a, b, nullptr);
  EXPECT_TRUE(is_orthogonal(found.q) && is_orthogonal(found.z));
  EXPECT_LT(distance(product(product(found.q, found.s), found.z.adjoint()), a), 1e-12 * (1 + n));
  EXPECT_LT(distance(product(product(found.q, found.t), found.z.adjoint()), b), 1e-12 * (1 + n));
  for (int64_t r = 0; r < n; ++r) {
    const bool in_pair = found.alpha[r].imag() != 0 && std::is_same_v<T, double>;
    EXPECT_TRUE(in_pair || std::abs(found.t(r, r) - found.beta[r]) < 1e-12 * (1 + n)) << r;
    EXPECT_GE(found.beta[r], 0);
    for (int64_t c = 0; c < r; ++c) {
      if (c + 1 == r && in_pair) continue;
      EXPECT_EQ(found.s(r, c), T(0));
      EXPECT_EQ(found.t(r, c), T(0));
    }
  }
}

template <class T>
void expect_triangles_of_two() {
  for (int64_t n : {0, 1, 2, 3, 6, 9}) expect_triangles(random_matrix<T>(n, n), random_matrix<T>(n, n));
  Matrix<T> flat = random_matrix<T>(5, 5);
  for (int64_t i = 0; i < 5; ++i) flat(i, 1) = flat(i, 3) = 0;
  expect_triangles(flat, random_matrix<T>(5, 5));
  expect_triangles(random_matrix<T>(5, 5), flat);
  expect_triangles(random_matrix<T>(9, 9), product(random_matrix<T>(9, 2), random_matrix<T>(2, 9)));
  EXPECT_EQ(std::ranges::count(qz<T>(random_matrix<T>(5, 5), flat, nullptr).beta, 0), 2);
  EXPECT_TRUE(std::isnan(qz<T>(flat, flat, nullptr).beta[0]));
}

TEST(Matrix, TrianglesOfTwoMatrices) {
  expect_triangles_of_two<double>();
  expect_triangles_of_two<Complex>();
}

TEST(Matrix, TrianglesWithTheNamedEigenvaluesFirst) {
  const auto inside = [](Complex alpha, double beta) { return std::abs(alpha) < beta; };
  const QZ<double> found = qz<double>(random_matrix<double>(9, 9), random_matrix<double>(9, 9), inside);
  bool leads = true;
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(leads || !inside(found.alpha[i], found.beta[i])) << i;
    leads = inside(found.alpha[i], found.beta[i]);
  }
}

template <class T>
void expect_solution(int64_t m, int64_t n) {
  const Matrix<T> a = schur<T>(random_matrix<T>(m, m), nullptr).t, c = random_matrix<T>(m, n);
  Matrix<T> b = schur<T>(random_matrix<T>(n, n), nullptr).t;
  for (int64_t i = 0; i < n; ++i) b(i, i) += 20.0;
  const Matrix<T> x = sylvester(a, b, c);
  Matrix<T> sum = product(a, x);
  const Matrix<T> other = product(x, b);
  for (std::size_t e = 0; e < sum.elements.size(); ++e) sum.elements[e] += other.elements[e];
  EXPECT_LT(distance(sum, c), 1e-12);
}

TEST(Matrix, EquationOfSylvester) {
  expect_solution<double>(3, 4);
  expect_solution<double>(1, 1);
  expect_solution<Complex>(4, 2);
}

TEST(Matrix, EigenvaluesOfNumbersOfAnySize) {
  for (const double size : {1e200, 1e-200}) {
    Matrix<std::complex<double>> turn(2, 2);  // by a quarter
    turn(0, 1) = -size;
    turn(1, 0) = size;
    const Eigen parts = eig(turn);
    ASSERT_TRUE(parts.converged);
    for (const std::complex<double>& w : parts.w) EXPECT_NEAR(std::abs(w) / size, 1, 1e-14);
  }
  Matrix<std::complex<double>> block = Matrix<std::complex<double>>::identity(40);  // Jordan's
  for (int64_t i = 0; i + 1 < 40; ++i) block(i, i + 1) = 1;
  for (const std::complex<double>& e : eig(block).v.elements) EXPECT_TRUE(std::isfinite(std::abs(e)));
}

TEST(Matrix, EigenvectorsOfAnyMatrix) {
  Matrix<Complex> turn(2, 2), circle(3, 3), shear(2, 2);
  turn(0, 1) = 1, turn(1, 0) = -1;
  circle(0, 2) = circle(1, 0) = circle(2, 1) = 1;
  shear(0, 0) = shear(0, 1) = shear(1, 1) = 1;
  for (const Matrix<Complex>& a : {random_matrix<Complex>(6, 6), random_matrix<Complex>(1, 1), Matrix<Complex>(3, 3),
                                   Matrix<Complex>(0, 0), turn, circle, shear}) {
    const Eigen parts = eig(a);
    ASSERT_TRUE(parts.converged);
    EXPECT_LT(distance(product(a, parts.v), product(parts.v, diagonal<Complex>(parts.w, a.rows, a.rows))), 1e-12);
    for (int64_t c = 0; c < a.rows; ++c) {
      double length = 0;
      for (int64_t r = 0; r < a.rows; ++r) length = std::hypot(length, std::abs(parts.v(r, c)));
      EXPECT_NEAR(length, 1, 1e-12);
    }
  }
  turn(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(eig(turn).converged);
}

TYPED_TEST(MatrixOf, FactorsMultiplyToTheMatrix) {
  for (const auto& a :
       {random_matrix<TypeParam>(4, 3), random_matrix<TypeParam>(3, 5), random_matrix<TypeParam>(2, 2)}) {
    const auto parts = qr(a);
    EXPECT_TRUE(is_orthogonal(parts.q));
    EXPECT_LT(distance(product(parts.q, parts.r), a), 1e-12);
    const auto pivoted = pivoted_qr(a);
    EXPECT_TRUE(is_orthogonal(pivoted.parts.q));
    Matrix<TypeParam> moved(a.rows, a.columns);
    for (int64_t r = 0; r < a.rows; ++r) {
      for (int64_t c = 0; c < a.columns; ++c) moved(r, c) = a(r, pivoted.order[static_cast<std::size_t>(c)]);
    }
    EXPECT_LT(distance(product(pivoted.parts.q, pivoted.parts.r), moved), 1e-12);
  }
  auto covariance = product(random_matrix<TypeParam>(4, 6), random_matrix<TypeParam>(6, 4));
  covariance = product(covariance, covariance.adjoint());
  auto l = covariance;
  EXPECT_EQ(cholesky(l), 0);
  EXPECT_LT(distance(product(l, l.adjoint()), covariance), 1e-12);
}

TYPED_TEST(MatrixOf, SolutionsSolve) {
  const auto a = random_matrix<TypeParam>(5, 5), b = random_matrix<TypeParam>(5, 2);
  auto x = b;
  EXPECT_EQ(solve(a, x), 0);
  EXPECT_LT(distance(product(a, x), b), 1e-11);
  Matrix<TypeParam> singular(2, 2);
  auto y = random_matrix<TypeParam>(2, 1);
  EXPECT_EQ(solve(singular, y), 1);
}

}  // namespace
}  // namespace inlay::textbook
