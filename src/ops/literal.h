#pragma once
// One element of a known value.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ops/dtype.h"
#include "ops/scalar_op.h"

namespace inlay {

/// A scalar constant of any dtype but opaque: floats in `f`, complex numbers in `f` and `imaginary`, integers and bool
/// in `i` (u64 as its bits).
struct Literal {
  DType dtype = DType::f64;
  double f = 0;
  int64_t i = 0;
  double imaginary = 0;

  /// Of a float or complex dtype; rounded to it.
  static Literal of_float(DType dtype, double value, double imaginary = 0);
  static Literal of_integer(DType dtype, int64_t value) { return {dtype, 0, value, 0}; }
  static Literal of(DType dtype, double value);  // converts: for 0, 1 and the like of any dtype
  /// What `text` says: 1.5, -3, true, inf; of a complex dtype its real part. Nothing where it is no number of that
  /// dtype: 1.5 of an integer, 300 of i8, 1e39 of f32.
  static std::optional<Literal> of_text(DType dtype, std::string_view text);

  std::string to_text()
      const;  // 1.5, -3, true, inf, nan, (1.0, -2.0): parses back to the same bits (nan payloads aside)
  void store(void* bytes) const;  // as one element of dtype
  static Literal load(DType dtype, const void* bytes);
  bool same_bits(const Literal& other) const;
  bool operator==(const Literal& other) const { return same_bits(other); }
};

/// The value that changes nothing: 0 for add, 1 for mul, -inf or the minimum integer for max, ...
Literal identity_of(Combine combine, DType dtype);
/// Likewise, and it leaves even the sign of a zero as it is: -0.0 for a sum of floats.
Literal exact_identity_of(Combine combine, DType dtype);

}  // namespace inlay
