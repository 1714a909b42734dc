// The factors, multiplied again.
#include "textbook/matrix.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace inlay::textbook {
namespace {

Matrix random_matrix(int64_t rows, int64_t columns) {
  static std::mt19937 random(1);
  Matrix out(rows, columns);
  for (double& e : out.elements) e = std::uniform_real_distribution<double>(-1, 1)(random);
  return out;
}

double distance(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  double greatest = 0;
  for (std::size_t e = 0; e < a.elements.size(); ++e) {
    greatest = std::max(greatest, std::fabs(a.elements[e] - b.elements[e]));
  }
  return greatest;
}

bool is_orthogonal(const Matrix& q) {
  return distance(product(q.transposed(), q), Matrix::identity(q.columns)) < 1e-12;
}

/// rows x columns with the elements of `s` on the diagonal.
Matrix diagonal(const std::vector<double>& s, int64_t rows, int64_t columns) {
  Matrix out(rows, columns);
  for (std::size_t i = 0; i < s.size(); ++i) out(static_cast<int64_t>(i), static_cast<int64_t>(i)) = s[i];
  return out;
}

TEST(Matrix, SingularValuesOfAllShapesAndRanks) {
  Matrix rank_one(3, 3);
  for (int64_t i = 0; i < 9; ++i) rank_one(i / 3, i % 3) = static_cast<double>((i / 3 + 1) * (i % 3 + 1));
  for (const Matrix& a :
       {random_matrix(4, 3), random_matrix(3, 5), random_matrix(1, 1), random_matrix(0, 2), rank_one, Matrix(3, 2)}) {
    const SVD parts = svd(a);
    EXPECT_TRUE(is_orthogonal(parts.u));
    EXPECT_TRUE(is_orthogonal(parts.vh));
    EXPECT_TRUE(std::ranges::is_sorted(parts.s, std::greater<>()));
    EXPECT_LT(distance(product(product(parts.u, diagonal(parts.s, a.rows, a.columns)), parts.vh), a), 1e-12);
  }
}

TEST(Matrix, EigenvectorsOfASymmetricMatrix) {
  for (int64_t n : {0, 1, 2, 6}) {
    const Matrix a = random_matrix(n, n);
    Matrix whole = a;
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = r + 1; c < n; ++c) whole(r, c) = a(c, r);
    }
    const Eigen parts = eigh(a);
    EXPECT_TRUE(is_orthogonal(parts.v));
    EXPECT_TRUE(std::ranges::is_sorted(parts.w));
    EXPECT_LT(distance(product(whole, parts.v), product(parts.v, diagonal(parts.w, n, n))), 1e-12);
  }
}

TEST(Matrix, RotationsConvergeInAFewSweeps) {
  for (int64_t n : {2, 9, 33}) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_LT(eigh(random_matrix(n, n)).sweeps, 15);
      EXPECT_LT(svd(random_matrix(n, n)).sweeps, 15);
      EXPECT_LT(svd(product(random_matrix(n, 1), random_matrix(1, n))).sweeps, 15);
    }
  }
}

TEST(Matrix, FactorsMultiplyToTheMatrix) {
  for (const Matrix& a : {random_matrix(4, 3), random_matrix(3, 5), random_matrix(2, 2)}) {
    const QR parts = qr(a);
    EXPECT_TRUE(is_orthogonal(parts.q));
    EXPECT_LT(distance(product(parts.q, parts.r), a), 1e-12);
  }
  Matrix covariance = product(random_matrix(4, 6), random_matrix(6, 4));
  covariance = product(covariance, covariance.transposed());
  Matrix l = covariance;
  EXPECT_EQ(cholesky(l), 0);
  EXPECT_LT(distance(product(l, l.transposed()), covariance), 1e-12);
}

TEST(Matrix, SolutionsSolve) {
  const Matrix a = random_matrix(5, 5), b = random_matrix(5, 2);
  Matrix x = b;
  EXPECT_EQ(solve(a, x), 0);
  EXPECT_LT(distance(product(a, x), b), 1e-11);
  Matrix singular(2, 2);
  Matrix y = random_matrix(2, 1);
  EXPECT_EQ(solve(singular, y), 1);
}

}  // namespace
}  // namespace inlay::textbook
