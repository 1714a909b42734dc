#pragma once
// Expressions of scalar ops as the tables write them: "mul(r, sigmoid(neg(a)))".
#include <string_view>
#include <vector>

#include "ops/scalar_op.h"

namespace inlay {

struct Expression {
  enum class Kind : uint8_t {
    word,    // a: what it stands for is the table's
    number,  // 0.5, -1, inf
    op,      // neg(a)
  };
  Kind kind = Kind::word;
  std::string_view word;  // a part of the text that was read
  double number = 0;
  ScalarOp op = ScalarOp::add_;
  std::vector<Expression> operands;
};

/// expression = op "(" expression {"," expression} ")" | number | word. The tables are ours: anything else is a bug.
Expression parse_expression(std::string_view text);

}  // namespace inlay
