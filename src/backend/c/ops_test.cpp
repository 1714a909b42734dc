// Every scalar op on every dtype that it takes, and every cast, on nasty and random values, against the evaluator.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "backend/c/compiled_test.h"
#include "oracle/kernels/element.h"

namespace inlay::c_backend::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DType kDTypes[] = {DType::boolean, DType::i8,  DType::i16, DType::i32, DType::i64,
                             DType::u8,      DType::u16, DType::u32, DType::u64, DType::f16,
                             DType::bf16,    DType::f32, DType::f64, DType::c64, DType::c128};

std::vector<Literal> nasty(DType dtype) {
  std::vector<Literal> out;
  if (is_complex(dtype)) {
    for (double re : {0.0, -0.0, 1.0, -2.5, 30.0, kInf, -kInf, kNan}) {
      for (double im : {0.0, -0.0, 1.0, -2.5, 1e-3, kInf, kNan}) out.push_back(Literal::of_float(dtype, re, im));
    }
    return out;
  }
  if (is_float(dtype)) {
    for (double x : {0.0,   -0.0,  1.0,    -1.0, 0.5, -0.5,  1.5,  2.5,  -2.5, 3.0,   -7.25,  0.1,    1e-3, 40.0,
                     -40.0, 700.0, -745.5, 1e5,  3e9, 1e300, -3e9, 1e19, kInf, -kInf, 1e-300, 5e-324, kNan}) {
      out.push_back(Literal::of_float(dtype, x));
    }
    return out;
  }
  if (dtype == DType::boolean) return {Literal::of_integer(dtype, 0), Literal::of_integer(dtype, 1)};
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  for (int64_t x : {0, 1, 2, 3, 5, 7, 31, 100}) out.push_back(Literal::of_integer(dtype, x));
  const int64_t half = static_cast<int64_t>(uint64_t{1} << (bits - 1));
  if (is_signed_integer(dtype)) {
    const int64_t minimum = bits == 64 ? INT64_MIN : -half;
    for (int64_t x : {int64_t{-1}, int64_t{-2}, int64_t{-7}, -(minimum + 1), minimum + 1, minimum})
      out.push_back(Literal::of_integer(dtype, x));
  } else {
    out.push_back(Literal::of_integer(dtype, bits == 64 ? -1 : 2 * half - 1));
    out.push_back(Literal::of_integer(dtype, half));
  }
  return out;
}

Array array_of(DType dtype, const std::vector<Literal>& elements) {
  const auto bytes = static_cast<std::size_t>(size_bytes(dtype));
  Array out{dtype, {static_cast<int64_t>(elements.size())}, std::vector<std::byte>(elements.size() * bytes)};
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(out.bytes.data() + i * bytes);
  return out;
}

kernel::Element element_at(const Array& array, std::size_t i) {
  return kernel::Element::load(array.dtype, array.bytes.data() + i * static_cast<std::size_t>(size_bytes(array.dtype)));
}
Literal literal_of(const kernel::Element& element) { return Literal::load(element.dtype, element.bytes.data()); }

/// All pairs of nasty values, and of f64 some thousand random ones of every size.
std::vector<Array> pairs(DType dtype) {
  std::vector<Literal> a, b;
  for (const Literal& x : nasty(dtype)) {
    for (const Literal& y : nasty(dtype)) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<> unit(-1, 1);
  for (int i = 0; dtype == DType::f64 && i < 4000; ++i) {
    const double scale = std::ldexp(1, static_cast<int>(random() % 14) - 7);
    a.push_back(Literal::of_float(dtype, scale * unit(random)));
    b.push_back(Literal::of_float(dtype, scale * unit(random)));
  }
  return {array_of(dtype, a), array_of(dtype, b)};
}

/// One program for all ops of a dtype: a call of the compiler is what takes the time.
std::string program_for(DType dtype, const std::vector<ScalarOp>& ops) {
  const std::string_view t = dtype_name(dtype);
  std::string buffers = str("x: ", t, "[n] param 0, y: ", t, "[n] param 1"), body;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    const std::string_view result = dtype_name(result_dtype(ops[k], dtype));
    buffers += str(", r", k, ": ", result, "[n] output ", k);
    const int arity = facts(ops[k]).arity;
    std::string operands = std::string("%0, %1, %0, %1").substr(0, static_cast<std::size_t>(4 * arity - 2)), condition;
    if (ops[k] == ScalarOp::select_) {
      condition = "%3 = axis i : i64 %4 = literal 5 : i64 %5 = mod %3, %4 : i64 %6 = cast %5 : bool ";
      operands = "%6, %0, %1";
    }
    body += str("kernel @k", k, " { stage (i < n) { %0 = load x[i] : ", t, " %1 = load y[i] : ", t, " ", condition,
                "%2 = ", facts(ops[k]).name, " ", operands, " : ", result, " store r", k, "[i] set %2 } } ");
  }
  return str("program @main(", buffers, ") symbols n = x.0 { ", body, "}");
}

/// A complex number that is NaN in one part may be so in the other.
bool agree(const Literal& want, const Literal& got, double tolerance) {
  if (std::isnan(want.f) || std::isnan(want.imaginary)) return std::isnan(got.f) || std::isnan(got.imaginary);
  if (want.i != got.i) return false;
  const double allowed = tolerance * std::hypot(want.f, want.imaginary) + 1e-300;
  const auto close = [&](double w, double g) {
    return w == g || (std::isfinite(w) && std::isfinite(g) && std::abs(w - g) <= allowed);
  };
  return close(want.f, got.f) && close(want.imaginary, got.imaginary);
}

double tolerance_of(DType dtype) {
  switch (real_of(dtype)) {
    case DType::f16: return 0x1p-10;  // a rounding that falls the other way
    case DType::bf16: return 0x1p-7;
    case DType::f32: return 2e-6;
    default: return 1e-13;
  }
}

class Ops : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!has_compiler()) GTEST_SKIP() << "no C compiler";
  }
};

TEST_P(Ops, AgreeWithTheEvaluator) {
  const DType dtype = GetParam();
  std::vector<ScalarOp> ops;
  for (int k = 0; k < kNumScalarOps; ++k) {
    if (accepts(static_cast<ScalarOp>(k), dtype)) ops.push_back(static_cast<ScalarOp>(k));
  }
  const Compiled compiled(program_for(dtype, ops));
  const std::vector<Array> params = pairs(dtype);
  const kernel::Evaluation actual = compiled.run(params);
  ASSERT_FALSE(actual.failure);
  for (std::size_t k = 0; k < ops.size(); ++k) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(params[0].dims[0]); ++i) {
      const kernel::Element a = element_at(params[0], i), b = element_at(params[1], i);
      if (ops[k] == ScalarOp::pow_ && is_signed_integer(dtype) && literal_of(b).i < 0) continue;  // a check's
      if (ops[k] == ScalarOp::floor_div_ && std::isinf(literal_of(b).f)) continue;  // not in the evaluator
      std::vector<kernel::Element> operands = {a};
      if (facts(ops[k]).arity > 1) operands.push_back(b);
      if (facts(ops[k]).arity > 2 && ops[k] != ScalarOp::select_) operands.push_back(a);
      if (facts(ops[k]).arity > 3) operands.push_back(b);
      if (ops[k] == ScalarOp::select_)
        operands.insert(operands.begin(), kernel::Element::of_integer(DType::boolean, i % 5 != 0));
      const Literal want = literal_of(kernel::apply_op(ops[k], operands));
      const Literal got = literal_of(element_at(actual.outputs[k], i));
      EXPECT_TRUE(agree(want, got, tolerance_of(dtype)))
          << facts(ops[k]).name << " " << dtype_name(dtype) << " of " << literal_of(a).to_text() << ", "
          << literal_of(b).to_text() << " is " << got.to_text() << ", expected " << want.to_text();
    }
  }
}

TEST_P(Ops, CastsAgreeWithTheEvaluator) {
  const DType dtype = GetParam();
  std::string buffers = str("x: ", dtype_name(dtype), "[n] param 0"), body;
  std::vector<DType> to;
  for (DType candidate : kDTypes) {
    if (!is_complex(dtype) || is_complex(candidate)) to.push_back(candidate);
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    buffers += str(", r", k, ": ", dtype_name(to[k]), "[n] output ", k);
    body += str("kernel @k", k, " { stage (i < n) { %0 = load x[i] : ", dtype_name(dtype),
                " %1 = cast %0 : ", dtype_name(to[k]), " store r", k, "[i] set %1 } } ");
  }
  const Compiled compiled(str("program @main(", buffers, ") symbols n = x.0 { ", body, "}"));
  std::vector<Literal> values = nasty(dtype);
  if (is_float(dtype)) values.pop_back();  // NaN has no integer: the fuser's check
  const std::vector<Array> params = {array_of(dtype, values)};
  const kernel::Evaluation expected = kernel::evaluate(compiled.program(), params), actual = compiled.run(params);
  for (std::size_t k = 0; k < to.size(); ++k) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Literal want = literal_of(element_at(expected.outputs[k], i));
      const Literal got = literal_of(element_at(actual.outputs[k], i));
      EXPECT_TRUE(agree(want, got, 0)) << dtype_name(dtype) << " to " << dtype_name(to[k]) << ": "
                                       << values[i].to_text() << " is " << got.to_text() << ", expected "
                                       << want.to_text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ops, ::testing::ValuesIn(kDTypes),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

/// In a loop of vectors, and in one that a check may leave.
TEST(Casts, AnIntegerThatIsZeroHasNoSign) {
  const std::string cast = "%0 = load x[i] : f64  %1 = cast %0 : i64  %2 = cast %1 : f64  ";
  const Compiled compiled(
      str("program @main(x: f64[n] param 0, r: f64[n] output 0, q: f64[n] output 1) symbols n = x.0 {",
          " kernel @k0 { stage (i < n) { ", cast, "store r[i] set %2 } }", " kernel @k1 { stage (i < n) { ", cast,
          "%3 = eq %0, %0 : bool  check %3 #0 ", "store q[i] set %2 } } sites { #0 assert-failed \"nan\" } }"));
  std::vector<Literal> x;
  for (double number : {-0.5, -0.0, 0.5, -1.5, 0.999, -1e-300, 7.5, -0.999, -0.1}) {
    x.push_back(Literal::of_float(DType::f64, number));
  }
  const kernel::Evaluation result = compiled.run(std::vector{array_of(DType::f64, x)});
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (const Array& got : result.outputs) {
      const double number = literal_of(element_at(got, i)).f;
      EXPECT_EQ(number, std::trunc(x[i].f)) << x[i].f;
      EXPECT_FALSE(number == 0 && std::signbit(number)) << x[i].f;
    }
  }
}

TEST(Failures, NoIndexLiesWithinANegativeExtent) {
  if (!has_compiler()) GTEST_SKIP() << "no C compiler";
  const Compiled compiled(R"(program @main(g: i64[n] param 0, r: f64[n] output 0) symbols n = g.0 {
      kernel @k0 { stage (i < n) { %0 = literal 0.0 : f64  store r[i] set %0 } }
      kernel @k1 { stage (i < n) {
        %0 = load g[i] : i64  %1 = literal 1.0 : f64  store r[wrap(%0, n - 12) checked #0] add %1 } }
      sites { #0 index-out-of-bounds "{0} of {1}" } })");
  const auto run = [&](int64_t n, int64_t index) {
    const std::vector<Literal> indices(static_cast<std::size_t>(n), Literal::of_integer(DType::i64, index));
    return compiled.run(std::vector{array_of(DType::i64, indices)});
  };
  for (const int64_t n : {1, 9, 12}) {
    for (const int64_t index : {int64_t{0}, int64_t{5}, int64_t{-1}, int64_t{-20}, INT64_MAX, INT64_MIN}) {
      const kernel::Evaluation result = run(n, index);
      ASSERT_TRUE(result.failure) << n << " " << index;
      EXPECT_EQ(result.failure->numbers[0], index);
      EXPECT_EQ(result.failure->numbers[1], n - 12);
    }
  }
  EXPECT_FALSE(run(13, -1).failure);
}

TEST(Caps, WhatIsNoArithmeticIsCalled) {
  const kernel::BackendCaps& c = caps();
  EXPECT_EQ(c.support(ScalarOp::add_, DType::f64), kernel::Support::vector);
  EXPECT_EQ(c.support(ScalarOp::exp_, DType::f64), kernel::Support::per_lane);
  EXPECT_EQ(c.support(ScalarOp::nextafter_, DType::f64), kernel::Support::per_lane);
  EXPECT_EQ(c.support(ScalarOp::add_, DType::f16), kernel::Support::per_lane);
  EXPECT_EQ(c.cost(ScalarOp::add_, DType::f64), facts(ScalarOp::add_).cost);
  EXPECT_EQ(c.cost(ScalarOp::add_, DType::f16), facts(ScalarOp::add_).cost + c.cost_of_call);
}

}  // namespace
}  // namespace inlay::c_backend::testing
