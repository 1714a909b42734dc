#include <algorithm>

#include "library/call.h"
#include "library/lapack.h"
#include "library/layout.h"
#include "ops/library_workspace.h"

namespace inlay::library {
namespace {

enum class Q : uint8_t { wanted, unwanted };

/// q has `q_columns` columns, r `r_rows` rows.
template <class T>
int32_t factor(const Call& call, Q wanted, int64_t q_columns, int64_t r_rows) {
  if (call.is_too_large(2)) return kTooLarge;
  const int m = call.count(0), n = call.count(1), p = std::min(m, n), q = static_cast<int>(q_columns);
  const int64_t size = call.size(0) * call.size(1);
  const int work_elements = static_cast<int>(std::max<int64_t>(m, n) * kLapackBlock + 1);
  Workspace workspace(call);
  T* a = workspace.take<T>(static_cast<int64_t>(m) * std::max(n, q));  // by columns
  T* tau = workspace.take<T>(p);
  T* work = workspace.take<T>(work_elements);
  for (int64_t point = 0; point < call.batch(); ++point) {
    int info = 0;
    transpose(call.operand<T>(0, point, size), m, n, a);
    if (p > 0) Lapack<T>::geqrf(&m, &n, a, &m, tau, work, &work_elements, &info);
    T* r = call.result<T>(wanted == Q::wanted ? 1 : 0, point, r_rows * n);
    for (int64_t row = 0; row < r_rows; ++row) {
      for (int64_t c = 0; c < n; ++c) r[row * n + c] = c < row ? T(0) : a[c * m + row];
    }
    if (wanted == Q::unwanted || q == 0) continue;
    Lapack<T>::orgqr(&m, &q, &p, a, &m, tau, work, &work_elements, &info);
    transpose(a, q, m, call.result<T>(0, point, q_columns * m));
  }
  return 0;
}

}  // namespace

template <class T>
int32_t qr(const Call& call) {
  const int64_t p = std::min(call.size(0), call.size(1));
  return factor<T>(call, Q::wanted, p, p);
}

template <class T>
int32_t qr_complete(const Call& call) {
  return factor<T>(call, Q::wanted, call.size(0), call.size(0));
}

template <class T>
int32_t qr_r(const Call& call) {
  return factor<T>(call, Q::unwanted, 0, call.size(0));
}

template int32_t qr<float>(const Call&);
template int32_t qr<double>(const Call&);
template int32_t qr_complete<float>(const Call&);
template int32_t qr_complete<double>(const Call&);
template int32_t qr_r<float>(const Call&);
template int32_t qr_r<double>(const Call&);

}  // namespace inlay::library
