// Singular values and the eigenvalues of symmetric (Hermitian) matrices.
#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

/// The results for a matrix without elements: square factors are identities.
template <class T>
void set_identity(View<T> x, int64_t n) {
  fill(x, n, n, T(0));
  for (int64_t i = 0; i < n; ++i) x(i, i) = T(1);
}

/// LAPACK has no singular values of a matrix with other elements, and writes lines on stdout where one is infinite.
template <class T>
bool are_finite(const T* elements, int64_t count) {
  return std::all_of(elements, elements + count,
                     [](const T& e) { return std::isfinite(std::real(e)) && std::isfinite(std::imag(e)); });
}

// Column-major, our a is its transpose a', and a = u s vh makes a' = vh' s u': LAPACK's u is vh', whose columns are the
// rows of vh, and its vh is u'. So all factors have the layout that we need, also for complex numbers.
template <class T>
int32_t decompose(const Call& call, const char* job) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), p = std::min(m, n);
  const bool vectors = *job != 'N', full = *job == 'A';
  const int64_t size = call.size(0) * call.size(1);
  const int64_t u_columns = full ? m : p;
  const int64_t work_elements = svd_work_elements<int64_t>(vectors, m, n);
  if (work_elements > std::numeric_limits<int>::max()) return kTooLarge;
  const int lwork = static_cast<int>(work_elements);
  Workspace workspace(call);
  T* a = workspace.take<T>(size);
  T* work = workspace.take<T>(work_elements);
  int* integers = workspace.take_integers(static_cast<int64_t>(p) * 8 + 1);
  auto* rwork = kIsComplex<T> ? workspace.take<Real<T>>(svd_rwork_elements<int64_t>(m, n)) : nullptr;
  for (int64_t point = 0; point < (m || n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    Real<T>* s = call.result<Real<T>>(vectors ? 1 : 0, point).data;
    const View<T> u = vectors ? call.result<T>(0, point) : View<T>();
    const View<T> vh = vectors ? call.result<T>(2, point) : View<T>();
    if (size == 0) {
      if (full) set_identity(u, m), set_identity(vh, n);
      continue;
    }
    copy(call.operand<T>(0, point), m, n, by_rows(a, n));
    if (!are_finite(a, size)) return call.fail(0, point);
    const int ldu = static_cast<int>(leading(vh, n)), ldvt = static_cast<int>(leading(u, u_columns));
    int info = 0;
    Lapack<T>::gesdd(job, n, m, a, s, vh.data, ldu, u.data, ldvt, work, lwork, rwork, integers, &info);
    if (info != 0) return call.fail(info, point);
  }
  return 0;
}

template <class T>
int32_t diagonalize(const Call& call, bool vectors) {
  if (call.is_too_large(1)) return kTooLarge;
  const int n = call.count(0);
  const int64_t size = call.size(0) * call.size(0);
  const int64_t work_elements = eigh_work_elements<int64_t>(vectors, n);
  if (work_elements > std::numeric_limits<int>::max()) return kTooLarge;
  const int lwork = static_cast<int>(work_elements), num_integers = vectors ? 5 * n + 3 : 1;
  Workspace workspace(call);
  T* copied = vectors ? nullptr : workspace.take<T>(size);
  T* work = workspace.take<T>(work_elements);
  int* integers = workspace.take_integers(num_integers);
  const int num_rwork = static_cast<int>(eigh_rwork_elements<int64_t>(vectors, n));
  auto* rwork = kIsComplex<T> ? workspace.take<Real<T>>(num_rwork) : nullptr;
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<T> a = vectors ? call.result<T>(1, point) : by_rows(copied, n);
    copy(call.operand<T>(0, point), n, n, a);
    const int lda = static_cast<int>(leading(a, n));
    int info = 0;
    // By columns, ours is its transpose, which is its conjugate; so are the vectors.
    Lapack<T>::heevd(vectors ? "V" : "N", call.has(LibraryOption::upper) ? "L" : "U", n, a.data, lda,
                     call.result<Real<T>>(0, point).data, work, lwork, rwork, num_rwork, integers, num_integers, &info);
    if (info != 0) return call.fail(info, point);
    if (vectors) transpose_in_place(a, n);
    if constexpr (kIsComplex<T>) {
      for (int64_t r = 0; vectors && r < n; ++r) {
        for (int64_t c = 0; c < n; ++c) a(r, c) = std::conj(a(r, c));
      }
    }
  }
  return 0;
}

}  // namespace

template <class T>
int32_t svd(const Call& call) {
  return decompose<T>(call, "S");
}

template <class T>
int32_t svd_full(const Call& call) {
  return decompose<T>(call, "A");
}

template <class T>
int32_t singular_values(const Call& call) {
  return decompose<T>(call, "N");
}

template <class T>
int32_t eigh(const Call& call) {
  return diagonalize<T>(call, true);
}

template <class T>
int32_t eigvalsh(const Call& call) {
  return diagonalize<T>(call, false);
}

INLAY_OF_FIELDS(svd)
INLAY_OF_FIELDS(svd_full)
INLAY_OF_FIELDS(singular_values)
INLAY_OF_FIELDS(eigh)
INLAY_OF_FIELDS(eigvalsh)

}  // namespace inlay::library
