// Cholesky's factor, and systems with a triangle.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"

namespace inlay::library {

template <class T>
int32_t cholesky(const Call& call) {
  if (call.is_too_large(1)) return kTooLarge;
  const int n = call.count(0);
  const bool upper = call.has(LibraryOption::upper);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> a = call.operand<T>(0, point);
    const View<T> out = call.result<T>(0, point);
    for (int64_t r = 0; r < n; ++r) {
      const int64_t begin = upper ? r : 0, end = upper ? n : r + 1;
      for (int64_t c = 0; c < begin; ++c) out(r, c) = T(0);
      for (int64_t c = begin; c < end; ++c) out(r, c) = a(r, c);
      for (int64_t c = end; c < n; ++c) out(r, c) = T(0);
    }
    // LAPACK sees the transpose, so conj(a); its column-major factor is our row-major one.
    const int ld = static_cast<int>(leading(out, n));
    int info = 0;
    Lapack<T>::potrf(upper ? "L" : "U", &n, out.data, &ld, &info, 1);
    if (info == 0) continue;
    if (!call.has(LibraryOption::nan)) return call.fail(info, point);
    fill(out, n, n, not_a_number<T>());
  }
  return 0;
}

template <class T>
int32_t solve_triangular(const Call& call) {
  if (call.is_too_large(2) || !Call::fits(call.operand_strides[1]) || !Call::fits(call.operand_strides[2])) {
    return kTooLarge;
  }
  const int n = call.count(0), k = call.count(1);
  const bool conjugated = call.has(LibraryOption::adjoint);
  const bool unit = call.has(LibraryOption::unit_diagonal);
  const Diagonal diagonal = unit ? Diagonal::unit : Diagonal::stored;
  for (int64_t point = 0; point < (n && k ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    View<const T> a = call.operand<T>(0, point);
    const View<T> x = call.result<T>(0, point);
    int64_t zero = 0;
    while (!unit && zero < n && a(zero, zero) != T(0)) ++zero;
    if (!unit && zero < n) {
      if (!call.has(LibraryOption::nan)) return call.fail(zero + 1, point);
      fill(x, n, k, not_a_number<T>());
      continue;
    }
    copy(call.operand<T>(1, point), n, k, x);
    // A column-major matrix is the transpose of a row-major one, and its lower triangle an upper one. (BLAS cannot
    // solve with the conjugate alone: then the matrix is row-major.)
    const bool by_rows = n == 1 || a.column == 1;
    if (!by_rows) a = a.transposed();
    const bool upper = call.has(LibraryOption::upper) == by_rows;
    const bool transposed = (conjugated || call.has(LibraryOption::transposed)) == by_rows;
    const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
    const Turned turned = !transposed ? Turned::no : conjugated ? Turned::conjugated : Turned::transposed;
    const int lda = static_cast<int>(leading(a, n));
    if (k == 1) {
      Lapack<T>::trsv(triangle, turned, diagonal, n, a.data, lda, x.data, static_cast<int>(n == 1 ? 1 : x.row));
    } else {
      Lapack<T>::trsm(triangle, turned, diagonal, n, k, a.data, lda, x.data, static_cast<int>(leading(x, k)));
    }
  }
  return 0;
}

INLAY_OF_FIELDS(cholesky)
INLAY_OF_FIELDS(solve_triangular)

}  // namespace inlay::library
