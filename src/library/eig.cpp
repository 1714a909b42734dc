// Eigenvalues and eigenvectors of any square matrix: complex, also for real matrices.
#include <complex>
#include <limits>

#include "library/call.h"
#include "library/lapack.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

template <class T>
using ComplexType = std::complex<Real<T>>;

/// Memory for the eigenvalues of a real matrix before they become complex; for a complex one, scratch memory.
template <class T>
struct Parts {
  Real<T>*re = nullptr, *im = nullptr;
};

/// `w` holds LAPACK's real and imaginary parts.
template <class R>
void join_values(const Parts<R>& parts, int64_t n, View<std::complex<R>> w) {
  for (int64_t i = 0; i < n; ++i) w(i) = {parts.re[i], parts.im[i]};
}

/// For a pair of conjugate values the first column holds the real parts of the vector, the second the imaginary ones.
template <class R>
void join_vectors(const Parts<R>& parts, const R* columns, int64_t n, View<std::complex<R>> v) {
  for (int64_t c = 0; c < n; ++c) {
    const bool is_pair = parts.im[c] != 0;
    for (int64_t row = 0; row < n; ++row) {
      const R re = columns[c * n + row], im = is_pair ? columns[(c + 1) * n + row] : R(0);
      v(row, c) = {re, im};
      if (is_pair) v(row, c + 1) = {re, -im};
    }
    c += is_pair;
  }
}

template <class T>
int32_t find(const Call& call, bool vectors) {
  if (call.is_too_large(1)) return kTooLarge;
  const int n = call.count(0);
  const int64_t size = call.size(0) * call.size(0), work_elements = eig_work_elements<int64_t>(n);
  if (work_elements > std::numeric_limits<int>::max()) return kTooLarge;
  const int lwork = static_cast<int>(work_elements);
  Workspace workspace(call);
  T* a = workspace.take<T>(size);  // by columns
  T* found = vectors ? workspace.take<T>(size) : nullptr;
  T* work = workspace.take<T>(lwork);
  Parts<T> parts{workspace.take<Real<T>>(n), workspace.take<Real<T>>(n)};
  const char* const right = vectors ? "V" : "N";
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> from = call.operand<T>(0, point);
    if (!is_finite(from, n)) return call.fail(0, point);
    copy(from, n, n, by_columns(a, n));
    const auto w = call.result<ComplexType<T>>(0, point);
    const auto v = vectors ? call.result<ComplexType<T>>(1, point) : View<ComplexType<T>>();
    int info = 0;
    if constexpr (kIsComplex<T>) {
      Lapack<T>::geev("N", right, &n, a, &n, w.data, nullptr, &n, found, &n, work, &lwork, parts.re, &info, 1, 1);
      if (vectors && info == 0) copy(by_columns(found, n), n, n, v);
    } else {
      Lapack<T>::geev("N", right, &n, a, &n, parts.re, parts.im, nullptr, &n, found, &n, work, &lwork, &info, 1, 1);
      join_values(parts, n, w);
      if (vectors && info == 0) join_vectors(parts, found, n, v);
    }
    if (info != 0) return call.fail(info, point);
  }
  return 0;
}

}  // namespace

template <class T>
int32_t eig(const Call& call) {
  return find<T>(call, true);
}

template <class T>
int32_t eigvals(const Call& call) {
  return find<T>(call, false);
}

INLAY_OF_FIELDS(eig)
INLAY_OF_FIELDS(eigvals)

}  // namespace inlay::library
