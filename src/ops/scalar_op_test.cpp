#include "ops/scalar_op.h"

#include <gtest/gtest.h>

#include "ops/literal.h"

namespace inlay {
namespace {

TEST(ScalarOps, NamesLeadBack) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    EXPECT_EQ(scalar_op_from_name(facts(op).name), op);
  }
  EXPECT_EQ(scalar_op_from_name("nonsense"), std::nullopt);
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
}

TEST(ScalarOps, OperandClasses) {
  EXPECT_FALSE(accepts(ScalarOp::add_, DType::boolean));
  EXPECT_TRUE(accepts(ScalarOp::add_, DType::u8));
  EXPECT_FALSE(accepts(ScalarOp::exp_, DType::i64));
  EXPECT_TRUE(accepts(ScalarOp::and_, DType::boolean));
  EXPECT_FALSE(accepts(ScalarOp::and_, DType::f64));
  EXPECT_TRUE(accepts(ScalarOp::max_, DType::boolean));
  for (int i = 0; i < kNumScalarOps; ++i) {
    EXPECT_FALSE(accepts(static_cast<ScalarOp>(i), DType::opaque));
    EXPECT_GE(facts(static_cast<ScalarOp>(i)).cost, 1);
  }
}

TEST(Combine, StartsWithWhatChangesNothing) {
  EXPECT_EQ(identity_of(Combine::add, DType::f64).f, 0);
  EXPECT_EQ(identity_of(Combine::mul, DType::i8).i, 1);
  EXPECT_EQ(identity_of(Combine::max, DType::i8).i, -128);
  EXPECT_EQ(identity_of(Combine::min, DType::u8).i, 255);
  EXPECT_EQ(identity_of(Combine::max, DType::boolean).i, 0);
  EXPECT_EQ(identity_of(Combine::min, DType::boolean).i, 1);
  EXPECT_EQ(identity_of(Combine::and_, DType::u8).i, 255);
  EXPECT_EQ(identity_of(Combine::and_, DType::boolean).i, 1);
  EXPECT_EQ(identity_of(Combine::or_, DType::i64).i, 0);
}

TEST(Literal, TextIsExactAndReadsAsItsDType) {
  EXPECT_EQ(Literal::of_float(DType::f64, 0.1).to_text(), "0.1");
  EXPECT_EQ(Literal::of_float(DType::f64, 1).to_text(), "1.0");
  EXPECT_EQ(Literal::of_float(DType::f64, -0.0).to_text(), "-0.0");
  EXPECT_EQ(Literal::of_float(DType::f32, 0.1).to_text(), "0.1");
  EXPECT_EQ(Literal::of_integer(DType::u64, -1).to_text(), "18446744073709551615");
  EXPECT_EQ(Literal::of_integer(DType::boolean, 1).to_text(), "true");
  int8_t bytes = 0;
  Literal::of_integer(DType::i8, -5).store(&bytes);
  EXPECT_EQ(bytes, -5);
  EXPECT_EQ(Literal::load(DType::i8, &bytes), Literal::of_integer(DType::i8, -5));
}

}  // namespace
}  // namespace inlay
