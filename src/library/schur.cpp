// The Schur form of any square matrix, and the Sylvester equation with two of them.
#include <complex>

#include "library/call.h"
#include "library/lapack.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

/// Does the option select the eigenvalue?
template <LibraryOption option>
bool is_named(std::complex<double> w) {
  switch (option) {
    case LibraryOption::left: return w.real() < 0;
    case LibraryOption::right: return w.real() >= 0;
    case LibraryOption::inside: return std::abs(w) <= 1;
    default: return std::abs(w) > 1;
  }
}

/// The same as LAPACK calls it: for a real matrix with the parts of an eigenvalue.
template <class T, LibraryOption option>
struct Leads {
  static int call(const T* re, const T* im) { return is_named<option>({*re, *im}); }
};
template <class R, LibraryOption option>
struct Leads<std::complex<R>, option> {
  static int call(const std::complex<R>* w) { return is_named<option>({w->real(), w->imag()}); }
};

template <class T>
typename Lapack<T>::Leads leads_of(const Call& call) {
  if (call.has(LibraryOption::left)) return Leads<T, LibraryOption::left>::call;
  if (call.has(LibraryOption::right)) return Leads<T, LibraryOption::right>::call;
  if (call.has(LibraryOption::inside)) return Leads<T, LibraryOption::inside>::call;
  return call.has(LibraryOption::outside) ? Leads<T, LibraryOption::outside>::call : nullptr;
}

}  // namespace

template <class T>
int32_t schur(const Call& call) {
  if (call.is_too_large(1) || !Call::fits(eig_work_elements<int64_t>(call.size(0)))) return kTooLarge;
  const int n = call.count(0), work_elements = static_cast<int>(eig_work_elements<int64_t>(n));
  Workspace workspace(call);
  T* t = workspace.take<T>(call.size(0) * call.size(0));  // by columns
  T* z = workspace.take<T>(call.size(0) * call.size(0));
  T* work = workspace.take<T>(work_elements);
  int* chosen = workspace.take_integers(n);
  auto* w = workspace.take<Real<T>>(call.size(0) * 2);
  auto* rwork = workspace.take<Real<T>>(n);
  const auto leads = leads_of<T>(call);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> a = call.operand<T>(0, point);
    copy(a, n, n, by_columns(t, n));
    int info = 1;
    if (is_finite(a, n)) {
      Lapack<T>::gees(leads ? "S" : "N", leads, n, t, w, z, work, work_elements, rwork, chosen, &info);
    }
    if (info != 0) {
      for (std::size_t i = 0; i < 2; ++i) fill(call.result<T>(i, point), n, n, not_a_number<T>());
      continue;
    }
    copy(by_columns(t, n), n, n, call.result<T>(0, point));
    copy(by_columns(z, n), n, n, call.result<T>(1, point));
  }
  return 0;
}

template <class T>
int32_t sylvester(const Call& call) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), plus = 1;
  Workspace workspace(call);
  T* a = workspace.take<T>(call.size(0) * call.size(0));  // by columns
  T* b = workspace.take<T>(call.size(1) * call.size(1));
  T* x = workspace.take<T>(call.size(0) * call.size(1));
  for (int64_t point = 0; point < (m && n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    copy(call.operand<T>(0, point), m, m, by_columns(a, m));
    copy(call.operand<T>(1, point), n, n, by_columns(b, n));
    copy(call.operand<T>(2, point), m, n, by_columns(x, m));
    Real<T> scale = 1;  // less than 1 where x would overflow
    int info = 0;       // 1 where eigenvalues of a and -b nearly meet: x is then very large
    Lapack<T>::trsyl("N", "N", &plus, &m, &n, a, &m, b, &n, x, &m, &scale, &info, 1, 1);
    const View<T> out = call.result<T>(0, point);
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) out(r, c) = x[c * m + r] * scale;
    }
  }
  return 0;
}

INLAY_OF_FIELDS(schur)
INLAY_OF_FIELDS(sylvester)

}  // namespace inlay::library
