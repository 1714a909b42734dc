#pragma once
// The partial derivatives of the scalar ops, read from derivatives.def.
#include <string_view>

#include "ops/expression.h"

namespace inlay {

/// d op / d operand.
struct Derivative {
  std::string_view text;  // as the table has it; empty: there is none
  Expression expression;  // its words are the operands a, b, c, d and the result r; numbers have the operands' dtype
  std::string_view why;   // there is none: "its result is a truth value"
};

/// `operand` counts from 0. Every op of the table has a row for each of its operands.
const Derivative& derivative(ScalarOp op, int operand);

}  // namespace inlay
