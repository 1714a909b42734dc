#include "oracle/kernels/element.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay::kernel {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Element f64(double value) { return Element::of(Literal::of_float(DType::f64, value)); }
Element f32(float value) { return Element::of(Literal::of_float(DType::f32, value)); }
Element i64(int64_t value) { return Element::of_integer(DType::i64, value); }
Element i8(int64_t value) { return Element::of_integer(DType::i8, value); }
Element boolean(bool value) { return Element::of_integer(DType::boolean, value); }

std::string text(const Element& element) { return Literal::load(element.dtype, element.bytes.data()).to_text(); }
std::string run(ScalarOp op, std::vector<Element> operands) { return text(apply_op(op, operands)); }

TEST(Element, IntegersWrap) {
  EXPECT_EQ(run(ScalarOp::add_, {i8(127), i8(1)}), "-128");
  EXPECT_EQ(run(ScalarOp::neg_, {i8(-128)}), "-128");
  EXPECT_EQ(run(ScalarOp::abs_, {i8(-128)}), "-128");
  EXPECT_EQ(run(ScalarOp::mul_, {i64(kLeast), i64(3)}), std::to_string(kLeast));
  EXPECT_EQ(run(ScalarOp::sub_, {Element::of_integer(DType::u32, 0), Element::of_integer(DType::u32, 1)}),
            "4294967295");
  EXPECT_EQ(run(ScalarOp::pow_, {i8(2), i8(7)}), "-128");
  EXPECT_EQ(run(ScalarOp::square_, {i64(int64_t(1) << 62)}), "0");
}

TEST(Element, IntegerDivisionFloorsAndNeverTraps) {
  EXPECT_EQ(run(ScalarOp::floor_div_, {i64(-7), i64(2)}), "-4");
  EXPECT_EQ(run(ScalarOp::mod_, {i64(-7), i64(2)}), "1");
  EXPECT_EQ(run(ScalarOp::mod_, {i64(7), i64(-2)}), "-1");
  EXPECT_EQ(run(ScalarOp::floor_div_, {i64(5), i64(0)}), "0");
  EXPECT_EQ(run(ScalarOp::mod_, {i64(5), i64(0)}), "0");
  EXPECT_EQ(run(ScalarOp::floor_div_, {i64(kLeast), i64(-1)}), std::to_string(kLeast));
  EXPECT_EQ(run(ScalarOp::mod_, {i64(kLeast), i64(-1)}), "0");
}

TEST(Element, FloatDivisionIsNumPys) {
  EXPECT_EQ(run(ScalarOp::mod_, {f64(-0.0), f64(2)}), "0.0");
  EXPECT_EQ(run(ScalarOp::mod_, {f64(7.5), f64(-2)}), "-0.5");
  EXPECT_EQ(run(ScalarOp::floor_div_, {f64(1), f64(0)}), "inf");
  EXPECT_EQ(run(ScalarOp::mod_, {f64(1), f64(0)}), "nan");
  EXPECT_EQ(run(ScalarOp::floor_div_, {f64(1), f64(0.1)}), "9.0");
  EXPECT_EQ(run(ScalarOp::floor_div_, {f64(-7), f64(2)}), "-4.0");
  EXPECT_EQ(run(ScalarOp::mod_, {f64(1), f64(kInf)}), "1.0");
  EXPECT_EQ(run(ScalarOp::mod_, {f64(-1), f64(kInf)}), "inf");
}

TEST(Element, Corners) {
  EXPECT_EQ(run(ScalarOp::max_, {f64(kNan), f64(1)}), "nan");
  EXPECT_EQ(run(ScalarOp::min_, {f64(1), f64(kNan)}), "nan");
  EXPECT_EQ(run(ScalarOp::sign_, {f64(-0.0)}), "0.0");
  EXPECT_EQ(run(ScalarOp::sign_, {f64(kNan)}), "nan");
  EXPECT_EQ(run(ScalarOp::sign_, {Element::of_integer(DType::u8, 200)}), "1");
  EXPECT_EQ(run(ScalarOp::round_, {f64(2.5)}), "2.0");
  EXPECT_EQ(run(ScalarOp::round_, {f64(-0.5)}), "-0.0");
  EXPECT_EQ(run(ScalarOp::neg_, {f64(0.0)}), "-0.0");
  EXPECT_EQ(run(ScalarOp::log_, {f64(-1)}), "nan");
  EXPECT_EQ(run(ScalarOp::softplus_, {f64(1000)}), "1000.0");
  EXPECT_EQ(run(ScalarOp::lt_, {f64(kNan), f64(1)}), "false");
  EXPECT_EQ(run(ScalarOp::not_, {boolean(true)}), "false");
  EXPECT_EQ(run(ScalarOp::not_, {i8(0)}), "-1");
  EXPECT_EQ(run(ScalarOp::xor_, {boolean(true), boolean(false)}), "true");
  EXPECT_EQ(run(ScalarOp::select_, {boolean(false), i64(1), i64(2)}), "2");
  EXPECT_EQ(run(ScalarOp::exp_, {f32(1)}), "2.7182817");
}

TEST(Element, Casts) {
  const auto to = [](const Element& x, DType dtype) { return text(cast(x, dtype)); };
  EXPECT_EQ(to(f64(300.0), DType::i8), "44");
  EXPECT_EQ(to(f64(-1.7), DType::i8), "-1");
  EXPECT_EQ(to(f64(-1.7), DType::u8), "255");
  EXPECT_EQ(to(f64(kInf), DType::i8), "0");
  EXPECT_EQ(to(f64(1e300), DType::i64), std::to_string(kLeast));
  EXPECT_EQ(to(f64(18446744073709549568.0), DType::u64), "18446744073709549568");
  EXPECT_EQ(to(f64(kNan), DType::boolean), "true");
  EXPECT_EQ(to(i64(256), DType::i8), "0");
  EXPECT_EQ(to(i64(256), DType::boolean), "true");
  EXPECT_EQ(to(boolean(true), DType::f32), "1.0");
  EXPECT_EQ(to(Element::of_integer(DType::u64, -1), DType::f64), "18446744073709551616.0");
}

TEST(Element, WhatHasNoResultThrows) {
  EXPECT_THROW(run(ScalarOp::pow_, {i64(2), i64(-1)}), Error);
  EXPECT_THROW(cast(f64(kNan), DType::i32), Error);
  const Element complex{DType::c128, {}};
  EXPECT_THROW(apply_op(ScalarOp::max_, std::vector{complex, complex}), Error);
  EXPECT_THROW(cast(complex, DType::f64), Error);
}

TEST(Element, AnyDTypeMovesUnchanged) {
  Element complex{DType::c128, {}};
  complex.bytes[15] = std::byte(7);
  std::array<std::byte, 16> memory{};
  complex.store(memory.data());
  EXPECT_EQ(Element::load(DType::c128, memory.data()).bytes, complex.bytes);
}

// Every row runs on every dtype that it takes: no op is forgotten, and none reads its operands as another type.
TEST(Element, EveryOpRunsOnEveryDTypeItTakes) {
  for (int i = 0; i < kNumScalarOps; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    for (int d = 0; d < kNumDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!accepts(op, dtype)) continue;
      std::vector<Element> operands(static_cast<std::size_t>(facts(op).arity), Element::of(Literal::of(dtype, 1)));
      if (op == ScalarOp::select_) operands[0] = boolean(true);
      const Element result = apply_op(op, operands);
      EXPECT_EQ(result.dtype, result_dtype(op, dtype)) << facts(op).name;
    }
  }
}

}  // namespace
}  // namespace inlay::kernel
