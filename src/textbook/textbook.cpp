#include "textbook/textbook.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/error.h"
#include "textbook/matrix.h"
#include "textbook/rows.h"

namespace inlay::textbook {
namespace {

/// A failure without a number: {0} is 0.
constexpr int64_t kNoNumber = -1;

/// One point of the batch.
class Call {
 public:
  Call(LibraryOp op, LibraryOptions options, DType dtype, std::span<const std::byte* const> operands,
       std::span<std::byte* const> results, std::span<const int64_t> sizes, int64_t point)
      : op_(op),
        options_(options),
        dtype_(dtype),
        operands_(operands),
        results_(results),
        sizes_(sizes),
        point_(point) {}

 protected:
  int64_t size(std::size_t letter) const { return sizes_[letter + 1]; }
  int64_t smaller() const { return std::min(size(0), size(1)); }
  bool has(LibraryOption option) const { return inlay::has(options_, option); }

  template <class T>
  const T* row(std::size_t i, int64_t num_elements) const {
    return reinterpret_cast<const T*>(operands_[i]) + point_ * num_elements;
  }
  template <class T>
  T* out(std::size_t i, int64_t num_elements) const {
    return reinterpret_cast<T*>(results_[i]) + point_ * num_elements;
  }

  LibraryOp op_;
  LibraryOptions options_;
  DType dtype_;
  std::span<const std::byte* const> operands_;
  std::span<std::byte* const> results_;
  std::span<const int64_t> sizes_;
  int64_t point_ = 0;
};

/// Of matrices with elements E, in double precision.
template <class E>
class MatrixCall : Call {
 public:
  using Call::Call;

  /// 0, or the number of what went wrong; kNoNumber where it has none.
  int64_t run() {
    switch (op_) {
      case LibraryOp::matmul: return matmul();
      case LibraryOp::cholesky: return cholesky();
      case LibraryOp::solve_triangular: return solve_triangular();
      case LibraryOp::solve: return solve();
      case LibraryOp::lu_factor: return lu_factor();
      case LibraryOp::tridiagonal_lu_factor: return tridiagonal_lu_factor();
      case LibraryOp::tridiagonal_lu_solve: return tridiagonal_lu_solve();
      case LibraryOp::qr: return qr(smaller(), smaller());
      case LibraryOp::qr_complete: return qr(size(0), size(0));
      case LibraryOp::qr_r: return qr(0, size(0));
      case LibraryOp::qr_pivoted: return pivoted_qr(smaller());
      case LibraryOp::qr_complete_pivoted: return pivoted_qr(size(0));
      case LibraryOp::qr_raw: return raw_qr(false);
      case LibraryOp::qr_raw_pivoted: return raw_qr(true);
      case LibraryOp::schur: return schur();
      case LibraryOp::qz: return qz();
      case LibraryOp::sylvester: return sylvester();
      case LibraryOp::svd: return svd(smaller(), smaller());
      case LibraryOp::svd_full: return svd(size(0), size(1));
      case LibraryOp::singular_values: return singular_values();
      case LibraryOp::eigh:
      case LibraryOp::eigvalsh: return eigh();
      case LibraryOp::eig:
      case LibraryOp::eigvals: return eig();
      case LibraryOp::expm: return expm();
      case LibraryOp::row_dots:
      case LibraryOp::weighted_rows:
      case LibraryOp::pivots_to_permutation:
      case LibraryOp::sort:
      case LibraryOp::argsort:
      case LibraryOp::searchsorted: break;
    }
    INLAY_CHECK(false, facts(op_).name, " takes no matrices");
    return 0;
  }

 private:
  using Real = typename RealOf<E>::Type;
  using T = std::conditional_t<kIsComplex<E>, std::complex<double>, double>;
  using M = Matrix<T>;

  M matrix(std::size_t i, int64_t rows, int64_t columns) const {
    M x(rows, columns);
    const E* from = row<E>(i, rows * columns);
    for (std::size_t e = 0; e < x.elements.size(); ++e) x.elements[e] = static_cast<T>(from[e]);
    return x;
  }
  template <class Element = E, class From>
  void give(std::size_t i, std::span<const From> elements) const {
    Element* to = out<Element>(i, static_cast<int64_t>(elements.size()));
    for (std::size_t e = 0; e < elements.size(); ++e) to[e] = static_cast<Element>(elements[e]);
  }
  void give(std::size_t i, const M& x) const { give<E, T>(i, x.elements); }
  void give_reals(std::size_t i, std::span<const double> elements) const { give<Real, double>(i, elements); }
  /// Its upper left corner.
  void give(std::size_t i, const M& x, int64_t rows, int64_t columns) const {
    M corner(rows, columns);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) corner(r, c) = x(r, c);
    }
    give(i, corner);
  }
  /// The result of something that may fail: NaN instead, where that is asked for.
  int64_t give_or_fail(std::size_t i, M& x, int64_t failed) const {
    if (failed != 0 && !has(LibraryOption::nan)) return failed;
    if (failed != 0) std::ranges::fill(x.elements, T(std::numeric_limits<double>::quiet_NaN()));
    give(i, x);
    return 0;
  }

  /// Rounded at each step, as the sum of products is that a rewrite makes of it.
  int64_t matmul() const {
    const int64_t m = size(0), k = size(1), n = size(2);
    const E *a = row<E>(0, m * k), *b = row<E>(1, k * n);
    E* to = out<E>(0, m * n);
    for (int64_t e = 0; e < m * n; ++e) {
      const int64_t r = e / n, c = e % n;
      E sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        const E left = a[r * k + l], right = b[l * n + c];
        if constexpr (kIsComplex<E>) {
          sum += E(left.real() * right.real() - left.imag() * right.imag(),
                   left.real() * right.imag() + left.imag() * right.real());
        } else {
          sum += left * right;
        }
      }
      to[e] = sum;
    }
    return 0;
  }

  int64_t cholesky() const {
    const bool upper = has(LibraryOption::upper);
    M a = upper ? matrix(0, size(0), size(0)).adjoint() : matrix(0, size(0), size(0));
    const int64_t failed = textbook::cholesky(a);
    if (upper) a = a.adjoint();
    return give_or_fail(0, a, failed);
  }

  int64_t solve_triangular() const {
    M a = matrix(0, size(0), size(0)), b = matrix(1, size(0), size(1));
    bool lower = !has(LibraryOption::upper);
    if (has(LibraryOption::transposed) || has(LibraryOption::adjoint)) {
      a = has(LibraryOption::adjoint) ? a.adjoint() : a.transposed();
      lower = !lower;
    }
    if (b.elements.empty()) return 0;
    return give_or_fail(0, b, textbook::solve_triangular(a, lower, has(LibraryOption::unit_diagonal), b));
  }

  int64_t solve() const {
    M b = matrix(1, size(0), size(1));
    if (b.elements.empty()) return 0;
    return give_or_fail(0, b, textbook::solve(matrix(0, size(0), size(0)), b));
  }

  int64_t lu_factor() const {
    M a = matrix(0, size(0), size(1));
    std::vector<int64_t> pivots;
    const int64_t singular = textbook::lu_factor(a, pivots);
    std::ranges::copy(pivots, out<int64_t>(1, smaller()));
    return give_or_fail(0, a, has(LibraryOption::nan) ? singular : 0);
  }

  /// The elements of an operand that is a row.
  std::vector<T> line(std::size_t i, int64_t count) const { return matrix(i, 1, count).elements; }

  /// As a full matrix, whose factors have nothing outside of four diagonals.
  int64_t tridiagonal_lu_factor() const {
    const int64_t n = size(0), beside = std::max<int64_t>(n - 1, 0);
    M a(n, n);
    const std::vector<T> below = line(0, beside), on = line(1, n), above = line(2, beside);
    for (int64_t i = 0; i < n; ++i) a(i, i) = on[i];
    for (int64_t i = 0; i < beside; ++i) a(i + 1, i) = below[i], a(i, i + 1) = above[i];
    std::vector<int64_t> pivots;
    textbook::lu_factor(a, pivots);
    std::vector<T> factors(static_cast<std::size_t>(beside),
                           T(0));  // of each column one, in the row that swaps left it in
    for (int64_t c = 0; c < beside; ++c) {
      for (int64_t r = c + 1; r < n; ++r) factors[c] += a(r, c);
    }
    give<E, T>(0, factors);
    for (int64_t k = 0; k < 3; ++k) {
      std::vector<T> diagonal;
      for (int64_t i = 0; i + k < n; ++i) diagonal.push_back(a(i, i + k));
      give<E, T>(static_cast<std::size_t>(k + 1), diagonal);
    }
    std::ranges::copy(pivots, out<int64_t>(4, n));
    return 0;
  }

  int64_t tridiagonal_lu_solve() const {
    const int64_t n = size(0), k = size(1), beside = std::max<int64_t>(n - 1, 0);
    M u(n, n), b = matrix(5, n, k);
    for (int64_t d = 0; d < 3; ++d) {
      const std::vector<T> diagonal = line(static_cast<std::size_t>(d + 1), std::max<int64_t>(n - d, 0));
      for (int64_t i = 0; i + d < n; ++i) u(i, i + d) = diagonal[i];
    }
    const std::span<const int64_t> pivots(row<int64_t>(4, n), static_cast<std::size_t>(n));
    for (int64_t i = 0; i < n && k > 0; ++i) {
      if (pivots[i] != i && (pivots[i] != i + 1 || i + 1 == n)) return i + 1;
    }
    textbook::tridiagonal_solve(line(0, beside), u, pivots, has(LibraryOption::transposed), b);
    give(0, b);
    return 0;
  }

  int64_t qr(int64_t q_columns, int64_t r_rows) const {
    const QR<T> parts = textbook::qr(matrix(0, size(0), size(1)));
    if (op_ != LibraryOp::qr_r) give(0, parts.q, size(0), q_columns);
    give(op_ == LibraryOp::qr_r ? 0 : 1, parts.r, r_rows, size(1));
    return 0;
  }

  int64_t pivoted_qr(int64_t inner) const {
    const PivotedQR<T> found = textbook::pivoted_qr(matrix(0, size(0), size(1)));
    give(0, found.parts.q, size(0), inner);
    give(1, found.parts.r, inner, size(1));
    std::ranges::copy(found.order, out<int64_t>(2, size(1)));
    return 0;
  }

  int64_t raw_qr(bool pivots) const {
    const RawQR<T> found = textbook::raw_qr(matrix(0, size(0), size(1)), pivots);
    give(0, found.reflections);
    give<E, T>(1, found.tau);
    if (pivots) std::ranges::copy(found.order, out<int64_t>(2, size(1)));
    return 0;
  }

  int64_t schur() const {
    using W = std::complex<double>;
    bool (*leads)(W) = nullptr;
    if (has(LibraryOption::left)) leads = [](W w) { return w.real() < 0; };
    if (has(LibraryOption::right)) leads = [](W w) { return w.real() >= 0; };
    if (has(LibraryOption::inside)) leads = [](W w) { return std::abs(w) <= 1; };
    if (has(LibraryOption::outside)) leads = [](W w) { return std::abs(w) > 1; };
    const Schur<T> found = textbook::schur(matrix(0, size(0), size(0)), leads);
    give(0, found.t);
    give(1, found.z);
    return 0;
  }

  int64_t qz() const {
    using W = std::complex<double>;
    bool (*leads)(W, double) = nullptr;
    if (has(LibraryOption::left)) leads = [](W alpha, double beta) { return beta != 0 && alpha.real() < 0; };
    if (has(LibraryOption::right)) leads = [](W alpha, double beta) { return beta != 0 && alpha.real() > 0; };
    if (has(LibraryOption::inside)) leads = [](W alpha, double beta) { return std::abs(alpha) < beta; };
    if (has(LibraryOption::outside)) leads = [](W alpha, double beta) { return std::abs(alpha) > beta; };
    const QZ<T> found = textbook::qz(matrix(0, size(0), size(0)), matrix(1, size(0), size(0)), leads);
    give(0, found.s);
    give(1, found.t);
    give<std::complex<Real>, W>(2, found.alpha);
    give_reals(3, found.beta);
    give(4, found.q);
    give(5, found.z);
    return 0;
  }

  int64_t sylvester() const {
    const int64_t m = size(0), n = size(1);
    give(0, textbook::sylvester(matrix(0, m, m), matrix(1, n, n), matrix(2, m, n)));
    return 0;
  }

  /// NaN: of a matrix with elements that are not finite.
  static bool are_numbers(const std::vector<double>& s) {
    return std::ranges::none_of(s, [](double value) { return std::isnan(value); });
  }

  int64_t svd(int64_t u_columns, int64_t vh_rows) const {
    const SVD<T> parts = textbook::svd(matrix(0, size(0), size(1)), op_ == LibraryOp::svd_full);
    if (!are_numbers(parts.s)) return kNoNumber;
    give(0, parts.u, size(0), u_columns);
    give_reals(1, parts.s);
    give(2, parts.vh, vh_rows, size(1));
    return 0;
  }

  int64_t singular_values() const {
    const std::vector<double> s = textbook::svd(matrix(0, size(0), size(1)), false).s;
    if (!are_numbers(s)) return kNoNumber;
    give_reals(0, s);
    return 0;
  }

  int64_t eigh() const {
    const M a = matrix(0, size(0), size(0));
    const Hermitian<T> parts = textbook::eigh(has(LibraryOption::upper) ? a.adjoint() : a);
    give_reals(0, parts.w);
    if (op_ == LibraryOp::eigh) give(1, parts.v);
    return 0;
  }

  int64_t eig() const {
    using Complex = std::complex<double>;
    const M a = matrix(0, size(0), size(0));
    Matrix<Complex> whole(a.rows, a.columns);
    std::ranges::copy(a.elements, whole.elements.begin());
    const Eigen parts = textbook::eig(whole);
    if (!parts.converged) return kNoNumber;
    give<std::complex<Real>, Complex>(0, parts.w);
    if (op_ == LibraryOp::eig) give<std::complex<Real>, Complex>(1, parts.v.elements);
    return 0;
  }

  int64_t expm() const {
    give(0, textbook::expm(matrix(0, size(0), size(0))));
    return 0;
  }
};

/// Of rows of an ordered dtype, and of pivots.
class RowCall : Call {
 public:
  using Call::Call;

  int64_t run() {
    if (op_ == LibraryOp::pivots_to_permutation) {
      return pivots_to_permutation(row<int64_t>(0, size(0)), size(0), out<int64_t>(0, size(0)));
    }
    if (op_ == LibraryOp::row_dots) {
      const int64_t m = size(0), k = size(1), n = size(2);
      row_dots(row<uint8_t>(0, m * k), row<int8_t>(1, n * k), m, k, n, out<int32_t>(0, m * n));
      return 0;
    }
    if (op_ == LibraryOp::weighted_rows) {
      const int64_t k = size(0), n = size(1), m = size(2);
      weighted_rows(row<uint8_t>(0, k * n), row<int8_t>(1, m * k), m, k, n, out<int32_t>(0, m * n));
      return 0;
    }
    visit_ordered(dtype_, [&](auto zero) {
      using T = decltype(zero);
      const T* a = row<T>(0, size(0));
      if (op_ == LibraryOp::sort) sort(a, size(0), out<T>(0, size(0)));
      if (op_ == LibraryOp::argsort) argsort(a, size(0), out<int64_t>(0, size(0)));
      if (op_ == LibraryOp::searchsorted) {
        search_sorted(a, size(0), row<T>(1, size(1)), size(1), has(LibraryOption::right), out<int64_t>(0, size(1)));
      }
    });
    return 0;
  }
};

}  // namespace

std::optional<Failure> run(LibraryOp op, LibraryOptions options, DType dtype,
                           std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                           std::span<const int64_t> sizes) {
  INLAY_CHECK(accepts(op, dtype), facts(op).name, " of ", dtype_name(dtype));
  const bool of_matrices = facts(op).dtypes == LibraryOpFacts::DTypes::Field;
  for (int64_t point = 0; point < sizes[0]; ++point) {
    int64_t failed = 0;
    if (!of_matrices) {
      failed = RowCall(op, options, dtype, operands, results, sizes, point).run();
    } else {
      visit_element_type(dtype, [&](auto zero) {
        using E = decltype(zero);
        if constexpr (std::is_floating_point_v<E> || kIsComplex<E>) {
          failed = MatrixCall<E>(op, options, dtype, operands, results, sizes, point).run();
        }
      });
    }
    if (failed != 0) return Failure{failed == kNoNumber ? 0 : failed, point};
  }
  return std::nullopt;
}

}  // namespace inlay::textbook
