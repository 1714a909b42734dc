// What a run says that failed, what has no code, and that the code is the same whoever emits beside it.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/llvm/compiled_test.h"
#include "backend/llvm/jit_library.h"

namespace inlay::llvm_backend::testing {
namespace {

constexpr std::string_view kChecked = R"(program @main(x: f64[n] param 0, g: i64[n] param 1, a: f64[5] param 2,
    r: f64[n] output 0) symbols n = x.0 {
  kernel @k0 { stage (i < n) {
    %0 = load g[i] : i64  %1 = load a[wrap(%0, 5) checked #1] : f64  %2 = literal 1.0 : f64  %3 = ne %1, %2 : bool
    check %3 #2  store r[i] set %1 } }
  sites { #0 internal "" #1 index-out-of-bounds "{0} of {1}" #2 assert-failed "no ones" } })";

kernel::Evaluation run_checked(const Compiled& compiled, std::vector<int64_t> index) {
  const std::vector<Array> params = {vector_of(std::vector<double>(index.size(), 2.0)),
                                     array_of(DType::i64, {static_cast<int64_t>(index.size())}, index),
                                     vector_of({2, 2, 2, 1, 2})};
  return compiled.run(params);
}

TEST(Failures, AnIndexOutOfBoundsIsFoundInAnyLane) {
  for (const std::string& features : kWidths) {
    EmitOptions options;
    options.cpu_features = features;
    const Compiled compiled(kChecked, options);
    for (std::size_t n : {1u, 7u, 8u, 9u, 37u, 64u}) {
      for (std::size_t at = 0; at < n; ++at) {
        for (int64_t bad : {int64_t{5}, int64_t{-6}, INT64_MAX, INT64_MIN}) {
          std::vector<int64_t> index(n, 2);
          index[at] = bad;
          const kernel::Evaluation result = run_checked(compiled, index);
          ASSERT_TRUE(result.failure) << n << " " << at;
          EXPECT_EQ(result.failure->site, kernel::SiteId(1));
          EXPECT_EQ(result.failure->numbers[0], bad);
          EXPECT_EQ(result.failure->numbers[1], 5);
        }
        std::vector<int64_t> index(n, -1);
        index[at] = -5;
        EXPECT_FALSE(run_checked(compiled, index).failure);
        index[at] = -2;  // the element that is 1
        const kernel::Evaluation result = run_checked(compiled, index);
        ASSERT_TRUE(result.failure);
        EXPECT_EQ(result.failure->site, kernel::SiteId(2));
      }
    }
  }
}

TEST(Failures, NoIndexLiesWithinANegativeExtent) {
  for (const std::string& features : kWidths) {
    EmitOptions options;
    options.cpu_features = features;
    const Compiled compiled(R"(program @main(g: i64[n] param 0, r: f64[n] output 0) symbols n = g.0 {
      kernel @k0 { stage (i < n) { %0 = literal 0.0 : f64  store r[i] set %0 } }
      kernel @k1 { stage (i < n) {
        %0 = load g[i] : i64  %1 = literal 1.0 : f64  store r[wrap(%0, n - 12) checked #0] add %1 } }
      sites { #0 index-out-of-bounds "{0} of {1}" } })",
                            options);
    for (const std::size_t n : {1u, 9u, 12u}) {
      for (const int64_t index : {int64_t{0}, int64_t{5}, int64_t{-1}, int64_t{-20}, INT64_MAX, INT64_MIN}) {
        const std::vector<int64_t> indices(n, index);
        const kernel::Evaluation result =
            compiled.run(std::vector{array_of(DType::i64, {static_cast<int64_t>(n)}, indices)});
        ASSERT_TRUE(result.failure) << n << " " << index;
        EXPECT_THAT(result.failure->numbers, ::testing::ElementsAre(index, static_cast<int64_t>(n) - 12, 0, 0));
      }
    }
    EXPECT_FALSE(compiled.run(std::vector{array_of(DType::i64, {13}, std::vector<int64_t>(13, -1))}).failure);
  }
}

TEST(Failures, SizesThatDisagree) {
  const Compiled compiled(
      R"(program @main(x: f64[n] param 0, y: f64[m] param 1, r: f64 output 0) symbols n = x.0, m = y.0 {
    check n == m + 1 #0
    check n <= 4 #1
    scalar { %0 = literal 1.5 : f64  store r[] set %0 }
    sites { #0 shape-mismatch "" #1 shape-mismatch "" } })");
  const auto run = [&](std::size_t n, std::size_t m) {
    return compiled.run(std::vector{vector_of(std::vector<double>(n)), vector_of(std::vector<double>(m))});
  };
  EXPECT_FALSE(run(3, 2).failure);
  EXPECT_EQ(run(3, 3).failure->site, kernel::SiteId(0));
  EXPECT_THAT(run(3, 3).failure->numbers, ::testing::ElementsAre(3, 4, 0, 0));
  EXPECT_THAT(run(6, 5).failure->numbers, ::testing::ElementsAre(6, 4, 0, 0));
}

TEST(Failures, AFailedCheckHasTheNumbersOfItsFirstLane) {
  const Compiled compiled(R"(program @main(x: i64[n] param 0, y: i64[n] param 1, r: i64[n] output 0) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : i64  %1 = load y[i] : i64  %2 = literal 0 : i64  %3 = ge %1, %2 : bool
      %4 = axis i : i64  check %3, %4, %1 #0  %5 = pow %0, %1 : i64  store r[i] set %5 } }
    sites { #0 negative-power "" } })");
  std::vector<int64_t> base(29, 3), power(29, 2);
  const auto run = [&] {
    return compiled.run(std::vector{array_of(DType::i64, {29}, base), array_of(DType::i64, {29}, power)});
  };
  EXPECT_FALSE(run().failure);
  for (std::size_t at : {27u, 26u, 12u, 10u}) {
    power[at] = -static_cast<int64_t>(at);
    ASSERT_TRUE(run().failure);
    EXPECT_THAT(run().failure->numbers, ::testing::ElementsAre(at, -static_cast<int64_t>(at), 0, 0));
  }
}

TEST(Emit, RefusesWhatHasNoCodeAndGoesOn) {
  const auto program = [](std::string_view dtype) {
    return str("program @main(x: ", dtype, "[n] param 0, r: ", dtype,
               "[n] output 0) symbols n = x.0 { kernel @k0 { stage (i < n) {"
               " %0 = load x[i] : ",
               dtype, "  store r[i] set %0 } } }");
  };
  try {
    Compiled compiled(program("opaque"));
    FAIL() << "a loop over handles was compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("opaque"));
  }
  const Compiled compiled(program("f64"));
  EXPECT_EQ(difference(vector_of({1, 2}), compiled.run(std::vector{vector_of({1, 2})}).outputs[0], 0), "");
}

TEST(Emit, IsNotThatOfAnotherBuild) {
  JitFailure failure;
  EXPECT_EQ(jit()(kJitBuild + 1, nullptr, nullptr, nullptr, nullptr, &failure), 1);
  EXPECT_EQ(failure.code, ErrorCode::unsupported);
  EXPECT_EQ(failure.message, "libinlay_jit.so belongs to another build of inlay");
  EXPECT_EQ(failure.help, "install inlay again; INLAY_JIT names the library that is loaded, where it is set");
}

TEST(Emit, GivesTheSameBytesFromManyThreadsAtOnce) {
  const memory::PlannedProgram planned = memory::plan_memory(kernel::parse(kChecked));
  const KernelProgram& program = planned.program;
  const memory::MemoryPlan& plan = planned.plan;
  const EmitResult alone = emit(program, plan);
  std::vector<EmitResult> results(8);
  std::vector<std::thread> threads;
  for (EmitResult& result : results) threads.emplace_back([&] { result = emit(program, plan); });
  for (std::thread& thread : threads) thread.join();
  for (const EmitResult& result : results) EXPECT_EQ(result.object, alone.object);
}

}  // namespace
}  // namespace inlay::llvm_backend::testing
