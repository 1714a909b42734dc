#include "textbook/textbook.h"

#include <algorithm>
#include <limits>

#include "support/error.h"
#include "textbook/matrix.h"
#include "textbook/rows.h"

namespace inlay::textbook {
namespace {

/// One point of the batch.
class Call {
 public:
  Call(LibraryOp op, LibraryOptions options, DType dtype, std::span<const std::byte* const> operands,
       std::span<std::byte* const> results, std::span<const int64_t> sizes)
      : op_(op), options_(options), dtype_(dtype), operands_(operands), results_(results), sizes_(sizes) {}

  /// 0, or the number of what went wrong.
  int64_t run(int64_t point) {
    point_ = point;
    switch (op_) {
      case LibraryOp::matmul: return matmul();
      case LibraryOp::cholesky: return cholesky();
      case LibraryOp::solve_triangular: return solve_triangular();
      case LibraryOp::solve: return solve();
      case LibraryOp::lu_factor: return lu_factor();
      case LibraryOp::qr: return qr(smaller(), smaller());
      case LibraryOp::qr_complete: return qr(size(0), size(0));
      case LibraryOp::qr_r: return qr(0, size(0));
      case LibraryOp::svd: return svd(smaller(), smaller());
      case LibraryOp::svd_full: return svd(size(0), size(1));
      case LibraryOp::singular_values: return singular_values();
      case LibraryOp::eigh: return eigh();
      case LibraryOp::eigvalsh: return eigh();
      case LibraryOp::expm: return expm();
      case LibraryOp::pivots_to_permutation:
        return pivots_to_permutation(row<int64_t>(0, size(0)), size(0), out(0, size(0)));
      case LibraryOp::sort:
      case LibraryOp::argsort:
      case LibraryOp::searchsorted: return rows();
    }
    return 0;
  }

 private:
  int64_t size(std::size_t letter) const { return sizes_[letter + 1]; }
  int64_t smaller() const { return std::min(size(0), size(1)); }
  bool has(LibraryOption option) const { return inlay::has(options_, option); }

  const std::byte* operand(std::size_t i, int64_t num_elements) const {
    const bool shared = has(i == 0 ? LibraryOption::left_shared : LibraryOption::right_shared);
    return operands_[i] + (shared ? 0 : point_) * num_elements * size_bytes(dtype_);
  }
  template <class T>
  const T* row(std::size_t i, int64_t num_elements) const {
    return reinterpret_cast<const T*>(operand(i, num_elements));
  }
  int64_t* out(std::size_t i, int64_t num_elements) const {
    return reinterpret_cast<int64_t*>(results_[i]) + point_ * num_elements;
  }

  Matrix matrix(std::size_t i, int64_t rows, int64_t columns) const {
    Matrix x(rows, columns);
    const std::byte* from = operand(i, rows * columns);
    for (std::size_t e = 0; e < x.elements.size(); ++e) {
      x.elements[e] = dtype_ == DType::f32 ? static_cast<double>(reinterpret_cast<const float*>(from)[e])
                                           : reinterpret_cast<const double*>(from)[e];
    }
    return x;
  }
  void give(std::size_t i, std::span<const double> elements) const {
    std::byte* to = results_[i] + point_ * static_cast<int64_t>(elements.size()) * size_bytes(dtype_);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      if (dtype_ == DType::f32) {
        reinterpret_cast<float*>(to)[e] = static_cast<float>(elements[e]);
      } else {
        reinterpret_cast<double*>(to)[e] = elements[e];
      }
    }
  }
  /// Its upper left corner.
  void give(std::size_t i, const Matrix& x, int64_t rows, int64_t columns) const {
    std::vector<double> elements;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) elements.push_back(x(r, c));
    }
    give(i, elements);
  }
  /// The result of something that may fail: NaN instead, where that is asked for.
  int64_t give_or_fail(std::size_t i, Matrix& x, int64_t failed) const {
    if (failed != 0 && !has(LibraryOption::nan)) return failed;
    if (failed != 0) std::ranges::fill(x.elements, std::numeric_limits<double>::quiet_NaN());
    give(i, x.elements);
    return 0;
  }

  int64_t matmul() const {
    const int64_t m = size(0), k = size(1), n = size(2);
    const Matrix a = has(LibraryOption::left_transposed) ? matrix(0, k, m).transposed() : matrix(0, m, k);
    const Matrix b = has(LibraryOption::right_transposed) ? matrix(1, n, k).transposed() : matrix(1, k, n);
    Matrix out = product(a, b);
    if (dtype_ == DType::f32) {  // rounded at each step, as the sum of products is that a rewrite makes of it
      for (int64_t e = 0; e < m * n; ++e) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += static_cast<float>(a(e / n, l)) * static_cast<float>(b(l, e % n));
        out.elements[static_cast<std::size_t>(e)] = static_cast<double>(sum);
      }
    }
    give(0, out.elements);
    return 0;
  }

  int64_t cholesky() const {
    const bool upper = has(LibraryOption::upper);
    Matrix a = upper ? matrix(0, size(0), size(0)).transposed() : matrix(0, size(0), size(0));
    const int64_t failed = textbook::cholesky(a);
    if (upper) a = a.transposed();
    return give_or_fail(0, a, failed);
  }

  int64_t solve_triangular() const {
    Matrix a = matrix(0, size(0), size(0)), b = matrix(1, size(0), size(1));
    bool lower = !has(LibraryOption::upper);
    if (has(LibraryOption::transposed)) {
      a = a.transposed();
      lower = !lower;
    }
    if (b.elements.empty()) return 0;
    return give_or_fail(0, b, textbook::solve_triangular(a, lower, has(LibraryOption::unit_diagonal), b));
  }

  int64_t solve() const {
    Matrix b = matrix(1, size(0), size(1));
    if (b.elements.empty()) return 0;
    return give_or_fail(0, b, textbook::solve(matrix(0, size(0), size(0)), b));
  }

  int64_t lu_factor() const {
    Matrix a = matrix(0, size(0), size(1));
    std::vector<int64_t> pivots;
    const int64_t singular = textbook::lu_factor(a, pivots);
    std::ranges::copy(pivots, out(1, smaller()));
    return give_or_fail(0, a, has(LibraryOption::nan) ? singular : 0);
  }

  int64_t qr(int64_t q_columns, int64_t r_rows) const {
    const QR parts = textbook::qr(matrix(0, size(0), size(1)));
    if (op_ != LibraryOp::qr_r) give(0, parts.q, size(0), q_columns);
    give(op_ == LibraryOp::qr_r ? 0 : 1, parts.r, r_rows, size(1));
    return 0;
  }

  int64_t svd(int64_t u_columns, int64_t vh_rows) const {
    const SVD parts = textbook::svd(matrix(0, size(0), size(1)));
    give(0, parts.u, size(0), u_columns);
    give(1, parts.s);
    give(2, parts.vh, vh_rows, size(1));
    return 0;
  }

  int64_t singular_values() const {
    give(0, textbook::svd(matrix(0, size(0), size(1))).s);
    return 0;
  }

  int64_t eigh() const {
    const Matrix a = matrix(0, size(0), size(0));
    const Eigen parts = textbook::eigh(has(LibraryOption::upper) ? a.transposed() : a);
    give(0, parts.w);
    if (op_ == LibraryOp::eigh) give(1, parts.v.elements);
    return 0;
  }

  int64_t expm() const {
    Matrix a = matrix(0, size(0), size(0));
    a = textbook::expm(a);
    give(0, a.elements);
    return 0;
  }

  int64_t rows() const {
    visit_ordered(dtype_, [&](auto zero) {
      using T = decltype(zero);
      const T* a = row<T>(0, size(0));
      if (op_ == LibraryOp::sort) sort(a, size(0), reinterpret_cast<T*>(results_[0]) + point_ * size(0));
      if (op_ == LibraryOp::argsort) argsort(a, size(0), out(0, size(0)));
      if (op_ == LibraryOp::searchsorted) {
        search_sorted(a, size(0), row<T>(1, size(1)), size(1), has(LibraryOption::right), out(0, size(1)));
      }
    });
    return 0;
  }

  LibraryOp op_;
  LibraryOptions options_;
  DType dtype_;
  std::span<const std::byte* const> operands_;
  std::span<std::byte* const> results_;
  std::span<const int64_t> sizes_;
  int64_t point_ = 0;
};

}  // namespace

std::optional<Failure> run(LibraryOp op, LibraryOptions options, DType dtype,
                           std::span<const std::byte* const> operands, std::span<std::byte* const> results,
                           std::span<const int64_t> sizes) {
  INLAY_CHECK(accepts(op, dtype), facts(op).name, " of ", dtype_name(dtype));
  Call call(op, options, dtype, operands, results, sizes);
  for (int64_t point = 0; point < sizes[0]; ++point) {
    if (const int64_t number = call.run(point)) return Failure{number, point};
  }
  return std::nullopt;
}

}  // namespace inlay::textbook
