#include "kernel/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Names of what the first step reads and writes.
struct NamedAccess {
  std::vector<std::string> reads, writes;
};
NamedAccess access_of_step(std::string_view step) {
  const KernelProgram program =
      parse(str("program @p(x: f64[n] param 0, y: f64[n] output 0, t: f64[n] temporary, s: f64 scalar, h: f64[n] host, "
                "v: f64[n, 1] view of t) symbols n = x.0 {",
                step, "}"));
  const StepAccess access = access_of(program, program.steps[0]);
  NamedAccess out;
  for (BufferId b : access.reads) out.reads.push_back(program.buffers[b].name);
  for (BufferId b : access.writes) out.writes.push_back(program.buffers[b].name);
  return out;
}

TEST(AccessOf, EachBufferOnceInOrderOfFirstUse) {
  const NamedAccess access = access_of_step(R"(kernel @k0 { stage (i < n) {
    %0 = load x[i] : f64  %1 = load t[i] : f64  %2 = load x[i] : f64  store y[i] set %0 } })");
  EXPECT_THAT(access.reads, ElementsAre("x", "t"));
  EXPECT_THAT(access.writes, ElementsAre("y"));
}

TEST(AccessOf, AccumulatingReadsWhatItKeeps) {
  const NamedAccess keeps = access_of_step("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 store t[i] add %0 } }");
  EXPECT_THAT(keeps.reads, ElementsAre("x", "t"));
  const NamedAccess fills = access_of_step(
      "kernel @k0 { out s start fill 0.0 stage (i < n) { %0 = load x[i] : f64 fold add s[] %0 : f64 } }");
  EXPECT_THAT(fills.reads, ElementsAre("x"));
  EXPECT_THAT(fills.writes, ElementsAre("s"));
  const NamedAccess copies = access_of_step("kernel @k0 { out y start copy t }");
  EXPECT_THAT(copies.reads, ElementsAre("t"));
  EXPECT_THAT(copies.writes, ElementsAre("y"));
}

TEST(AccessOf, WhatAnEarlierStageMadeIsNotRead) {
  const NamedAccess access = access_of_step(R"(kernel @k0 {
    stage (i < n) { %0 = load x[i] : f64  store t[i] set %0 }
    stage (i < n) { %0 = load t[i] : f64  store y[i] set %0 } })");
  EXPECT_THAT(access.reads, ElementsAre("x"));
  EXPECT_THAT(access.writes, ElementsAre("t", "y"));
}

TEST(AccessOf, AViewIsItsRoot) {
  const NamedAccess access =
      access_of_step("kernel @k0 { stage (i < n) { %0 = load v[i, 0] : f64  store y[i] set %0 } }");
  EXPECT_THAT(access.reads, ElementsAre("t"));
  EXPECT_THAT(access_of_step("call matmul y = v, x (1, n, 1, 1)").reads, ElementsAre("t", "x"));
}

TEST(AccessOf, OtherSteps) {
  EXPECT_THAT(access_of_step("host_call \"f\" 0 (x, x, s) -> h").reads, ElementsAre("x", "s"));
  EXPECT_THAT(access_of_step("host_call \"f\" 0 (x) -> h").writes, ElementsAre("h"));
  EXPECT_THAT(access_of_step("copy v -> y \"\"").reads, ElementsAre("t"));
  EXPECT_THAT(access_of_step("check n == 3 #0").reads, IsEmpty());
}

TEST(KernelProgram, IsScalarMeansNoLoop) {
  const auto is_scalar = [](std::string_view kernel) {
    return std::get<Kernel>(parse(str("program @p(y: f64[9] output 0, s: f64 scalar) {", kernel, "}")).steps[0])
        .is_scalar();
  };
  EXPECT_TRUE(is_scalar("scalar { %0 = literal 1.0 : f64 store s[] set %0 }"));
  EXPECT_TRUE(is_scalar("kernel @k0 { stage () { %0 = literal 1.0 : f64 store y[3] set %0 } }"));
  EXPECT_FALSE(is_scalar("kernel @k0 { stage (i < 2) { } }"));
  EXPECT_FALSE(is_scalar("kernel @k0 { outer (i < 2) stage () { } }"));
  EXPECT_FALSE(is_scalar("kernel @k0 { out y start fill 0.0 stage () { %0 = literal 1.0 : f64 store y[3] set %0 } }"));
}

TEST(KernelProgram, SizesOfBuffers) {
  const KernelProgram program = parse("program @p(a: f32[n, 3] param 0, s: f64 scalar) symbols n = a.0 { }");
  EXPECT_EQ(type_text(program, program.buffers[BufferId(0)]), "f32[n, 3]");
  EXPECT_EQ(type_text(program, program.buffers[BufferId(1)]), "f64");
  EXPECT_EQ(size_bytes(program.buffers[BufferId(0)]), Dim(12) * Dim::symbol(SymbolId(0)));
}

}  // namespace
}  // namespace inlay::kernel
