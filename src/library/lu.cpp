// LU factorization with pivots.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {

template <class T>
int32_t solve(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int n = call.count(0), k = call.count(1);
  Workspace workspace(call);
  T* lu = workspace.take<T>(call.size(0) * call.size(0));  // by columns
  int* pivots = workspace.take_integers(n);
  int info = 0;
  for (int64_t point = 0; point < (n && k ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<T> x = call.result<T>(0, point);
    if (point == 0 || !call.is_shared(0)) {
      copy(call.operand<T>(0, point), n, n, by_columns(lu, n));
      Lapack<T>::getrf(&n, &n, lu, &n, pivots, &info);
    }
    if (info != 0) {
      if (!call.has(LibraryOption::nan)) return call.fail(info, point);
      fill(x, n, k, not_a_number<T>());
      continue;
    }
    copy(call.operand<T>(1, point), n, k, x);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = pivots[i] - 1;
      if (other != i) std::swap_ranges(&x(i, 0), &x(i, 0) + k, &x(other, 0));
    }
    // A column-major lower triangle is a row-major upper one, transposed.
    const int ldx = static_cast<int>(leading(x, k));
    Lapack<T>::trsm(Triangle::upper, Turned::transposed, Diagonal::unit, n, k, lu, n, x.data, ldx);
    Lapack<T>::trsm(Triangle::lower, Turned::transposed, Diagonal::stored, n, k, lu, n, x.data, ldx);
  }
  return 0;
}

template <class T>
int32_t lu_factor(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), num_pivots = std::min(m, n);
  const int64_t size = call.size(0) * call.size(1);
  Workspace workspace(call);
  T* lu = workspace.take<T>(size);  // by columns
  int* swaps = workspace.take_integers(num_pivots);
  for (int64_t point = 0; point < (size ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    copy(call.operand<T>(0, point), m, n, by_columns(lu, m));
    int info = 0;
    Lapack<T>::getrf(&m, &n, lu, &m, swaps, &info);
    const View<T> out = call.result<T>(0, point);
    if (info != 0 && call.has(LibraryOption::nan)) {
      fill(out, m, n, not_a_number<T>());
    } else {
      copy(by_columns(lu, m), m, n, out);
    }
    const View<int64_t> pivots = call.result<int64_t>(1, point);
    for (int i = 0; i < num_pivots; ++i) pivots(i) = swaps[i] - 1;
  }
  return 0;
}

int32_t pivots_to_permutation(const Call& call) {
  const int64_t n = call.size(0);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const int64_t> pivots = call.operand<int64_t>(0, point);
    const View<int64_t> out = call.result<int64_t>(0, point);
    for (int64_t i = 0; i < n; ++i) out(i) = i;
    for (int64_t i = 0; i < n; ++i) {
      if (pivots(i) < 0 || pivots(i) >= n) return call.fail(i + 1, point);
      std::swap(out(i), out(pivots(i)));
    }
  }
  return 0;
}

INLAY_OF_FIELDS(solve)
INLAY_OF_FIELDS(lu_factor)

}  // namespace inlay::library
