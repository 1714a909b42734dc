#pragma once
// Arithmetic of sizes in 64 bits: the number, or none where it does not fit. What that means is for the caller to say.
//
// The compiler folds sizes that it knows, and the runtime evaluates the others: both by these, so that a size is the
// same number whoever finds it.
#include <cstdint>
#include <limits>
#include <optional>

namespace inlay::exact {

inline std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

inline std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

/// Rounds down. By 0 it is 0: a symbol may turn out to be 0.
inline std::optional<int64_t> floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  // 2^63 is no number of 64 bits, and its quotient ends a process on many CPUs.
  if (a == std::numeric_limits<int64_t>::min() && b == -1) return std::nullopt;
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

}  // namespace inlay::exact
