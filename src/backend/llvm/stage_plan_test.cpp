#include "backend/llvm/stage_plan.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::llvm_backend {
namespace {

constexpr int kVectorBytes = 64;

StagePlan plan(std::string_view buffers, std::string_view stage) {
  const kernel::KernelProgram program =
      kernel::parse(str("program @main(", buffers, ") symbols n = x.0, m = x.1 { kernel @k0 { ", stage,
                        " } sites { #0 internal \"\" } }"));
  const kernel::Kernel& kernel = std::get<kernel::Kernel>(program.steps[0]);
  return plan_stage(program, kernel, kernel.stages[0], kVectorBytes);
}

TEST(StagePlan, LanesFillARegisterOfTheWidestElement) {
  const auto width = [](std::string_view t, std::string_view extent) {
    return plan(str("x: ", t, "[n, m] param 0, r: ", t, "[", extent, "] output 0"),
                str("stage (i < ", extent, ") { %0 = load x[0, 0] : ", t, "  %1 = axis i : i8 store r[i] set %0 }"))
        .width;
  };
  EXPECT_EQ(width("f64", "n"), 8);
  EXPECT_EQ(width("f32", "n"), 16);
  EXPECT_EQ(width("u8", "n"), 16);
  EXPECT_EQ(width("f64", "5"), 8);
  EXPECT_EQ(width("f64", "3"), 4);
  EXPECT_EQ(width("f64", "2"), 2);
}

TEST(StagePlan, OnlyAShortBodyThatSumsRunsSeveralVectorsAtATime) {
  const auto unroll = [](std::string_view body) {
    return plan("x: f64[n, m] param 0, r: f64[n] output 0, s: f64 output 1", str("stage (i < n) { ", body, " }"))
        .unroll;
  };
  EXPECT_EQ(unroll("%0 = load r[i] : f64  fold add s[] %0 : f64"), 4);
  EXPECT_EQ(unroll("%0 = load r[i] : f64  %1 = exp %0 : f64  fold add s[] %1 : f64"), 1);
  EXPECT_EQ(unroll("%0 = load r[2*i] : f64  fold add s[] %0 : f64"), 1);
  EXPECT_EQ(unroll("%0 = load x[i, 0] : f64  store r[i] set %0"), 1);
}

TEST(StagePlan, RowsAreFoldedByColumnsWhereNoOrderShows) {
  const auto by_columns = [](std::string_view axes, std::string_view body) {
    const StagePlan p = plan(
        "x: f64[n, m] param 0, g: i64[n] param 1, w: f64[n] param 2, r: f64[n, m] output 0, "
        "s: f64[m] output 1, t: f64[n] output 2",
        str("stage (", axes, ") { %0 = load x[i, j] : f64  ", body, " }"));
    return p.by_columns;
  };
  const char* all = "i < n, j < m";
  EXPECT_TRUE(by_columns(all, "fold add s[j] %0 : f64"));
  EXPECT_TRUE(by_columns(all, "fold add s[j] %0 : f64  store r[i, j] set %0"));
  EXPECT_TRUE(by_columns(all,
                         "%1 = load g[i] : i64  %2 = load x[wrap(%1, n) checked #0, j] : f64  "
                         "fold max s[j] %2 : f64"));
  EXPECT_TRUE(by_columns("i < 4, j < m", "fold add s[j] %0 : f64"));
  EXPECT_FALSE(by_columns("i < 3, j < m", "fold add s[j] %0 : f64"));
  EXPECT_FALSE(by_columns(all, "store r[i, j] set %0"));
  // Sums of rows beside it, an index of each point that may fail, a store that a later row overwrites.
  EXPECT_FALSE(by_columns(all, "fold add s[j] %0 : f64  fold add t[i] %0 : f64"));
  EXPECT_FALSE(by_columns(all,
                          "%1 = load g[j] : i64  %2 = load x[i, wrap(%1, m) checked #0] : f64  "
                          "fold add s[j] %2 : f64"));
  EXPECT_FALSE(by_columns(all, "fold add s[j] %0 : f64  store r[0, j] set %0"));
  // An exponential of a row would be computed for each strip of columns.
  EXPECT_FALSE(
      by_columns(all, "%1 = load w[i] : f64  %2 = exp %1 : f64  %3 = mul %0, %2 : f64  fold add s[j] %3 : f64"));
}

TEST(StagePlan, WhatDoesNotChangeFromRowToRowIsMadeBeforeThem) {
  const auto of_column = [](std::string_view body) {
    const StagePlan p =
        plan("x: f64[n, m] param 0, y: f64[m] param 1, d: f64[] param 2, r: f64[m] output 0, s: f64[m] output 1",
             str("stage (i < n, j < m) { ", body, " }"));
    std::string out;
    for (std::size_t i = 0; i < p.statements.size(); ++i) out += p.is_made_before_rows(i) ? 'c' : '.';
    return str(out, " by ", p.unroll);
  };
  EXPECT_EQ(of_column("%0 = load y[j] : f64  %1 = load d[] : f64  %2 = div %0, %1 : f64  %3 = load x[i, j] : f64  "
                      "%4 = sub %3, %2 : f64  fold add s[j] %4 : f64"),
            "c.c... by 8");
  EXPECT_EQ(of_column("%0 = axis i : f64  %1 = axis j : f64  %2 = add %0, %1 : f64  fold add s[j] %2 : f64"),
            ".c.. by 8");
  // What the stage changes is looked up where it stands.
  EXPECT_EQ(of_column("%0 = load r[j] : f64  fold add s[j] %0 : f64  fold add r[j] %0 : f64"), "... by 8");
}

TEST(StagePlan, ShortRowsAreFoldedTogetherWhereNothingElseIsDone) {
  const auto short_rows = [](std::string_view axes, std::string_view body) {
    return plan("x: f64[n, m] param 0, r: f64[n, m] output 0, s: f64[n] output 1, t: i64[n] output 2",
                str("stage (", axes, ") { %0 = load x[i, j] : f64  ", body, " }"))
        .short_rows;
  };
  const char* all = "i < n, j < m";
  const std::string argmax = "%1 = axis j : i64  fold argmax place t[i] %1 : i64  fold argmax max s[i] %0 : f64";
  EXPECT_TRUE(short_rows(all, "fold add s[i] %0 : f64"));
  EXPECT_TRUE(short_rows(all, argmax));
  EXPECT_FALSE(short_rows("i < n, j < 9", argmax));
  EXPECT_FALSE(short_rows(all, argmax + " store r[i, j] set %0"));
  // These make one number of all lanes by steps of their own.
  EXPECT_FALSE(short_rows(all, "fold moments squares s[i] %0 : f64"));
  EXPECT_FALSE(short_rows(all, "fold log_sum_exp sum s[i] %0 : f64  fold log_sum_exp max r[i, 0] %0 : f64"));
}

TEST(StagePlan, ATransposePassesTheVectorAxisInBlocks) {
  const auto block_level = [](std::string_view stage) {
    const StagePlan p =
        plan("x: f64[n, m] param 0, y: f64[m, n, m] param 1, g: i64[n] param 2, r: f64[n, m, n] output 0", stage);
    EXPECT_EQ(p.block, p.block_level < 0 ? 0 : 16);
    return p.block_level;
  };
  EXPECT_EQ(block_level("stage (i < m, j < n) { %0 = load x[j, i] : f64  store r[0, i, j] set %0 }"), 0);
  EXPECT_EQ(block_level("stage (i < n, j < m, k < n) { %0 = load y[j, k, i] : f64  store r[i, j, k] set %0 }"), 0);
  EXPECT_EQ(block_level("stage (i < n, j < m, k < n) { %0 = load y[i, k, j] : f64  store r[i, j, k] set %0 }"), 1);
  // Rows as they lie, and rows of another place: nothing is read across.
  EXPECT_EQ(block_level("stage (i < n, j < m) { %0 = load x[i, m - 1 - j] : f64  store r[i, j, 0] set %0 }"), -1);
  EXPECT_EQ(block_level("stage (i < n, j < m, k < n) { %0 = load y[j, i, k] : f64  store r[i, j, k] set %0 }"), -1);
  // A sum and an index that may be out of bounds keep the order of their points.
  EXPECT_EQ(block_level("stage (i < m, j < n) { %0 = load x[j, i] : f64  fold add r[0, i, 0] %0 : f64 }"), -1);
  EXPECT_EQ(block_level("stage (i < m, j < n) { %0 = load g[j] : i64  %1 = load x[j, i] : f64  %2 = load y[i, wrap(%0, "
                        "n) checked #0, 0] : f64 "
                        " %3 = add %1, %2 : f64  store r[0, i, j] set %3 }"),
            -1);
  EXPECT_EQ(plan("x: f64[16, m] param 0, r: f64[m, 16] output 0",
                 "stage (i < m, j < 16) { %0 = load x[j, i] : f64  store r[i, j] set %0 }")
                .block,
            0);
}

TEST(StagePlan, OnlyAShortBodyThatStoresInALongLoopAlignsItsStores) {
  const auto aligned = [](std::string_view axes, std::string_view body) {
    return plan("x: f64[n, m] param 0, g: i64[n] param 1, r: f64[n] output 0, s: f64 output 1",
                str("stage (", axes, ") { ", body, " }"))
        .aligned_store;
  };
  EXPECT_EQ(aligned("i < n", "%0 = load x[i, 0] : f64  store r[i] set %0"), 1u);
  EXPECT_EQ(aligned("i < 1024", "%0 = load x[i, 0] : f64  store r[i] set %0"), 1u);
  EXPECT_EQ(aligned("i < 1000", "%0 = load x[i, 0] : f64  store r[i] set %0"), std::nullopt);
  EXPECT_EQ(aligned("i < n", "%0 = load x[i, 0] : f64  %1 = exp %0 : f64  store r[i] set %1"), std::nullopt);
  EXPECT_EQ(aligned("i < n", "%0 = load x[i, 0] : f64  store r[2*i] set %0"), std::nullopt);
  // A sum's bits must not depend on an address.
  EXPECT_EQ(aligned("i < n", "%0 = load x[i, 0] : f64  store r[i] set %0  fold add s[] %0 : f64"), std::nullopt);
}

}  // namespace
}  // namespace inlay::llvm_backend
