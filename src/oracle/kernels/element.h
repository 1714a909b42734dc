#pragma once
// One element of any dtype, and the scalar ops on it: the kernel evaluator's own.
//
// It shares nothing with the reference, on purpose: where both are wrong in the same way, it is not for the same
// reason. Integers are computed in 128 bits and cut; f32 functions without a C++ form of their own go through f64.
#include <array>
#include <cstddef>
#include <span>

#include "ops/literal.h"
#include "ops/scalar_op.h"

namespace inlay::kernel {

struct Element {
  DType dtype = DType::f64;
  std::array<std::byte, 16> bytes{};  // the first size_bytes(dtype) of them

  static Element load(DType dtype, const std::byte* from);
  void store(std::byte* to) const;
  static Element of(const Literal& literal);
  static Element of_integer(DType dtype, int64_t value);  // of an integer dtype: cut to it

  bool is_true() const;        // of bool
  int64_t to_integer() const;  // of an integer; u64 as its bits
};

/// Operands as the row of the op says. An integer to a negative power throws.
Element apply_op(ScalarOp op, std::span<const Element> operands);

/// A float becomes an integer towards zero and is cut as if it had been i64 first; NaN throws.
Element cast(const Element& x, DType dtype);

/// How FoldMerge (ops/fold_merge.h) computes with elements.
struct ElementOps {
  static Element number(const Literal& literal) { return Element::of(literal); }
  static Element op(ScalarOp op, DType, std::span<const Element> operands) { return apply_op(op, operands); }
  static Element cast(const Element& x, DType, DType to) { return kernel::cast(x, to); }
};

}  // namespace inlay::kernel
