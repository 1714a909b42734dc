// Cholesky's factor, and systems with a triangle.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {

template <class T>
int32_t cholesky(const Call& call) {
  if (call.is_too_large(1)) return kTooLarge;
  const int n = call.count(0);
  const int64_t size = call.size(0) * call.size(0);
  const bool upper = call.has(LibraryOption::upper);
  for (int64_t point = 0; point < (size ? call.batch() : 0); ++point) {
    const T* a = call.operand<T>(0, point, size);
    T* out = call.result<T>(0, point, size);
    for (int64_t r = 0; r < n; ++r) {
      const T *from = a + r * n, *from_end = from + n;
      T* to = out + r * n;
      if (upper) {
        std::fill(to, to + r, T(0));
        std::copy(from + r, from_end, to + r);
      } else {
        std::copy(from, from + r + 1, to);
        std::fill(to + r + 1, to + n, T(0));
      }
    }
    // To LAPACK the matrix is its transpose, so conj(a); its factor by columns is ours by rows.
    int info = 0;
    Lapack<T>::potrf(upper ? "L" : "U", &n, out, &n, &info, 1);
    if (info == 0) continue;
    if (!call.has(LibraryOption::nan)) return call.fail(info, point);
    std::fill(out, out + size, not_a_number<T>());
  }
  return 0;
}

template <class T>
int32_t solve_triangular(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int n = call.count(0), k = call.count(1);
  const int64_t a_size = call.size(0) * call.size(0), b_size = call.size(0) * call.size(1);
  const CBLAS_UPLO triangle = call.has(LibraryOption::upper) ? CblasUpper : CblasLower;
  const CBLAS_TRANSPOSE transposed = call.has(LibraryOption::adjoint)      ? CblasConjTrans
                                     : call.has(LibraryOption::transposed) ? CblasTrans
                                                                           : CblasNoTrans;
  const bool unit = call.has(LibraryOption::unit_diagonal);
  const CBLAS_DIAG diagonal = unit ? CblasUnit : CblasNonUnit;
  for (int64_t point = 0; point < (b_size ? call.batch() : 0); ++point) {
    const T* a = call.operand<T>(0, point, a_size);
    const T* b = call.operand<T>(1, point, b_size);
    T* x = call.result<T>(0, point, b_size);
    int64_t zero = 0;
    while (!unit && zero < n && a[zero * (n + 1)] != T(0)) ++zero;
    if (!unit && zero < n) {
      if (!call.has(LibraryOption::nan)) return call.fail(zero + 1, point);
      std::fill(x, x + b_size, not_a_number<T>());
      continue;
    }
    std::copy(b, b + b_size, x);
    if (k == 1) {
      Lapack<T>::trsv(triangle, transposed, diagonal, n, a, x);
    } else {
      Lapack<T>::trsm(triangle, transposed, diagonal, n, k, a, x);
    }
  }
  return 0;
}

INLAY_OF_FIELDS(cholesky)
INLAY_OF_FIELDS(solve_triangular)

}  // namespace inlay::library
