#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

enum class Q : uint8_t { wanted, unwanted, raw };
enum class Pivots : uint8_t { no, yes };

/// q has `q_columns` columns, r `r_rows` rows.
template <class T>
int32_t factor(const Call& call, Q wanted, Pivots pivots, int64_t q_columns, int64_t r_rows) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), p = std::min(m, n), q = static_cast<int>(q_columns);
  const int64_t wanted_elements = qr_work_elements<int64_t>(pivots == Pivots::yes, m, n);
  if (wanted_elements > std::numeric_limits<int>::max()) return kTooLarge;
  const int work_elements = static_cast<int>(wanted_elements);
  Workspace workspace(call);
  T* a = workspace.take<T>(static_cast<int64_t>(m) * std::max(n, q));  // by columns
  T* tau = workspace.take<T>(p);
  T* work = workspace.take<T>(work_elements);
  int* columns = pivots == Pivots::yes ? workspace.take_integers(n) : nullptr;
  auto* rwork = pivots == Pivots::yes ? workspace.take<Real<T>>(call.size(1) * 2) : nullptr;
  for (int64_t point = 0; point < (m || n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    int info = 0;
    copy(call.operand<T>(0, point), m, n, by_columns(a, m));
    if (pivots == Pivots::yes) {
      std::fill(columns, columns + n, 0);  // all are free to move
      if (p > 0) Lapack<T>::geqp3(m, n, a, columns, tau, work, work_elements, rwork, &info);
      const View<int64_t> order = call.result<int64_t>(2, point);
      for (int c = 0; c < n; ++c) order(c) = p > 0 ? columns[c] - 1 : c;
    } else if (p > 0) {
      Lapack<T>::geqrf(&m, &n, a, &m, tau, work, &work_elements, &info);
    }
    if (wanted == Q::raw) {
      copy(by_columns(a, m), m, n, call.result<T>(0, point));
      const View<T> out = call.result<T>(1, point);
      for (int i = 0; i < p; ++i) out(i) = tau[i];
      continue;
    }
    const View<T> r = call.result<T>(wanted == Q::wanted ? 1 : 0, point);
    for (int64_t row = 0; row < r_rows; ++row) {
      for (int64_t c = 0; c < n; ++c) r(row, c) = c < row ? T(0) : a[c * m + row];
    }
    if (wanted == Q::unwanted || q == 0) continue;
    Lapack<T>::orgqr(&m, &q, &p, a, &m, tau, work, &work_elements, &info);
    copy(by_columns(a, m), m, q, call.result<T>(0, point));
  }
  return 0;
}

int64_t smaller(const Call& call) { return std::min(call.size(0), call.size(1)); }

}  // namespace

template <class T>
int32_t qr(const Call& call) {
  return factor<T>(call, Q::wanted, Pivots::no, smaller(call), smaller(call));
}

template <class T>
int32_t qr_complete(const Call& call) {
  return factor<T>(call, Q::wanted, Pivots::no, call.size(0), call.size(0));
}

template <class T>
int32_t qr_r(const Call& call) {
  return factor<T>(call, Q::unwanted, Pivots::no, 0, call.size(0));
}

template <class T>
int32_t qr_pivoted(const Call& call) {
  return factor<T>(call, Q::wanted, Pivots::yes, smaller(call), smaller(call));
}

template <class T>
int32_t qr_complete_pivoted(const Call& call) {
  return factor<T>(call, Q::wanted, Pivots::yes, call.size(0), call.size(0));
}

template <class T>
int32_t qr_raw(const Call& call) {
  return factor<T>(call, Q::raw, Pivots::no, 0, 0);
}

template <class T>
int32_t qr_raw_pivoted(const Call& call) {
  return factor<T>(call, Q::raw, Pivots::yes, 0, 0);
}

INLAY_OF_FIELDS(qr)
INLAY_OF_FIELDS(qr_raw)
INLAY_OF_FIELDS(qr_raw_pivoted)
INLAY_OF_FIELDS(qr_complete)
INLAY_OF_FIELDS(qr_r)
INLAY_OF_FIELDS(qr_pivoted)
INLAY_OF_FIELDS(qr_complete_pivoted)

}  // namespace inlay::library
