#include "kernel/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using ::testing::ElementsAre;

LoopNest nest(std::string_view buffers, std::string_view body) {
  const KernelProgram program = parse(str("program @main(", buffers, ") symbols n = x.0, m = x.1 { kernel @k0 { ", body,
                                          " } sites { #0 internal \"\" } }"));
  const Kernel& kernel = std::get<Kernel>(program.steps[0]);
  return loop_nest(program, kernel, kernel.stages[0]);
}

std::vector<int> levels(const LoopNest& nest) {
  std::vector<int> out;
  for (const NestStatement& statement : nest.statements) out.push_back(statement.level);
  return out;
}

std::vector<int> axes(const LoopNest& nest) {
  std::vector<int> out;
  for (const NestLoop& loop : nest.loops) out.push_back(loop.axis);
  return out;
}

TEST(LoopNest, AStatementStandsAtTheInnermostLoopThatItVariesWith) {
  const LoopNest p = nest("x: f64[n, m] param 0, w: f64[n] param 1, s: f64 param 2, r: f64[n, m] output 0", R"(
      stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = load w[i] : f64  %2 = load s[] : f64  %3 = exp %1 : f64
        %4 = exp %2 : f64  %5 = mul %0, %3 : f64  %6 = mul %5, %4 : f64  store r[i, j] set %6 })");
  EXPECT_THAT(levels(p), ElementsAre(2, 1, 0, 1, 0, 2, 2, 2));
  EXPECT_THAT(axes(p), ElementsAre(0, 1));
}

TEST(LoopNest, AxesInRowMajorOrderAreOneLoop) {
  const LoopNest p =
      nest("x: f64[n, m] param 0, r: f64[n, m] output 0, s: f64 output 1",
           "stage (i < n, j < m) { %0 = load x[i, j] : f64  store r[i, j] set %0  fold add s[] %0 : f64 }");
  EXPECT_THAT(axes(p), ElementsAre(1));
  EXPECT_THAT(p.loops[0].merged, ElementsAre(0));
  EXPECT_EQ(p.loops[0].extent, Dim::symbol(SymbolId(0)) * Dim::symbol(SymbolId(1)));
  // A flip, a row sum, a coordinate, a slice of the columns: none of them is.
  EXPECT_EQ(nest("x: f64[n, m] param 0, r: f64[n, m] output 0",
                 "stage (i < n, j < m) { %0 = load x[i, m - 1 - j] : f64  store r[i, j] set %0 }")
                .innermost(),
            2);
  EXPECT_EQ(nest("x: f64[n, m] param 0, r: f64[n] output 0",
                 "stage (i < n, j < m) { %0 = load x[i, j] : f64  fold add r[i] %0 : f64 }")
                .innermost(),
            2);
  EXPECT_EQ(nest("x: f64[n, m] param 0, r: i64[n, m] output 0",
                 "stage (i < n, j < m) { %0 = axis j : i64  store r[i, j] set %0 }")
                .innermost(),
            2);
  EXPECT_EQ(nest("x: f64[n, m] param 0, r: f64[n, 3] output 0",
                 "stage (i < n, j < 3) { %0 = load x[i, j] : f64  store r[i, j] set %0 }")
                .innermost(),
            2);
}

TEST(LoopNest, WhatIsElidedTakesWhatItAloneNeedsWithIt) {
  const LoopNest p = nest("x: f64[n, m] param 0, g: i64[n] param 1, r: f64[n] output 0, q: f64[n] output 1", R"(
      stage (i < n) { %0 = load r[i] : f64  %1 = exp %0 : f64  store r[i] set %1 elided  %2 = load g[i] : i64
        %3 = load x[0, wrap(%2, m) checked #0] : f64  store q[i] set %3 elided })");
  std::vector<bool> live;
  for (const NestStatement& statement : p.statements) live.push_back(statement.live);
  EXPECT_THAT(live, ElementsAre(false, false, false, true, true, false));  // an index that is checked may still fail
}

TEST(LoopNest, AFoldOpensAtTheLevelOfItsElement) {
  const LoopNest p = nest("x: f64[n, m, n] param 0, r: f64[n] output 0, s: f64[n, m, n] output 1", R"(
      stage (i < n, j < m, k < n) { %0 = load x[i, j, k] : f64  fold add r[i] %0 : f64
        fold add s[i, m - 1 - j, k] %0 : f64 })");
  EXPECT_EQ(p.innermost(), 3);
  EXPECT_EQ(p.statements[1].opened, 1);
  EXPECT_TRUE(p.statements[1].accumulates);
  EXPECT_FALSE(p.statements[2].accumulates);  // each point has an element of its own
}

TEST(LoopNest, ATileIsALoopThatIsNeverMerged) {
  const LoopNest p = nest("x: f64[n, m] param 0, r: f64[n, m] output 0",
                          "outer (i < n) by 8 stage (i, j < m) { %0 = load x[i, j] : f64  store r[i, j] set %0 }");
  EXPECT_THAT(axes(p), ElementsAre(0, 1));
  EXPECT_TRUE(p.loops[0].is_tile);
  EXPECT_EQ(p.loops[0].extent, Dim(8));
}

TEST(LoopNest, AnIndexVariesWhereTheInnermostLoopChangesIt) {
  const LoopNest p = nest("x: f64[n, m] param 0, g: i64[n] param 1, h: i64[m] param 2, r: f64[n, m] output 0", R"(
      stage (i < n, j < m) { %0 = load g[i] : i64  %1 = load x[wrap(%0, n) checked #0, j] : f64  %2 = load h[j] : i64
        %3 = load x[i, wrap(%2, m) checked #0] : f64  %4 = add %1, %3 : f64  store r[i, j] set %4 })");
  EXPECT_FALSE(p.statements[1].index_varies);
  EXPECT_TRUE(p.statements[3].index_varies);
}

}  // namespace
}  // namespace inlay::kernel
