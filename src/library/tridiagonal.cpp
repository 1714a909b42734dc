// Systems with three diagonals.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {

template <class T>
int32_t tridiagonal_lu_factor(const Call& call) {
  if (call.is_too_large(1)) return kTooLarge;
  const int n = call.count(0);
  int* swaps = Workspace(call).take_integers(n);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    for (std::size_t i = 0; i < 3; ++i) copy(call.operand<T>(i, point), i == 1 ? n : n - 1, call.result<T>(i, point));
    int info = 0;  // a 0 on the diagonal of u shows there
    Lapack<T>::gttrf(&n, call.result<T>(0, point).data, call.result<T>(1, point).data, call.result<T>(2, point).data,
                     call.result<T>(3, point).data, swaps, &info);
    const View<int64_t> pivots = call.result<int64_t>(4, point);
    for (int i = 0; i < n; ++i) pivots(i) = swaps[i] - 1;
  }
  return 0;
}

namespace {

/// Rows of a right-hand side in row-major order, unlike LAPACK's.
template <class T>
class Rows {
 public:
  Rows(View<T> x, int64_t columns) : x_(x), columns_(columns) {}

  void swap(int64_t a, int64_t b) const {
    if (a != b) std::swap_ranges(&x_(a, 0), &x_(a, 0) + columns_, &x_(b, 0));
  }
  /// Subtracts `factor` times row `from` from row `to`.
  void subtract(int64_t to, T factor, int64_t from) const {
    T* out = &x_(to, 0);
    const T* in = &x_(from, 0);
    for (int64_t c = 0; c < columns_; ++c) out[c] -= factor * in[c];
  }
  void divide(int64_t row, T by) const {
    T* out = &x_(row, 0);
    for (int64_t c = 0; c < columns_; ++c) out[c] /= by;
  }

 private:
  View<T> x_;
  int64_t columns_;
};

}  // namespace

template <class T>
int32_t tridiagonal_lu_solve(const Call& call) {
  const int64_t n = call.size(0), k = call.size(1);
  for (int64_t point = 0; point < (n && k ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> l = call.operand<T>(0, point), on = call.operand<T>(1, point);
    const View<const T> above = call.operand<T>(2, point), second_above = call.operand<T>(3, point);
    const View<const int64_t> pivots = call.operand<int64_t>(4, point);
    for (int64_t i = 0; i < n; ++i) {
      if (pivots(i) != i && (pivots(i) != i + 1 || i + 1 == n)) return call.fail(i + 1, point);
    }
    copy(call.operand<T>(5, point), n, k, call.result<T>(0, point));
    const Rows<T> x(call.result<T>(0, point), k);
    if (call.has(LibraryOption::transposed)) {
      for (int64_t i = 0; i < n; ++i) {
        if (i > 1) x.subtract(i, second_above(i - 2), i - 2);
        if (i > 0) x.subtract(i, above(i - 1), i - 1);
        x.divide(i, on(i));
      }
      for (int64_t i = n - 1; i-- > 0;) {
        x.subtract(i, l(i), i + 1);
        x.swap(i, pivots(i));
      }
      continue;
    }
    for (int64_t i = 0; i + 1 < n; ++i) {
      x.swap(i, pivots(i));
      x.subtract(i + 1, l(i), i);
    }
    for (int64_t i = n; i-- > 0;) {
      if (i + 2 < n) x.subtract(i, second_above(i), i + 2);
      if (i + 1 < n) x.subtract(i, above(i), i + 1);
      x.divide(i, on(i));
    }
  }
  return 0;
}

INLAY_OF_FIELDS(tridiagonal_lu_factor)
INLAY_OF_FIELDS(tridiagonal_lu_solve)

}  // namespace inlay::library
