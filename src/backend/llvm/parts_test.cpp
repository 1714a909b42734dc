// Programs of which each step is a function of its own compute what they do as one function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

std::size_t num_functions(const Compiled& compiled) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = compiled.emitted().ir.find("\ndefine ", at)) != std::string::npos; ++at) ++count;
  return count;
}

EmitOptions parts_from(std::size_t instructions) {
  EmitOptions options;
  options.keep_ir = true;
  options.large_function = instructions;
  return options;
}

// A number that changes in a loop and in one body of a cond, one that stays, a number that a cond alone makes.
constexpr std::string_view kRegions = R"(program @main(x: f64[n] param 0, k: i64 param 1, r: f64[n] output 0,
    q: f64 output 1, s: f64 scalar, t: f64 scalar, i: i64 scalar, p: bool scalar, c: i64 scalar) symbols n = x.0, m = c.0 {
  kernel @k0 { out s start fill 0.0 stage (j < n) { %0 = load x[j] : f64  fold add s[] %0 : f64 } }
  kernel @k1 { stage () { %0 = load k[] : i64  store c[] set %0  %1 = literal 2.0 : f64  store t[] set %1 } }
  size m = c #0
  loop i < m {
    kernel @k2 { stage () { %0 = load i[] : i64  %1 = literal 1 : i64  %2 = gt %0, %1 : bool  store p[] set %2 } }
    cond p {
      kernel @k3 { stage () { %0 = load s[] : f64  %1 = load t[] : f64  %2 = mul %0, %1 : f64  store s[] set %2 } }
    } else {
      kernel @k4 { stage () { %0 = load t[] : f64  %1 = load s[] : f64  %2 = add %0, %1 : f64  store t[] set %2 } }
    }
  }
  kernel @k5 {
    stage (j < n) { %0 = load x[j] : f64  %1 = load s[] : f64  %2 = mul %0, %1 : f64  store r[j] set %2 }
    stage () { %0 = load t[] : f64  store q[] set %0 }
  }
  sites { #0 shape-mismatch "{0}" } })";

TEST(Parts, TakeAndGiveBackNumbers) {
  const Compiled one(kRegions, parts_from(1000000)), many(kRegions, parts_from(0));
  EXPECT_EQ(num_functions(one), 1u);
  EXPECT_GT(num_functions(many), 6u);
  std::mt19937_64 random(5);
  for (int64_t n : kSizes) {
    for (int64_t k : {0, 1, 2, 3, 5}) {
      const std::vector<Array> params = {random_array(random, DType::f64, {n}, -1, 1),
                                         array_of<int64_t>(DType::i64, {}, {k})};
      const kernel::Evaluation expected = one.run(params), actual = many.run(params);
      ASSERT_FALSE(expected.failure || actual.failure);
      for (std::size_t o : {0u, 1u}) EXPECT_EQ(expected.outputs[o].bytes, actual.outputs[o].bytes) << n << ' ' << k;
    }
  }
  const std::vector<Array> wrong = {vector_of({1}), array_of<int64_t>(DType::i64, {}, {-1})};
  const kernel::Evaluation failed = many.run(wrong);
  ASSERT_TRUE(failed.failure);
  EXPECT_EQ(failed.failure->site, kernel::SiteId(0));
  EXPECT_EQ(failed.failure->numbers[0], -1);
}

TEST(Parts, HaveOneCopyOfALiteral) {
  const Compiled many(R"(program @main(x: f64[2] param 0, l: f64[2] literal [1.25, 3.5], r: f64[2] output 0,
      q: f64[2] output 1) {
    kernel @k0 { stage (j < 2) { %0 = load x[j] : f64  %1 = load l[j] : f64  %2 = mul %0, %1 : f64  store r[j] set %2 } }
    kernel @k1 { stage (j < 2) { %0 = load r[j] : f64  %1 = load l[j] : f64  %2 = add %0, %1 : f64  store q[j] set %2 } }
  })",
                      parts_from(0));
  const std::string& ir = many.emitted().ir;
  ASSERT_NE(ir.find("[2 x double] ["), std::string::npos);
  EXPECT_EQ(ir.find("[2 x double] ["), ir.rfind("[2 x double] ["));
  const std::vector<Array> params = {vector_of({2, 4})};
  EXPECT_EQ(number_at(many.run(params).outputs[1], 1), 17.5);
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
