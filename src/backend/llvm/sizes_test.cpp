// What is computed of sizes.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

constexpr int kCount = 40;

/// Vectors of sizes of their own, one behind the other in this order.
std::string concat_in(const std::vector<int>& order) {
  std::string params, symbols, total, stages;
  for (int i = 0; i < kCount; ++i) {
    params += str("x", i, ": f64[n", i, "] param ", i, ", ");
    symbols += str(i == 0 ? "" : ", ", "n", i, " = x", i, ".0");
  }
  for (int i : order) {
    const std::string before = total.empty() ? "" : total + " + ";
    stages += str("stage (i < n", i, ") { %0 = load x", i, "[i] : f64  store r[", before, "i] set %0 }\n");
    total = before + str("n", i);
  }
  return str("program @main(", params, "r: f64[", total, "] output 0) symbols ", symbols, " { kernel @k0 {\n", stages,
             "} }");
}

int sums_in(const std::string& ir) {
  int count = 0;
  for (std::size_t at = 0; (at = ir.find("sadd.with.overflow.i64(i64", at + 1)) != std::string::npos;) ++count;
  return count;
}

void expect_linear(const std::vector<int>& order) {
  EmitOptions options;
  options.keep_ir = true;
  const Compiled compiled(concat_in(order), options);
  const int sums = sums_in(compiled.emitted().ir);
  EXPECT_GE(sums, kCount - 1);
  EXPECT_LE(sums, 3 * kCount);

  std::mt19937_64 random(3);
  std::vector<Array> params;
  for (int i = 0; i < kCount; ++i) params.push_back(random_array(random, DType::f64, {i % 4}, -1, 1));
  std::vector<double> expected;
  for (int i : order) {
    const auto* values = reinterpret_cast<const double*>(params[static_cast<std::size_t>(i)].bytes.data());
    expected.insert(expected.end(), values, values + i % 4);
  }
  const kernel::Evaluation actual = compiled.run(params);
  ASSERT_FALSE(actual.failure);
  EXPECT_EQ(actual.outputs[0].bytes, vector_of(expected).bytes);
}

TEST(Sizes, EachOffsetIsTheOneBeforeAndASize) {
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  expect_linear(order);
  std::ranges::reverse(order);
  expect_linear(order);
  std::ranges::shuffle(order, std::mt19937_64(7));
  expect_linear(order);
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
