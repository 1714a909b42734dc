#include "kernel/counts.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

TEST(KernelCounts, OfAWholeProgram) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, g: i64[n] param 1, a: f64[85] param 2,
      out: f64[n + 1] output 0, grad: f64[85] output 1, s: f64 scalar, c: f64[2] literal [1.0, 2.0], h: f64[k] host)
      symbols n = x.0, k = h.0 {
    check n <= 1000 #0
    scalar { %0 = literal 0.5 : f64  store s[] set %0 }
    kernel @k0 {
      out grad start fill 0.0
      out s start fill 0.0
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load a[wrap(%0, 85) checked #0] : f64
        %2 = load x[i] : f64
        %3 = load x[i] : f64
        %4 = load c[0] : f64
        %5 = mul %1, %2 : f64
        store out[1 + i] set %5
        store grad[wrap(%0, 85) checked #0] add %5
        fold add s[] %5 : f64
      }
    }
    kernel @k1 {
      out grad start copy a
      stage (i < 1) { %0 = load x[0] : f64  store out[i] set %0 }
    }
    host_call "f" 0 (x) -> h bind k = h.0
    copy x -> x "for the count"
    sites { #0 internal "" } })");
  const KernelCounts counts = count(program);
  EXPECT_EQ(counts.kernels, 2);
  EXPECT_EQ(counts.stages, 2);
  EXPECT_EQ(counts.loads, 6);
  EXPECT_EQ(counts.gathers, 1);
  EXPECT_EQ(counts.stores, 3);
  EXPECT_EQ(counts.scatters, 1);
  EXPECT_EQ(counts.folds, 1);
  EXPECT_EQ(counts.ops, 1);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(counts.host_calls, 1);
  EXPECT_EQ(counts.size_checks, 1);
  const Dim n = Dim::symbol(SymbolId(0));
  EXPECT_EQ(counts.reads, Dim(3) * n + 1);        // g, the gather, x once; and x[0]
  EXPECT_EQ(counts.writes, Dim(2) * n + 85 + 1);  // out, the scatter, the fill of grad; and out[0]
  EXPECT_EQ(counts.read_bytes, Dim(24) * n + 8);
  EXPECT_EQ(counts.written_bytes, Dim(16) * n + 688);
}

TEST(KernelCounts, OfOneKernel) {
  const KernelProgram program =
      parse(R"(program @main(a: f64[n, m] param 0, r: f64[n] output 0) symbols n = a.0, m = a.1 {
    kernel @k0 { out r start fill 0.0 stage (i < n, j < m) { %0 = load a[i, j] : f64  fold add r[i] %0 : f64 } }
    kernel @k1 { stage (i < n) { %0 = load a[i, 0] : f64  store r[i] set %0 } } })");
  const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1));
  const KernelCounts counts = count(program, std::get<Kernel>(program.steps[0]));
  EXPECT_EQ(counts.kernels, 1);
  EXPECT_EQ(counts.reads, n * m);
  EXPECT_EQ(counts.writes, Dim(2) * n);
  EXPECT_EQ(counts.width, 8);
}

TEST(KernelCounts, OfVectors) {
  const auto width = [](std::string_view stage) {
    return count(parse(str("program @main(x: f64[n, 3] param 0, h: f32[n] param 1, t: f32[n] output 0, s: f64 scalar) ",
                           "symbols n = x.0 { kernel @k0 { out s start fill 0.0 ", stage, " } }")))
        .width;
  };
  EXPECT_EQ(width("stage (i < n) { %0 = load h[i] : f32 store t[i] set %0 }"), 16);
  // What is the same for the whole loop takes no lane; what changes in it does.
  EXPECT_EQ(width("stage (i < n) { %0 = load h[i] : f32 %1 = load x[0, 0] : f64 store t[i] set %0 }"), 16);
  EXPECT_EQ(width("stage (i < n) { %0 = load h[i] : f32 %1 = cast %0 : f64 fold add s[] %1 : f64 }"), 8);
  EXPECT_EQ(width("stage (i < n, j < 3) { %0 = load x[i, j] : f64 fold add s[] %0 : f64 }"), 3);
  EXPECT_EQ(width("stage (i < n) { %0 = load h[i] : f32 store t[i] set %0 } stage () { %0 = load x[0, 0] : f64 }"), 16);
}

}  // namespace
}  // namespace inlay::kernel
