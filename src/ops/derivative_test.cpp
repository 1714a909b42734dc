// That the rows of derivatives.def can be read; tests/python/test_conformance.py compares them with mpmath.
#include "ops/derivative.h"

#include <cmath>

#include <gtest/gtest.h>

namespace inlay {
namespace {

/// Is every word an operand of an op of `arity`, or its result?
bool speaks_of_operands(const Expression& expression, int arity) {
  if (expression.kind == Expression::Kind::word) {
    if (expression.word == "r") return true;
    return expression.word.size() == 1 && expression.word[0] >= 'a' && expression.word[0] < 'a' + arity;
  }
  for (const Expression& operand : expression.operands) {
    if (!speaks_of_operands(operand, arity)) return false;
  }
  return true;
}

TEST(Derivative, EveryOperandOfEveryOpHasARow) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    for (int operand = 0; operand < facts(op).arity; ++operand) {
      const Derivative& d = derivative(op, operand);
      EXPECT_NE(d.text.empty(), d.why.empty()) << facts(op).name;
      if (!d.text.empty()) {
        EXPECT_TRUE(speaks_of_operands(d.expression, facts(op).arity)) << facts(op).name << ": " << d.text;
      }
    }
  }
}

TEST(Derivative, OfAnOpThatIsDifferentiableNowhereSaysWhy) {
  EXPECT_EQ(derivative(ScalarOp::lt_, 0).why, "its result is a truth value");
  EXPECT_EQ(derivative(ScalarOp::lt_, 0).text, "");
}

TEST(Expression, HasOpsWordsAndNumbers) {
  const Expression e = parse_expression("mul(-0.5, add( a,exp(inf)))");
  EXPECT_EQ(e.op, ScalarOp::mul_);
  EXPECT_EQ(e.operands[0].kind, Expression::Kind::number);
  EXPECT_EQ(e.operands[0].number, -0.5);
  const Expression& sum = e.operands[1];
  EXPECT_EQ(sum.op, ScalarOp::add_);
  EXPECT_EQ(sum.operands[0].word, "a");
  EXPECT_EQ(sum.operands[1].operands[0].number, HUGE_VAL);
  EXPECT_EQ(parse_expression("1/c").word, "1/c");
}

}  // namespace
}  // namespace inlay
