#include "ops/scalar_op.h"

#include <cmath>
#include <limits>

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

TEST(DType, PromotesAsNumPyDoes) {
  EXPECT_EQ(promote(DType::i64, DType::f32), DType::f64);
  EXPECT_EQ(promote(DType::u64, DType::i8), DType::f64);
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::i16, DType::f16), DType::f32);
  EXPECT_EQ(promote(DType::i32, DType::c64), DType::c128);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  for (int i = 0; i < kNumDTypes - 1; ++i) {
    for (int j = 0; j < kNumDTypes - 1; ++j) {
      const auto a = static_cast<DType>(i), b = static_cast<DType>(j), both = promote(a, b);
      EXPECT_EQ(both, promote(b, a));
      EXPECT_EQ(promote(a, both), both) << dtype_name(a) << " " << dtype_name(b);
    }
  }
}

TEST(ScalarOps, ComplexOperandsAndTheirParts) {
  EXPECT_TRUE(accepts(ScalarOp::mul_, DType::c64));
  EXPECT_FALSE(accepts(ScalarOp::lt_, DType::c64));
  EXPECT_FALSE(accepts(ScalarOp::real_, DType::f64));
  EXPECT_EQ(result_dtype(ScalarOp::abs_, DType::c64), DType::f32);
  EXPECT_EQ(result_dtype(ScalarOp::abs_, DType::i8), DType::i8);
  EXPECT_EQ(result_dtype(ScalarOp::complex_, DType::f64), DType::c128);
  EXPECT_EQ(result_dtype(ScalarOp::isnan_, DType::c128), DType::boolean);
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
  EXPECT_TRUE(std::signbit(exact_identity_of(Combine::add, DType::f32).f));
  EXPECT_EQ(exact_identity_of(Combine::mul, DType::f64).f, 1);
  EXPECT_EQ(exact_identity_of(Combine::add, DType::i8).i, 0);
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

TEST(Literal, OfTextIsWhatItSaysOrNothing) {
  EXPECT_EQ(Literal::of_text(DType::i64, "9007199254740993")->i, 9007199254740993);
  EXPECT_EQ(Literal::of_text(DType::u64, "18446744073709551615")->i, -1);
  EXPECT_EQ(Literal::of_text(DType::i8, "-128")->i, -128);
  EXPECT_EQ(Literal::of_text(DType::f32, "0.1")->f, 0.1F);
  EXPECT_EQ(Literal::of_text(DType::c128, "-inf")->f, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Literal::of_text(DType::boolean, "true")->i, 1);
  EXPECT_FALSE(Literal::of_text(DType::i8, "128"));
  EXPECT_FALSE(Literal::of_text(DType::u8, "-1"));
  EXPECT_FALSE(Literal::of_text(DType::i64, "1.5"));
  EXPECT_FALSE(Literal::of_text(DType::boolean, "1"));
  EXPECT_FALSE(Literal::of_text(DType::f64, "true"));
  EXPECT_FALSE(Literal::of_text(DType::f64, ""));
}

}  // namespace
}  // namespace inlay
