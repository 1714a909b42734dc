#include "kernel/flops.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

constexpr const char* kBuffers =
    "program @main(x: f64[n, m] param 0, v: f64[n] param 1, w: f64[m] param 2, i: i64[n] param 3, z: c128[n] param 4, "
    "y: f64[n, m] output 0, r: f64[n] output 1, u: c128[n] output 2, j: i64[n] output 3, t: f64 output 4, "
    "a: f64 output 5) symbols n = x.0, m = x.1 ";

/// The number of the first kernel, over n and m.
std::string flops_in(std::string_view kernel) {
  const KernelProgram program = parse(str(kBuffers, "{ kernel @k0 ", kernel, " }"));
  return flops(std::get<Kernel>(program.steps[0])).to_text(program.symbol_names());
}

TEST(Flops, OfEachOpWhoseResultIsAFloat) {
  EXPECT_EQ(flops_in(R"({ stage (p < n, q < m) {
    %0 = load x[p, q] : f64
    %1 = exp %0 : f64
    %2 = mul %1, %0 : f64
    %3 = lt %2, %0 : bool
    %4 = select %3, %2, %0 : f64
    store y[p, q] set %4
  } })"),
            "2*n*m");
  EXPECT_EQ(flops_in(R"({ stage (p < n) {
    %0 = load i[p] : i64
    %1 = add %0, %0 : i64
    store j[p] set %1
  } })"),
            "0");
}

TEST(Flops, OfComplexNumbers) {
  EXPECT_EQ(flops_in(R"({ stage (p < n) {
    %0 = load z[p] : c128
    %1 = mul %0, %0 : c128
    %2 = add %1, %0 : c128
    %3 = exp %2 : c128
    store u[p] set %3
    %4 = real %3 : f64
    store r[p] set %4
  } })"),
            "9*n");
}

TEST(Flops, AreOfTheLoopInWhichAnOperandChanges) {
  EXPECT_EQ(flops_in(R"({ stage (p < n, q < m) {
    %0 = load v[p] : f64
    %1 = exp %0 : f64
    %2 = load w[q] : f64
    %3 = sqrt %2 : f64
    %4 = add %1, %3 : f64
    store y[p, q] set %4
  } })"),
            "n + 2*n*m");  // sqrt(w) is computed again for each p
  EXPECT_EQ(flops_in(R"({ stage (p < n) {
    %0 = literal 2.0 : f64
    %1 = exp %0 : f64
    %2 = axis p : f64
    %3 = mul %1, %2 : f64
    store r[p] set %3
  } })"),
            "n + 1");
}

TEST(Flops, OfWhatAnEarlierStageMakesAreOfEachOuterPoint) {
  EXPECT_EQ(flops_in(R"({ outer (p < n) local t start fill 0.0
    stage (q < m) { %0 = load x[p, q] : f64 fold add t[] %0 : f64 }
    stage (q < m) {
      %0 = load t[] : f64
      %1 = sqrt %0 : f64
      %2 = load x[p, q] : f64
      %3 = div %2, %1 : f64
      store y[p, q] set %3
    }
  })"),
            "n + 2*n*m");
}

TEST(Flops, OfFoldsAreOfEachPoint) {
  EXPECT_EQ(flops_in("{ out r start fill 0.0 stage (p < n, q < m) { %0 = load v[p] : f64 fold add r[p] %0 : f64 } }"),
            "n*m");
  EXPECT_EQ(flops_in("{ out t start fill -inf out a start fill 0.0 stage (p < n) { %0 = load v[p] : f64 "
                     "fold log_sum_exp sum a[] %0 : f64 fold log_sum_exp max t[] %0 : f64 } }"),
            "4*n");
  EXPECT_EQ(flops_in("{ stage (p < n) { %0 = load i[p] : i64 %1 = load v[p] : f64 "
                     "store r[wrap(%0, n) checked #0] add %1 } } sites { #0 internal \"\" }"),
            "n");
  EXPECT_EQ(flops_in("{ stage (p < n) { %0 = load i[p] : i64 fold max j[0] %0 : i64 } }"), "0");
}

TEST(Flops, OfTiles) {
  // What is the same for all points of a tile is computed once for it, before the loop over its points; within that
  // loop again for each.
  EXPECT_EQ(flops_in(R"({ outer (p < n) by 8 stage (q < m, p) {
    %0 = load w[q] : f64
    %1 = exp %0 : f64
    %2 = load v[p] : f64
    %3 = mul %1, %2 : f64
    store y[p, q] set %3
  } })"),
            "n*m + m*floordiv(n + 7, 8)");
  EXPECT_EQ(flops_in(R"({ outer (p < n) by 8 stage (p, q < m) {
    %0 = load w[q] : f64
    %1 = exp %0 : f64
    store y[p, q] set %1
    %2 = load v[p] : f64
    %3 = exp %2 : f64
    store r[p] set %3
  } })"),
            "n + n*m");
  EXPECT_EQ(flops_in(R"({ outer (p < n) by 8 once stage (q < m) {
    %0 = load w[q] : f64
    %1 = exp %0 : f64
    store y[0, q] set %1
  } stage (p) {
    %0 = load v[p] : f64
    %1 = exp %0 : f64
    store r[p] set %1
  } })"),
            "n + m");
}

TEST(Flops, OfLibraryCalls) {
  const auto of_call = [](std::string_view call) {
    const KernelProgram program = parse(
        str("program @main(x: f64[n, m] param 0, y: f64[m, k] param 1, a: f64[6, 6] param 2, c: c128[6, 6] param 3, "
            "p: f64[n, k] output 0, q: f64[6, 6] output 1, d: c128[6, 6] output 2, e: f64[6] output 3) "
            "symbols n = x.0, m = x.1, k = y.1 { call ",
            call, " }"));
    const auto found = flops(program, std::get<LibraryCall>(program.steps[0]));
    return found ? found->to_text(program.symbol_names()) : "unknown";
  };
  EXPECT_EQ(of_call("matmul p = x, y (1, n, m, k)"), "2*n*m*k");
  EXPECT_EQ(of_call("cholesky q = a (1, 6)"), "72");
  EXPECT_EQ(of_call("cholesky d = c (1, 6)"), "288");
  EXPECT_EQ(of_call("eigvalsh e = a (1, 6)"), "unknown");
  EXPECT_EQ(of_call("sort q = a (6, 6)"), "0");
}

}  // namespace
}  // namespace inlay::kernel
