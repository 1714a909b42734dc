#pragma once
#include "ops/scalar_op.h"

namespace inlay::rewrite {

/// op(a, b) has the bits of op(b, a). Not max and min: of 0.0 and -0.0 either may win.
constexpr bool is_commutative(ScalarOp op) {
  return op == ScalarOp::add_ || op == ScalarOp::mul_ || op == ScalarOp::eq_ || op == ScalarOp::ne_ ||
         op == ScalarOp::and_ || op == ScalarOp::or_ || op == ScalarOp::xor_;
}

}  // namespace inlay::rewrite
