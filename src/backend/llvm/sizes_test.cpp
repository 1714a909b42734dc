// What is computed of sizes.
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

/// `count` vectors of sizes of their own, one behind the other.
std::string concat_of(int count) {
  std::string params, total, symbols, stages;
  for (int i = 0; i < count; ++i) {
    const std::string before = total.empty() ? "" : total + " + ";
    params += str("x", i, ": f64[n", i, "] param ", i, ", ");
    symbols += str(i == 0 ? "" : ", ", "n", i, " = x", i, ".0");
    stages += str("stage (i < n", i, ") { %0 = load x", i, "[i] : f64  store r[", before, "i] set %0 }\n");
    total = before + str("n", i);
  }
  return str("program @main(", params, "r: f64[", total, "] output 0) symbols ", symbols, " { kernel @k0 {\n", stages,
             "} }");
}

TEST(Sizes, EachOffsetIsTheOneBeforeAndASize) {
  constexpr int kCount = 40;
  EmitOptions options;
  options.keep_ir = true;
  const Compiled compiled(concat_of(kCount), options);
  std::size_t sums = 0;
  for (std::size_t at = 0;
       (at = compiled.emitted().ir.find("sadd.with.overflow.i64(i64", at + 1)) != std::string::npos;)
    ++sums;
  EXPECT_GE(sums, kCount - 1u);
  EXPECT_LE(sums, 3u * kCount);

  std::mt19937_64 random(3);
  std::vector<Array> params;
  std::vector<double> expected;
  for (int i = 0; i < kCount; ++i) {
    params.push_back(random_array(random, DType::f64, {i % 4}, -1, 1));
    const auto* values = reinterpret_cast<const double*>(params.back().bytes.data());
    expected.insert(expected.end(), values, values + i % 4);
  }
  const kernel::Evaluation actual = compiled.run(params);
  ASSERT_FALSE(actual.failure);
  EXPECT_EQ(actual.outputs[0].bytes, vector_of(expected).bytes);
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
