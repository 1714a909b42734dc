#include "oracle/kernels/evaluate.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "kernel/verify.h"

namespace inlay::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
Array array(DType dtype, std::vector<int64_t> dims, const std::vector<T>& elements) {
  Array out{dtype, std::move(dims), std::vector<std::byte>(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(out.bytes.data(), elements.data(), out.bytes.size());
  return out;
}
Array f64(const std::vector<double>& elements) {
  return array(DType::f64, {static_cast<int64_t>(elements.size())}, elements);
}
Array f64(std::vector<int64_t> dims, const std::vector<double>& elements) {
  return array(DType::f64, std::move(dims), elements);
}
Array i64(const std::vector<int64_t>& elements) {
  return array(DType::i64, {static_cast<int64_t>(elements.size())}, elements);
}

template <class T>
std::vector<T> elements(const Array& a) {
  std::vector<T> out(a.bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), a.bytes.data(), a.bytes.size());
  return out;
}

/// Of a sound program; fails the test otherwise.
KernelProgram sound(std::string_view text) {
  KernelProgram program = parse(text);
  for (const Diagnostic& diagnostic : verify(program)) ADD_FAILURE() << diagnostic.message;
  return program;
}

/// The one f64 output, or what went wrong as the caller sees it.
struct Result {
  std::vector<double> values;
  std::string error;
};
Result run(std::string_view text, const std::vector<Array>& params, const HostFunctions& host = {}) {
  const KernelProgram program = sound(text);
  const Evaluation evaluation = evaluate(program, params, host);
  if (evaluation.failure) return {{}, error_of(program, *evaluation.failure).diagnostic().message};
  return {elements<double>(evaluation.outputs[0]), ""};
}

TEST(EvaluateKernelProgram, ASliceWriteIsAnOffsetInTheStore) {
  const auto result =
      run(R"(program @main(o: f64[n] param 0, x: f64[m] param 1, r: f64[n] output 0) symbols n = o.0, m = x.0 {
    check n == m + 1 #0
    kernel @k0 {
      stage (i < 1) { %0 = load o[i] : f64  store r[i] set %0 }
      stage (i < m) { %0 = load x[i] : f64  %1 = neg %0 : f64  store r[1 + i] set %1 }
    }
    sites { #0 shape-mismatch "o is {0}, not {1}" } })",
          {f64({7, 8, 9}), f64({1, 2})});
  EXPECT_THAT(result.values, ElementsAre(7, -1, -2));
}

TEST(EvaluateKernelProgram, ASizeCheckFailsWithBothNumbers) {
  const auto result =
      run(R"(program @main(o: f64[n] param 0, x: f64[m] param 1, r: f64 output 0) symbols n = o.0, m = x.0 {
    check n <= m #0
    scalar { %0 = literal 1.0 : f64  store r[] set %0 }
    sites { #0 shape-mismatch "{0} is not at most {1}" } })",
          {f64({7, 8, 9}), f64({1, 2})});
  EXPECT_EQ(result.error, "3 is not at most 2");
}

constexpr std::string_view kGather = R"(program @main(a: f64[k] param 0, g: i64[n] param 1, r: f64[n] output 0)
    symbols k = a.0, n = g.0 {
  kernel @k0 {
    stage (i < n) { %0 = load g[i] : i64  %1 = load a[wrap(%0, k) checked #0] : f64  store r[i] set %1 }
  }
  sites { #0 index-out-of-bounds "index {0} is out of bounds for size {1}" } })";

TEST(EvaluateKernelProgram, AGatherWrapsNegativeIndicesAndChecksBothEnds) {
  EXPECT_THAT(run(kGather, {f64({10, 20, 30}), i64({2, -1, -3, 0})}).values, ElementsAre(30, 30, 10, 10));
  EXPECT_EQ(run(kGather, {f64({10, 20, 30}), i64({0, 3})}).error, "index 3 is out of bounds for size 3");
  EXPECT_EQ(run(kGather, {f64({10, 20, 30}), i64({0, -4})}).error, "index -4 is out of bounds for size 3");
  EXPECT_EQ(run(kGather, {f64(std::vector<double>{}), i64({0})}).error, "index 0 is out of bounds for size 0");
  EXPECT_THAT(run(kGather, {f64({10}), i64({})}).values, ElementsAre());
}

TEST(EvaluateKernelProgram, ScatterAddFromZerosAndScatterSetWhereTheLastWins) {
  const std::vector<Array> params = {f64({1, 2, 3, 4}), i64({0, 2, 0, -1})};
  const auto program = [](std::string_view start, std::string_view combine) {
    return str(
        "program @main(x: f64[n] param 0, g: i64[n] param 1, r: f64[3] output 0) symbols n = x.0 { kernel @k0 { ",
        start, " stage (i < n) { %0 = load x[i] : f64 %1 = load g[i] : i64 store r[wrap(%1, 3) checked #0] ", combine,
        " %0 } } sites { #0 index-out-of-bounds \"\" } }");
  };
  EXPECT_THAT(run(program("out r start fill 0.5", "add"), params).values, ElementsAre(4.5, 0.5, 6.5));
  EXPECT_THAT(run(program("out r start fill 0.5", "set"), params).values, ElementsAre(3, 0.5, 4));
}

TEST(EvaluateKernelProgram, FoldsOverAnyAxes) {
  // Two reductions over one pass, one over rows and one over everything; the max starts at -inf.
  const KernelProgram program = sound(R"(program @main(a: f64[n, m] param 0, s: f64[n] output 0, t: f64[] output 1)
      symbols n = a.0, m = a.1 {
    kernel @k0 {
      out s start fill 0.0
      out t start fill -inf
      stage (i < n, j < m) { %0 = load a[i, j] : f64  fold add s[i] %0 : f64  fold max t[] %0 : f64 }
    } })");
  const Evaluation two = evaluate(program, std::vector{f64({2, 3}, {1, 2, 3, 4, 9, 6})});
  EXPECT_THAT(elements<double>(two.outputs[0]), ElementsAre(6, 19));
  EXPECT_THAT(elements<double>(two.outputs[1]), ElementsAre(9));
  const Evaluation none = evaluate(program, std::vector{f64({2, 0}, {})});
  EXPECT_THAT(elements<double>(none.outputs[0]), ElementsAre(0, 0));
}

TEST(EvaluateKernelProgram, StagesShareOuterPoints) {
  // Centre each row: what the first stage folds is a number for the second.
  const auto result =
      run(R"(program @main(a: f64[n, 2] param 0, r: f64[n, 2] output 0, t: f64[n] temporary) symbols n = a.0 {
    kernel @k0 {
      outer (i < n)
      out t start fill 0.0
      stage (j < 2) { %0 = load a[i, j] : f64  fold add t[i] %0 : f64 }
      stage (j < 2) { %0 = load a[i, j] : f64  %1 = load t[i] : f64  %2 = sub %0, %1 : f64  store r[i, j] set %2 }
    } })",
          {f64({2, 2}, {1, 2, 10, 20})});
  EXPECT_THAT(result.values, ElementsAre(-2, -1, -20, -10));
}

TEST(EvaluateKernelProgram, ALocalBeginsAnewAtEachOuterPoint) {
  const auto result =
      run(R"(program @main(a: f64[n, 2] param 0, r: f64[n, 2] output 0, t: f64[1] temporary, u: f64[2] temporary)
    symbols n = a.0 {
    kernel @k0 {
      outer (i < n)
      local t start fill 0.0
      local u
      stage (j < 2) { %0 = load a[i, j] : f64  fold add t[0] %0 : f64  store u[j] set %0 }
      stage (j < 2) { %0 = load u[1 - j] : f64  %1 = load t[0] : f64  %2 = sub %0, %1 : f64  store r[i, j] set %2 }
    } })",
          {f64({2, 2}, {1, 2, 10, 20})});
  EXPECT_THAT(result.values, ElementsAre(-1, -2, -10, -20));
}

TEST(EvaluateKernelProgram, ATileIsAnOuterPoint) {
  const auto result =
      run(R"(program @main(a: f64[2, n] param 0, r: f64[2, n] output 0, t: f64[2] temporary) symbols n = a.1 {
    kernel @k0 {
      outer (j < n) by 2
      local t start fill 0.0
      stage (i < 2, j) { %0 = load a[i, j] : f64  fold add t[j] %0 : f64 }
      stage (j, i < 2) { %0 = load a[i, j] : f64  %1 = load t[j] : f64  %2 = sub %0, %1 : f64  store r[i, j] set %2 }
    } })",
          {f64({2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_THAT(result.values, ElementsAre(-10, -20, -30, -1, -2, -3));
}

TEST(EvaluateKernelProgram, TransposesFlipsStridesAndCoordinates) {
  const auto result = run(R"(program @main(a: f64[2, 3] param 0, r: f64[6] output 0) {
    kernel @k0 {
      stage (i < 3, j < 2) {
        %0 = load a[1 - j, 2 - i] : f64
        %1 = axis i : f64
        %2 = add %0, %1 : f64
        store r[2*i + j] set %2
      }
    } })",
                          {f64({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(result.values, ElementsAre(6, 3, 6, 3, 6, 3));
}

TEST(EvaluateKernelProgram, StartsAsACopy) {
  const auto result = run(R"(program @main(o: f64[n] param 0, r: f64[n] output 0) symbols n = o.0 {
    kernel @k0 { out r start copy o stage (i < 1) { %0 = literal 5.0 : f64  store r[1 + i] mul %0 } } })",
                          {f64({1, 2, 3})});
  EXPECT_THAT(result.values, ElementsAre(1, 10, 3));
}

TEST(EvaluateKernelProgram, ScalarsLiteralsSizesAndViews) {
  const auto result =
      run(R"(program @main(x: f64[n] param 0, r: f64[2, 2] output 0, s: f64 scalar, c: f64[2] literal [10.0, 20.0],
      v: f64[4] view of r) symbols n = x.0 {
    scalar { %0 = size 2*n + 1 : i64  %1 = cast %0 : f64  store s[] set %1 }
    kernel @k0 {
      stage (i < 2, j < 2) { %0 = load s[] : f64  %1 = load c[j] : f64  %2 = add %0, %1 : f64  store v[2*i + j] set %2 }
    } })",
          {f64({0, 0, 0})});
  EXPECT_THAT(result.values, ElementsAre(17, 27, 17, 27));
}

TEST(EvaluateKernelProgram, ACheckStopsTheRun) {
  constexpr std::string_view kText = R"(program @main(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = literal 0.0 : f64
        %2 = gt %0, %1 : bool
        check %2 #0
        store r[i] set %0
      }
    }
    sites { #0 assert-failed "x must be positive" at "model.py:7" } })";
  EXPECT_EQ(run(kText, {f64({1, -1})}).error, "x must be positive");
  EXPECT_THAT(run(kText, {f64({1, 2})}).values, ElementsAre(1, 2));
}

TEST(EvaluateKernelProgram, Matmul) {
  const auto result = run(R"(program @main(a: f64[2, 3] param 0, b: f64[3, 2] param 1, c: f64[2, 2] output 0) {
    call matmul c = a, b (1, 2, 3, 2) })",
                          {f64({2, 3}, {1, 2, 3, 4, 5, 6}), f64({3, 2}, {1, 0, 0, 1, 1, 1})});
  EXPECT_THAT(result.values, ElementsAre(4, 5, 10, 11));
}

TEST(EvaluateKernelProgram, AMatrixLiesAsTheFunctionTakesIt) {
  const auto run_with = [](const char* strides) {
    return run(
        str("program @main(a: f64[4] param 0, b: f64[4] param 1, c: f64[8] output 0) { call matmul c at 0 strides (",
            strides, ") = a, b (1, 2, 2, 2) }"),
        {f64({4}, {1, 2, 3, 4}), f64({4}, {1, 0, 0, 1})});
  };
  EXPECT_NO_THROW(run_with("8, 3, 1"));
  EXPECT_NO_THROW(run_with("8, 1, 2"));
  EXPECT_THROW(run_with("8, 2, 3"), Error) << "neither is 1";
  EXPECT_THROW(run_with("8, 1, 1"), Error) << "rows that overlap";
}

TEST(EvaluateKernelProgram, AFunctionHasNoNegativeSizes) {
  const auto run_with = [](int64_t length) {
    return run(
        "program @main(a: f64[n] param 0, c: f64 output 0) symbols n = a.0 { call matmul c = a, a (1, 1, n - 2, 1) }",
        {f64({length}, std::vector<double>(static_cast<std::size_t>(length), 1))});
  };
  EXPECT_NO_THROW(run_with(3));
  EXPECT_THROW(run_with(1), Error);
}

constexpr std::string_view kHost =
    R"(program @main(x: f64[n] param 0, h: f64[k] host, r: f64[k + 1] output 0) symbols n = x.0, k = h.0 {
  host_call "positive" 0 (x) -> h bind k = h.0 #0
  kernel @k0 { out r start fill 0.0 stage (i < k) { %0 = load h[i] : f64  store r[1 + i] set %0 } }
  sites { #0 host-call-failed "positive: the host call failed" } })";

TEST(EvaluateKernelProgram, AHostCallBindsASize) {
  std::vector<double> kept;
  const HostFunctions positive = [&](const HostCall& call, std::span<const HostTensor> in, std::span<HostTensor> out) {
    EXPECT_EQ(call.name, "positive");
    for (int64_t i = 0; i < in[0].dims[0]; ++i) {
      double value = 0;
      std::memcpy(&value, in[0].data + i * 8, 8);
      if (value > 0) kept.push_back(value);
    }
    out[0].dims = {static_cast<int64_t>(kept.size())};
    out[0].data = reinterpret_cast<std::byte*>(kept.data());
    return !kept.empty();
  };
  EXPECT_THAT(run(kHost, {f64({1, -2, 3})}, positive).values, ElementsAre(0, 1, 3));
  kept.clear();
  EXPECT_EQ(run(kHost, {f64({-2})}, positive).error, "positive: the host call failed");
}

TEST(EvaluateKernelProgram, ALoopCarriesAHandle) {
  constexpr std::string_view kText =
      R"(program @main(step: i64 scalar, g: opaque host, h: opaque host, v: f64 host, r: f64 output 0) {
    host_call "first" 0 () -> g #0
    loop step < 3 {
      host_call "next" 1 (g) -> h #0
      copy h -> g "the next value of g"
    }
    host_call "value" 2 (g) -> v #0
    copy v -> r "made by a host call, in the host's memory"
    sites { #0 host-call-failed "" } })";
  std::vector<double> values = {10, 11, 12, 13};
  const HostFunctions host = [&](const HostCall& call, std::span<const HostTensor> in, std::span<HostTensor> out) {
    auto* first = reinterpret_cast<std::byte*>(values.data());
    out[0].data = call.name == "first" ? first : in[0].data + (call.name == "next" ? sizeof(double) : 0);
    return true;
  };
  EXPECT_THAT(run(kText, {}, host).values, ElementsAre(13));
}

/// The positive ones, counted and then moved.
constexpr std::string_view kCompaction =
    R"(program @main(x: f64[n] param 0, c: i64 scalar, at: i64 scalar, r: f64[k] output 0) symbols n = x.0, k {
  kernel @k0 { out c start fill -1
    stage (i < n) { %0 = load x[i] : f64  %1 = literal 0.0 : f64  %2 = gt %0, %1 : bool  %3 = cast %2 : i64
                    fold add c[] %3 : i64 } }
  scalar { %0 = load c[] : i64  %1 = literal 1 : i64  %2 = add %0, %1 : i64  store c[] set %2 }
  size k = c #0
  kernel @k1 { out at start fill -1
    stage (i < n) { %0 = load x[i] : f64  %1 = literal 0.0 : f64  %2 = gt %0, %1 : bool  %3 = cast %2 : i64
                    %4 = fold add at[] %3 : i64  store r[wrap(%4, k) proved] set %0 if %2 } }
  sites { #0 negative-size "a size of {0}" } })";

TEST(EvaluateKernelProgram, ARunningFoldIsWhereAStoreGoes) {
  EXPECT_THAT(run(kCompaction, {f64({1, -2, 3, 4, -5})}).values, ElementsAre(1, 3, 4));
  EXPECT_THAT(run(kCompaction, {f64({-1})}).values, ElementsAre());
}

TEST(EvaluateKernelProgram, ANegativeSizeFails) {
  std::string text(kCompaction);
  text.replace(text.find("literal 1 : i64"), 15, "literal -3 : i64");
  EXPECT_EQ(run(text, {f64({1})}).error, "a size of -3");
}

TEST(EvaluateKernelProgram, AnyDTypeMoves) {
  const KernelProgram program =
      sound(R"(program @main(z: c128[n] param 0, r: c128[n] output 0, q: c128[n] output 1) symbols n = z.0 {
    kernel @k0 { stage (i < n) { %0 = load z[n - 1 - i] : c128  store r[i] set %0 } }
    copy z -> q "also an output" })");
  const Array z = array<double>(DType::c128, {2}, {1, 2, 3, 4});
  const Evaluation evaluation = evaluate(program, std::vector{z});
  EXPECT_THAT(elements<double>(evaluation.outputs[0]), ElementsAre(3, 4, 1, 2));
  EXPECT_THAT(elements<double>(evaluation.outputs[1]), ElementsAre(1, 2, 3, 4));
}

// On the bytes that the caller gives: an output that shares its operand's bytes, as a plan may decide.
TEST(EvaluateKernelProgram, RunsOnTheBytesOfAPlan) {
  const KernelProgram program =
      sound(R"(program @main(x: f64[n] param 0, r: f64[n] output 0, t: f64[n] temporary) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = add %0, %0 : f64  store t[i] set %1 } }
    kernel @k1 { out r start copy t stage (i < n) { %0 = load t[i] : f64  store r[i] mul %0 } } })");
  std::vector<double> x = {1, 2, 3}, out(3);
  std::vector<int64_t> symbols = {3};
  const auto address_of = [&](BufferId buffer, std::span<const int64_t> known) {
    EXPECT_EQ(known[0], 3);
    return reinterpret_cast<std::byte*>(buffer == BufferId(0) ? x.data() : out.data());  // t shares with r
  };
  EXPECT_FALSE(evaluate(program, symbols, address_of).has_value());
  EXPECT_THAT(out, ElementsAre(4, 16, 36));
}

// What is elided is left out on the bytes of the plan, be they those that it was marked for or not.
TEST(EvaluateKernelProgram, LeavesOutWhatIsElided) {
  const KernelProgram program =
      sound(R"(program @main(x: f64[n] param 0, t: f64[n] temporary, u: f64[n] temporary, r: f64[n] output 0,
      q: f64[n] output 1) symbols n = x.0 {
    copy x -> t "" elided
    kernel @k0 { out u start copy t elided stage (i < n) { %0 = load u[i] : f64  store r[i] set %0 elided } }
    copy r -> q "" })");
  std::vector<std::vector<double>> bytes = {{1}, {2}, {3}, {4}, {5}};
  std::vector<int64_t> symbols = {1};
  const auto address_of = [&](BufferId buffer, std::span<const int64_t>) {
    return reinterpret_cast<std::byte*>(bytes[buffer.index].data());
  };
  EXPECT_FALSE(evaluate(program, symbols, address_of).has_value());
  EXPECT_THAT(bytes, ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(4), ElementsAre(4)));
  EXPECT_FALSE(evaluate(program, symbols, address_of, {}, {}, Elided::done).has_value());
  EXPECT_THAT(bytes, ElementsAre(ElementsAre(1), ElementsAre(1), ElementsAre(1), ElementsAre(1), ElementsAre(1)));
}

// The evaluator trusts nobody: what verify cannot refute is caught where it happens.
TEST(EvaluateKernelProgram, EveryAccessIsChecked) {
  const auto message = [](std::string_view text, const std::vector<Array>& params) -> std::string {
    try {
      evaluate(parse(text), params);
    } catch (const Error& error) {
      return error.diagnostic().message;
    }
    return "no error";
  };
  EXPECT_THAT(message(R"(program @p(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 {
                kernel @k0 { stage (i < n) { %0 = load x[1 + i] : f64  store r[i] set %0 } } })",
                      {f64({1, 2})}),
              HasSubstr("kernel k0 touches element 2 of dim 0 of `x`, which is 2"));
  EXPECT_THAT(message(R"(program @p(x: f64[2] param 0, g: i64[1] param 1, r: f64[1] output 0) {
                kernel @k0 { stage (i < 1) { %1 = load g[i] : i64 %0 = load x[wrap(%1, 2) proved] : f64  store r[i] set %0 } } })",
                      {f64({1, 2}), i64({-1})}),
              HasSubstr("index -1 was proved to lie in [0, 2)"));
  EXPECT_THAT(message(R"(program @p(x: f64[2] param 0, r: f64[3] output 0) { copy x -> r "" })", {f64({1, 2})}),
              HasSubstr("copy of `x` to `r`: other bytes"));
  EXPECT_THAT(message(R"(program @p(x: f64[2] param 0, r: f64[3] output 0) { host_call "f" 0 () })", {f64({1, 2})}),
              HasSubstr("nobody brought its function"));
  EXPECT_THAT(
      message(
          R"(program @p(x: f64[2] param 0) { kernel @k0 { stage (i < 2) { %0 = load x[i] : f64 store x[i] add %0 } } })",
          {f64({1, 2})}),
      HasSubstr("the program wrote to its parameter 0"));
}

TEST(EvaluateKernelProgram, ParamsMustFit) {
  const KernelProgram program = parse("program @p(x: f64[n] param 0, y: f64[n] param 1) symbols n = x.0 { }");
  const auto message = [&](const std::vector<Array>& params) -> std::string {
    try {
      evaluate(program, params);
    } catch (const Error& error) {
      return error.diagnostic().message;
    }
    return "no error";
  };
  EXPECT_EQ(message({f64({1, 2}), f64({1})}), "y is f64[1], but the program takes f64[n] = [2]");
  EXPECT_EQ(message({f64({1, 2}), i64({1, 2})}), "y is i64[2], but the program takes f64[n] = [2]");
  EXPECT_EQ(message({f64({1, 2})}), "the program takes 2 arguments, not 1");
}

TEST(EvaluateKernelProgram, WhatIsNeverWrittenShows) {
  const KernelProgram program = parse("program @p(r: f64[2] output 0) { }");
  const Evaluation evaluation = evaluate(program, std::vector<Array>{});
  EXPECT_TRUE(std::isnan(elements<double>(evaluation.outputs[0])[1]));
}

}  // namespace
}  // namespace inlay::kernel
