// Elimination with pivots.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"
#include "library/layout.h"

namespace inlay::library {

template <class T>
int32_t solve(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int n = call.count(0), k = call.count(1);
  const int64_t a_size = call.size(0) * call.size(0), b_size = call.size(0) * call.size(1);
  Workspace workspace(call);
  T* lu = workspace.take<T>(a_size);  // by columns
  int* pivots = workspace.take_integers(n);
  const bool same_matrix = call.has(LibraryOption::left_shared);
  int info = 0;
  for (int64_t point = 0; point < (b_size ? call.batch() : 0); ++point) {
    T* x = call.result<T>(0, point, b_size);
    if (point == 0 || !same_matrix) {
      transpose(call.operand<T>(0, point, a_size), n, n, lu);
      Lapack<T>::getrf(&n, &n, lu, &n, pivots, &info);
    }
    if (info != 0) {
      if (!call.has(LibraryOption::nan)) return call.fail(info, point);
      std::fill(x, x + b_size, not_a_number<T>());
      continue;
    }
    const T* b = call.operand<T>(1, point, b_size);
    std::copy(b, b + b_size, x);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t other = pivots[i] - 1;
      if (other != i) std::swap_ranges(x + i * k, x + (i + 1) * k, x + other * k);
    }
    // A lower triangle by columns is an upper one by rows, transposed.
    Lapack<T>::trsm(CblasUpper, CblasTrans, CblasUnit, n, k, lu, x);
    Lapack<T>::trsm(CblasLower, CblasTrans, CblasNonUnit, n, k, lu, x);
  }
  return 0;
}

template <class T>
int32_t lu_factor(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), num_pivots = std::min(m, n);
  const int64_t size = call.size(0) * call.size(1);
  Workspace workspace(call);
  T* lu = workspace.take<T>(size);
  int* swaps = workspace.take_integers(num_pivots);
  for (int64_t point = 0; point < (size ? call.batch() : 0); ++point) {
    transpose(call.operand<T>(0, point, size), m, n, lu);
    int info = 0;
    Lapack<T>::getrf(&m, &n, lu, &m, swaps, &info);
    T* out = call.result<T>(0, point, size);
    if (info != 0 && call.has(LibraryOption::nan)) {
      std::fill(out, out + size, not_a_number<T>());
    } else {
      transpose(lu, n, m, out);
    }
    int64_t* pivots = call.result<int64_t>(1, point, num_pivots);
    for (int i = 0; i < num_pivots; ++i) pivots[i] = swaps[i] - 1;
  }
  return 0;
}

int32_t pivots_to_permutation(const Call& call) {
  const int64_t n = call.size(0);
  for (int64_t point = 0; point < call.batch(); ++point) {
    const int64_t* pivots = call.operand<int64_t>(0, point, n);
    int64_t* out = call.result<int64_t>(0, point, n);
    for (int64_t i = 0; i < n; ++i) out[i] = i;
    for (int64_t i = 0; i < n; ++i) {
      if (pivots[i] < 0 || pivots[i] >= n) return call.fail(i + 1, point);
      std::swap(out[i], out[pivots[i]]);
    }
  }
  return 0;
}

INLAY_OF_FIELDS(solve)
INLAY_OF_FIELDS(lu_factor)

}  // namespace inlay::library
