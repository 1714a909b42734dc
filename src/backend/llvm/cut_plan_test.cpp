#include "backend/llvm/cut_plan.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::llvm_backend {
namespace {

constexpr int kVectorBytes = 64;
constexpr BlockRule kForThreads = {.cost = 1000};

kernel::KernelProgram parse(std::string_view buffers, std::string_view kernel) {
  return kernel::parse(str("program @main(", buffers, ") symbols n = x.0, m = x.1 { kernel @k0 ", kernel,
                           " sites { #0 internal \"\" } }"));
}

/// "level 0", with what blocks fold: "level 0: add into 1"; "": it is not cut.
std::string text_of(const std::optional<Cut>& cut) {
  if (!cut) return "";
  std::string out = str("level ", cut->level);
  for (const BlockFold& fold : cut->folds) out += str(": ", facts(fold.fold).name, " of ", fold.elements);
  return out + (cut->keeps_tree ? ", by its tree" : "");
}

/// Of the stage of a kernel.
std::string cut(std::string_view stage, const BlockRule& rule = kForThreads) {
  const kernel::KernelProgram program = parse(
      "x: f64[n, m] param 0, g: i64[n] param 1, w: f64[n] param 2, r: f64[n, m] output 0, s: f64 output 1, t: f64[7] "
      "output 2, h: f16 output 3, u: f64[n] output 4, k: i64 output 5, c: f64[m] output 6",
      str("{ ", stage, " }"));
  const auto& kernel = std::get<kernel::Kernel>(program.steps[0]);
  const StagePlan plan = plan_stage(program, kernel, kernel.stages[0], kVectorBytes);
  return text_of(cut_of(program, kernel, kernel.stages[0], plan, rule));
}

TEST(CutPlan, PointsThatMeetNowhereAreCut) {
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 store u[i] set %0 }"), "level 0");
  EXPECT_EQ(cut("stage (i < n, j < m) { %0 = load w[i] : f64 store r[i, j] set %0 }"), "level 0");
}

TEST(CutPlan, WhatBlocksFoldIsMerged) {
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 fold add s[] %0 : f64 }"), "level 0: add of 1, by its tree");
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 fold max s[] %0 : f64 }"), "level 0: max of 1");
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = load g[i] : i64 store t[wrap(%1, 7) checked #0] add %0 }"),
            "level 0: add of 7");
}

TEST(CutPlan, LongTablesLieInTheWorkspace) {
  constexpr auto cut_with = [](std::string_view buffer, std::string_view workspace, std::string_view points) {
    const kernel::KernelProgram program =
        kernel::parse(str("program @main(w: f64[n] param 0, g: i64[n] param 1, t: f64[1000] output 0, s: f64 output 1",
                          buffer, ") symbols n = w.0 { kernel @k0 { ", workspace, " stage (i < ", points,
                          ") { %0 = load w[i] : f64 fold add s[] %0 : f64 %1 = load g[i] : i64 ",
                          "store t[wrap(%1, 1000) checked #0] add %0 } } sites { #0 internal \"\" } }"));
    const auto& kernel = std::get<kernel::Kernel>(program.steps[0]);
    const StagePlan plan = plan_stage(program, kernel, kernel.stages[0], kVectorBytes);
    return text_of(cut_of(program, kernel, kernel.stages[0], plan, kForThreads));
  };
  constexpr auto kEnough = ", x: u8[1000000] temporary";
  EXPECT_EQ(cut_with(kEnough, "workspace x", "n"), "level 0: add of 1000: add of 1, by its tree");
  // There is none, or it is too short.
  EXPECT_EQ(cut_with("", "", "n"), "");
  EXPECT_EQ(cut_with(", x: u8[9000] temporary", "workspace x", "n"), "");
  // Less work than two blocks are worth, with their tables.
  EXPECT_EQ(cut_with(kEnough, "workspace x", "500"), "");
}

TEST(CutPlan, WhereOrderShowsOrTooMuchIsFoldedNothingIsCut) {
  // The last one stays.
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = load g[i] : i64 store t[wrap(%1, 7) checked #0] set %0 }"),
            "");
  // Into as many elements as there may be.
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = load g[i] : i64 store u[wrap(%1, n) checked #0] add %0 }"),
            "");
  // Every addition rounds.
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = cast %0 : f16 fold add h[] %1 : f16 }"), "");
  // A running sum.
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = fold add s[] %0 : f64 store u[i] set %1 }"), "");
}

TEST(CutPlan, OfRowsThatAreFoldedTheColumnsAreCut) {
  EXPECT_EQ(cut("stage (i < n, j < m) { %0 = load x[i, j] : f64 fold add c[j] %0 : f64 }"), "level 1");
  EXPECT_EQ(cut("stage (i < n, j < m) { %0 = load x[i, j] : f64 fold add u[i] %0 : f64 }"), "level 0");
}

TEST(CutPlan, WorkThatIsKnownToBeShortIsNotCut) {
  EXPECT_EQ(cut("stage (i < 60) { %0 = load w[i] : f64 store u[i] set %0 }"), "");
  EXPECT_EQ(cut("stage (i < 6000) { %0 = load w[i] : f64 store u[i] set %0 }"), "level 0");
}

TEST(CutPlan, ForOneThreadOnlyThatIsCutWhichShowsInTheResults) {
  const BlockRule for_one = {.cost = 1000, .for_threads = false};
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 store u[i] set %0 }", for_one), "");
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 fold add s[] %0 : f64 }", for_one), "");
  EXPECT_EQ(cut("stage (i < n) { %0 = load g[i] : i64 fold max k[] %0 : i64 }", for_one), "");
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 fold max s[] %0 : f64 }", for_one), "level 0: max of 1");
  EXPECT_EQ(cut("stage (i < n) { %0 = load w[i] : f64 %1 = load g[i] : i64 store t[wrap(%1, 7) checked #0] add %0 }",
                for_one),
            "level 0: add of 7");
}

std::string cut_kernel(std::string_view kernel) {
  const kernel::KernelProgram program =
      parse("x: f64[n, m] param 0, r: f64[n, m] output 0, s: f64 output 1, a: f64[m] temporary, b: f64 scalar", kernel);
  return text_of(cut_of(program, std::get<kernel::Kernel>(program.steps[0]), kForThreads));
}

TEST(CutPlan, TheOuterLoopsOfAKernelAreCutWithAllOfItsStages) {
  EXPECT_EQ(cut_kernel("{ outer (i < n) local b start fill 0.0 "
                       "stage (j < m) { %0 = load x[i, j] : f64 fold add b[] %0 : f64 } "
                       "stage (j < m) { %0 = load x[i, j] : f64 %1 = load b[] : f64 %2 = div %0, %1 : f64 "
                       "store r[i, j] set %2 fold add s[] %2 : f64 } }"),
            "level 0: add of 1");
  // Rows that each point has for itself.
  EXPECT_EQ(cut_kernel("{ outer (i < n) local a "
                       "stage (j < m) { %0 = load x[i, j] : f64 store a[j] set %0 } "
                       "stage (j < m) { %0 = load a[j] : f64 store r[i, j] set %0 } }"),
            "level 0");
}

TEST(CutPlan, FewLongRowsThatAreFoldedAgainAreCutToo) {
  const auto step = [](std::string_view last) {
    const kernel::KernelProgram program =
        parse("x: f64[n, m] param 0, r: f64[n] output 0, y: f64[n, m] output 1, b: f64[64] temporary",
              std::string("{ outer (i < n) by 64 local b start fill 0.0 "
                          "stage (i, j < m) { %0 = load x[i, j] : f64 fold add b[i] %0 : f64 } "
                          "stage (i, j < m) { %0 = load x[i, j] : f64 %1 = load b[i] : f64 %2 = sub %0, %1 : f64 ") +
                  std::string(last) + " } }");
    const auto cut = cut_of(program, std::get<kernel::Kernel>(program.steps[0]), kForThreads);
    return cut ? cut->step : 0;
  };
  EXPECT_EQ(step("fold add r[i] %2 : f64"), 1);
  EXPECT_EQ(step("store y[i, j] set %2"), 64);
}

}  // namespace
}  // namespace inlay::llvm_backend
