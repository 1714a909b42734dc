#include "kernel/blocks.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

constexpr BlockRule kRule = {.cost = 150};

BlockFold table(int64_t elements) {
  return {.fold = Fold::add, .buffers = {BufferId(0)}, .dtypes = {DType::f64}, .elements = elements, .by_index = true};
}

TEST(Blocks, WhatIsLongNeedsAWorkspace) {
  const std::vector<BlockFold> few = {table(256)}, many = {table(257)}, together = {table(200), table(200)};
  EXPECT_FALSE(kRule.needs_workspace(few));
  EXPECT_TRUE(kRule.needs_workspace(many));
  EXPECT_TRUE(kRule.needs_workspace(together));
  // A block is then worth its states, and there are fewer.
  EXPECT_EQ(kRule.cost_of_block(few), 150);
  EXPECT_EQ(kRule.cost_of_block(many), 257);
  EXPECT_EQ(kRule.cost_of_block(together), 400);
  EXPECT_EQ(kRule.most_blocks(few), 64);
  EXPECT_EQ(kRule.most_blocks(many), 16);
}

/// As pool.cpp and emitted code merge: the most parts of `count` blocks that there are at a time, one after the other.
int64_t most_parts(int64_t count) {
  int64_t most = 0;
  for (int64_t block = 0; block < count; ++block) most = std::max<int64_t>(most, 1 + std::popcount(uint64_t(block)));
  return most;
}

TEST(Blocks, AWorkspaceHasAsManyTablesAsThereAreAtATime) {
  const std::vector<BlockFold> folds = {table(1000)};
  constexpr int64_t kTable = 8000, kLanes = 128;
  for (int64_t count = 1; count <= 20; ++count) {
    const Dim bytes = kRule.workspace_bytes(folds, kLanes, kRule.cost_of_block(folds) * count);
    ASSERT_TRUE(bytes.is_constant());
    const int64_t tables = bytes.constant() / (kTable + kLanes);
    EXPECT_EQ(bytes.constant() % (kTable + kLanes), 0);
    if (count == 1) {
      EXPECT_EQ(tables, 0);  // it folds into the buffers
    } else {
      EXPECT_GE(tables, most_parts(std::min<int64_t>(count, 16))) << count;
      EXPECT_LE(tables, 5) << count;
    }
  }
}

TEST(Blocks, WhatAddsInRegistersHasLanes) {
  const KernelProgram program = parse(
      "program @main(x: f64[n] param 0, k: i64 param 1, s: f64 output 0, t: f64[9] output 1) symbols n = x.0 { kernel "
      "@k0 { stage (i < n) { %0 = load x[i] : f64 fold add s[] %0 : f64 %1 = load k[] : i64 store t[wrap(%1, 9) "
      "proved] "
      "add %0 store t[0] set %0 } } }");
  EXPECT_EQ(most_lane_bytes(std::get<Kernel>(program.steps[0]).stages[0]), 2 * 128);
}

}  // namespace
}  // namespace inlay::kernel
