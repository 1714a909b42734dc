#pragma once
#include "ops/scalar_op.h"

namespace inlay::rewrite {

/// Does op(a, b) have the bits of op(b, a)? Not for max and min: of 0.0 and -0.0 either may be the result.
constexpr bool is_commutative(ScalarOp op) {
  return op == ScalarOp::add_ || op == ScalarOp::mul_ || op == ScalarOp::eq_ || op == ScalarOp::ne_ ||
         op == ScalarOp::and_ || op == ScalarOp::or_ || op == ScalarOp::xor_;
}

}  // namespace inlay::rewrite
