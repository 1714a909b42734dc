// Host calls: what they bind, and whose memory their results are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"

namespace inlay::llvm_backend::testing {
namespace {

constexpr std::string_view kHost =
    R"(program @main(x: f64[n] param 0, s: f64 scalar, h: f64[k] host, t: f64[k] temporary,
    u: f64[n] host, r: f64[k] output 0, q: f64[n] output 1) symbols n = x.0, k = h.0 {
  kernel @k0 { out s start fill 0.0 stage (i < n) { %0 = load x[i] : f64  fold add s[] %0 : f64 } }
  host_call "positive" 4 (x, s) -> h, u bind k = h.0 #0
  kernel @k1 { stage (i < k) { %0 = load h[i] : f64  %1 = exp %0 : f64  store t[i] set %1 } }
  kernel @k2 { stage (i < k) { %0 = load t[k - 1 - i] : f64  store r[i] set %0 } }
  copy u -> q "the host's"
  sites { #0 host-call-failed "" } })";

TEST(HostCalls, BindSizesAndKeepTheirMemory) {
  const Compiled compiled(kHost);
  std::vector<double> kept, same;
  const kernel::HostFunctions host = [&](const kernel::HostCall&, std::span<const kernel::HostTensor> operands,
                                         std::span<kernel::HostTensor> results) {
    const auto* x = reinterpret_cast<const double*>(operands[0].data);
    const auto n = static_cast<std::size_t>(operands[0].dims[0]);
    same.assign(x, x + n);
    kept.clear();
    for (double value : same) {
      if (value > 0) kept.push_back(value + *reinterpret_cast<const double*>(operands[1].data));
    }
    results[0].dims = {static_cast<int64_t>(kept.size())};
    results[0].data = reinterpret_cast<std::byte*>(kept.data());
    results[1].dims = {static_cast<int64_t>(n)};
    results[1].data = reinterpret_cast<std::byte*>(same.data());
    return true;
  };
  std::mt19937_64 random(3);
  for (int64_t n : kSizes) {
    const std::vector<Array> params = {random_array(random, DType::f64, {n}, -1, 1)};
    const kernel::Evaluation expected = kernel::evaluate(compiled.program(), params, host);
    const kernel::Evaluation actual = compiled.run(params, host);
    ASSERT_FALSE(actual.failure);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(difference(expected.outputs[k], actual.outputs[k], 1e-12), "");
  }
  const std::vector<Array> params = {vector_of({1, 2})};
  EXPECT_TRUE(compiled.run(params, [](auto&&...) { return false; }).failure);
  const auto wrong = [&](const kernel::HostCall& call, std::span<const kernel::HostTensor> operands,
                         std::span<kernel::HostTensor> results) {
    host(call, operands, results);
    results[1].dims = {3};
    return true;
  };
  const kernel::Evaluation result = compiled.run(params, wrong);
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->numbers, ::testing::ElementsAre(3, 2, 1, 0));
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
