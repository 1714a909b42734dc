// The generalized Schur form of two square matrices (QZ).
#include <complex>

#include "library/call.h"
#include "library/lapack.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

/// The eigenvalues, alpha / beta, as LAPACK leaves them: of real matrices the real parts of alpha, the imaginary ones,
/// and beta; of complex ones alpha and beta, both complex.
template <class T>
struct Eigenvalues {
  const Real<T>* parts = nullptr;
  int n = 0;

  std::complex<Real<T>> alpha(int i) const {
    if constexpr (kIsComplex<T>) return {parts[2 * i], parts[2 * i + 1]};
    return {parts[i], parts[n + i]};
  }
  Real<T> beta(int i) const { return parts[2 * n + (kIsComplex<T> ? 2 * i : i)]; }
};

/// Does the option select the eigenvalue? The quotient is NumPy's: it multiplies by 1 / beta, so a number on the unit
/// circle may round to either side of it.
template <class R>
bool is_named(const Call& call, std::complex<R> alpha, R beta) {
  if (beta == 0) return call.has(LibraryOption::outside) && alpha != R(0);
  const std::complex<R> w = alpha * (1 / beta);
  if (call.has(LibraryOption::left)) return w.real() < 0;
  if (call.has(LibraryOption::right)) return w.real() > 0;
  return call.has(LibraryOption::inside) ? std::abs(w) < 1 : std::abs(w) > 1;
}

/// The matrices and their factors, column-major, and scratch memory.
template <class T>
struct Pencil {
  int n = 0, work_elements = 0;
  T *a = nullptr, *b = nullptr, *q = nullptr, *z = nullptr, *work = nullptr;
  Real<T>* values = nullptr;
  int* chosen = nullptr;  // and one more integer

  Pencil(const Call& call, Workspace workspace)
      : n(call.count(0)), work_elements(static_cast<int>(eig_work_elements<int64_t>(n))) {
    for (T** matrix : {&a, &b, &q, &z}) *matrix = workspace.take<T>(call.size(0) * call.size(0));
    work = workspace.take<T>(work_elements);
    values = workspace.take<Real<T>>(qz_parts(call.size(0)));
    chosen = workspace.take_integers(call.size(0) + 1);
  }

  /// Makes a and b triangular, first with the eigenvalues in any order; then those that the option selects are moved to
  /// the front, which scales them again. Returns false if either fails.
  bool factor(const Call& call) {
    int info = 0;
    Lapack<T>::gges(n, a, b, values, q, z, work, work_elements, &info);
    if (info != 0 || call.options == 0) return info == 0;
    const Eigenvalues<T> found = eigenvalues();
    for (int i = 0; i < n; ++i) chosen[i] = is_named(call, found.alpha(i), found.beta(i));
    Lapack<T>::tgsen(n, chosen, a, b, values, q, z, work, work_elements, chosen + n, &info);
    return info == 0;
  }

  Eigenvalues<T> eigenvalues() const { return {values, n}; }
};

constexpr std::size_t kAlpha = 2, kBeta = 3;  // the results that are rows

template <class T>
void give_nan(const Call& call, int64_t point, int64_t n) {
  for (std::size_t i : {0, 1, 4, 5}) fill(call.result<T>(i, point), n, n, not_a_number<T>());
  fill(call.result<std::complex<Real<T>>>(kAlpha, point), n, 1, not_a_number<std::complex<Real<T>>>());
  fill(call.result<Real<T>>(kBeta, point), n, 1, not_a_number<Real<T>>());
}

}  // namespace

template <class T>
int32_t qz(const Call& call) {
  if (call.is_too_large(1) || !Call::fits(eig_work_elements<int64_t>(call.size(0)))) return kTooLarge;
  Pencil<T> pencil(call, Workspace(call));
  const int n = pencil.n;
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> a = call.operand<T>(0, point), b = call.operand<T>(1, point);
    copy(a, n, n, by_columns(pencil.a, n));
    copy(b, n, n, by_columns(pencil.b, n));
    if (!is_finite(a, n) || !is_finite(b, n) || !pencil.factor(call)) {
      give_nan<T>(call, point, n);
      continue;
    }
    copy(by_columns(pencil.a, n), n, n, call.result<T>(0, point));
    copy(by_columns(pencil.b, n), n, n, call.result<T>(1, point));
    const Eigenvalues<T> found = pencil.eigenvalues();
    for (int i = 0; i < n; ++i) {
      call.result<std::complex<Real<T>>>(kAlpha, point)(i) = found.alpha(i);
      call.result<Real<T>>(kBeta, point)(i) = found.beta(i);
    }
    copy(by_columns(pencil.q, n), n, n, call.result<T>(4, point));
    copy(by_columns(pencil.z, n), n, n, call.result<T>(5, point));
  }
  return 0;
}

INLAY_OF_FIELDS(qz)

}  // namespace inlay::library
