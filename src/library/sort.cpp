// Sorts rows of any ordered dtype. NaN comes last, as in NumPy.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "library/call.h"
#include "ops/element_types.h"

namespace inlay::library {
namespace {

template <class T>
bool less(T a, T b) {
  if constexpr (kIsComplex<T>) {
    const auto kind = [](T z) { return 2 * std::isnan(z.real()) + std::isnan(z.imag()); };
    if (kind(a) != kind(b)) return kind(a) < kind(b);
    if (!std::isnan(a.real()) && a.real() != b.real()) return a.real() < b.real();
    return a.imag() < b.imag();
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}

}  // namespace

template <class T>
int32_t sort(const Call& call) {
  const int64_t n = call.size(0);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    T* out = call.result<T>(0, point).data;
    copy(call.operand<T>(0, point), n, View<T>{out, 1, 0});
    T* end = out + n;
    if constexpr (std::is_floating_point_v<T>) {  // then the rest is in plain order
      end = std::partition(out, end, [](T e) { return !std::isnan(e); });
      std::sort(out, end);
    } else {
      std::sort(out, end, less<T>);
    }
  }
  return 0;
}

template <class T>
int32_t argsort(const Call& call) {
  const int64_t n = call.size(0);
  for (int64_t point = 0; point < (n ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> x = call.operand<T>(0, point);
    int64_t* out = call.result<int64_t>(0, point).data;
    for (int64_t i = 0; i < n; ++i) out[i] = i;
    // Equal elements are ordered by position: stable, without the memory that std::stable_sort allocates.
    std::sort(out, out + n, [x](int64_t i, int64_t j) {
      if (less(x(i), x(j))) return true;
      return !less(x(j), x(i)) && i < j;
    });
  }
  return 0;
}

/// Allows for elements that each take a search in an array that is in no cache.
constexpr int64_t kElementsBetweenLooks = 1 << 14;

template <class T>
int32_t searchsorted(const Call& call) {
  const int64_t n = call.size(0), k = call.size(1);
  const bool right = call.has(LibraryOption::right);
  for (int64_t point = 0; point < (k ? call.batch() : 0); ++point) {
    if (call.is_to_end()) return INLAY_INTERRUPTED;
    const View<const T> x = call.operand<T>(0, point), wanted = call.operand<T>(1, point);
    const View<int64_t> out = call.result<int64_t>(0, point);
    for (int64_t i = 0; i < k; ++i) {
      if (i % kElementsBetweenLooks == kElementsBetweenLooks - 1 && call.is_to_end()) return INLAY_INTERRUPTED;
      int64_t begin = 0, end = n;  // its position is in [begin, end]
      while (begin < end) {
        const int64_t at = begin + (end - begin) / 2;
        const bool is_behind = right ? !less(wanted(i), x(at)) : less(x(at), wanted(i));
        (is_behind ? begin : end) = is_behind ? at + 1 : at;
      }
      out(i) = begin;
    }
  }
  return 0;
}

#define INLAY_ROWS(T)                       \
  template int32_t sort<T>(const Call&);    \
  template int32_t argsort<T>(const Call&); \
  template int32_t searchsorted<T>(const Call&);
INLAY_ROWS(int8_t)
INLAY_ROWS(int16_t)
INLAY_ROWS(int32_t)
INLAY_ROWS(int64_t)
INLAY_ROWS(uint8_t)
INLAY_ROWS(uint16_t)
INLAY_ROWS(uint32_t)
INLAY_ROWS(uint64_t)
INLAY_ROWS(float)
INLAY_ROWS(double)
INLAY_ROWS(std::complex<float>)
INLAY_ROWS(std::complex<double>)
#undef INLAY_ROWS

}  // namespace inlay::library
