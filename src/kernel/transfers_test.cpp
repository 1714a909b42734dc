#include "kernel/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1));

/// A program that makes t from x and then runs `steps`, which write r.
KernelProgram program_of(std::string_view steps, std::string_view buffers = "r: f64[3*n, m] output 0") {
  return parse(str("program @main(x: f64[n, m] param 0, t: f64[n, m] temporary, u: f64[n * m] view of t, ", buffers,
                   ") symbols n = x.0, m = x.1 {",
                   "kernel @k0 { stage (i < n, j < m) { %0 = load x[i, j] : f64  store t[i, j] set %0 } } ", steps,
                   " sites { #0 internal \"\" } }"));
}

/// The transfers of t.
std::vector<Transfer> transfers_of(const KernelProgram& program) {
  std::vector<Transfer> out = find_transfers(program);
  std::erase_if(out, [&](const Transfer& found) { return program.buffers[found.source].name != "t"; });
  return out;
}
std::vector<Transfer> transfers_of(std::string_view steps) { return transfers_of(program_of(steps)); }

TEST(Transfers, OfRowsToRows) {
  const auto found =
      transfers_of("kernel @k1 { stage (i < n, j < m) { %0 = load t[i, j] : f64  store r[n + i, j] set %0 } }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].offset, n * m);
  EXPECT_THAT(found[0].strides, ElementsAre(m, Dim(1)));
  EXPECT_TRUE(found[0].keeps_order);
  EXPECT_EQ(found[0].step, StepId(1));
  EXPECT_EQ(found[0].origin, 0);
  EXPECT_EQ(found[0].store, 1);
}

TEST(Transfers, OfOtherStridesAndBackwards) {
  const KernelProgram p =
      program_of("kernel @k1 { stage (i < n, j < m) { %0 = load t[i, j] : f64  store r[2*n - 2*i, 3*j] set %0 } }",
                 "r: f64[2*n, 3*m] output 0");
  const auto found = transfers_of(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].offset, Dim(6) * n * m);
  EXPECT_THAT(found[0].strides, ElementsAre(Dim(-6) * m, Dim(3)));
  EXPECT_FALSE(found[0].keeps_order);
}

// The order is that of the elements in memory: in which order a loop passes them does not matter.
TEST(Transfers, OfALoopInAnotherOrder) {
  const auto found =
      transfers_of("kernel @k1 { stage (j < m, i < n) { %0 = load t[i, j] : f64  store r[i, j] set %0 } }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].keeps_order);
  EXPECT_THAT(found[0].strides, ElementsAre(m, Dim(1)));
}

// Two axes that pass one dim, and the source as the loop sees it.
TEST(Transfers, OfAReshape) {
  const auto found =
      transfers_of("kernel @k1 { stage (i < n, j < m) { %0 = load u[m*i + j] : f64  store r[i, j] set %0 } }");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].keeps_order);
  EXPECT_THAT(found[0].strides, ElementsAre(Dim(1)));
}

TEST(Transfers, OfACopyAndOfARegisterThatIsStoredTwice) {
  const KernelProgram p = parse(R"(program @main(x: f64[n] param 0, t: f64[n] temporary, c: f64[n] output 0,
      r: f64[n] output 1) symbols n = x.0 {
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64  %1 = exp %0 : f64  store t[i] set %1  store r[i] set %1 } }
    copy t -> c "" })");
  const auto found = transfers_of(p);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].origin, 2);
  EXPECT_EQ(found[0].store, 3);
  EXPECT_EQ(found[1].step, StepId(1));
  EXPECT_EQ(found[1].store, -1);
  EXPECT_TRUE(found[1].keeps_order);
}

TEST(Transfers, NoneChangesOrLeavesOutOrRepeatsAnElement) {
  const auto in = [](std::string_view body) { return transfers_of(str("kernel @k1 { stage ", body, " }")); };
  EXPECT_THAT(in("(i < n, j < m) { %0 = load t[i, j] : f64  %1 = exp %0 : f64  store r[i, j] set %1 }"), IsEmpty());
  EXPECT_THAT(in("(i < n, j < m) { %0 = load t[i, j] : f64  store r[i, j] add %0 }"), IsEmpty());
  EXPECT_THAT(in("(j < m) { %0 = load t[0, j] : f64  store r[0, j] set %0 }"), IsEmpty());
  EXPECT_THAT(in("(k < 3, i < n, j < m) { %0 = load t[i, j] : f64  store r[n*k + i, j] set %0 }"), IsEmpty());
  EXPECT_THAT(in("(i < n, j < m) { %0 = load x[i, j] : f64  store r[i, j] set %0 }"), IsEmpty());
}

/// Can the step after the transfer touch its region?
std::pair<bool, bool> touched(std::string_view step) {
  const KernelProgram p = program_of(
      str("kernel @k1 { stage (i < n, j < m) { %0 = load t[i, j] : f64  store r[n + i, j] set %0 } } ", step),
      "r: f64[3*n, m] output 0, v: f64[3*n*m] view of r");
  const Transfer transfer = transfers_of(p).at(0);
  EXPECT_FALSE(may_touch(p, StepId(1), transfer, Access::all));
  return {may_touch(p, StepId(2), transfer, Access::writes), may_touch(p, StepId(2), transfer, Access::all)};
}

TEST(Transfers, WhoTouchesTheRegion) {
  const auto by = [](std::string_view body) { return touched(str("kernel @k2 { stage ", body, " }")); };
  const auto neither = std::pair(false, false), both = std::pair(true, true);
  EXPECT_EQ(by("(i < n, j < m) { %0 = load x[i, j] : f64  store r[i, j] set %0  store r[2*n + i, j] set %0 }"),
            neither);
  EXPECT_EQ(by("(i < n, j < m) { %0 = load x[i, j] : f64  store r[2*i, j] set %0 }"), both);
  EXPECT_EQ(by("(i < n, j < m) { %0 = load r[n + i, j] : f64  store r[i, j] set %0 }"), std::pair(false, true));
  EXPECT_EQ(by("(i < n * m) { %0 = literal 0.0 : f64  store v[i] set %0 }"), neither);
  EXPECT_EQ(by("(i < n * m + 1) { %0 = literal 0.0 : f64  store v[i] set %0 }"), both);
  EXPECT_EQ(touched("copy t -> t \"\""), neither);
  EXPECT_EQ(touched("copy r -> r \"\""), both);
}

TEST(Transfers, WritesThatFollowEachOther) {
  const auto follow = [](std::string_view steps) {
    const KernelProgram p = program_of(steps, "r: f64[3*n, m] output 0, v: f64[3*n*m] view of r");
    const auto is_r = [](const Buffer& buffer) { return buffer.name == "r"; };
    std::vector<StepId> all;
    for (StepId step : ids<StepId>(p.steps.size())) all.push_back(step);
    return writes_follow_each_other(p, BufferId(std::ranges::find_if(p.buffers, is_r) - p.buffers.begin()), all);
  };
  const std::string two =
      "kernel @k1 { stage (i < n, j < m) { %0 = load x[i, j] : f64  store r[i, j] set %0  store r[n + i, j] set %0 } "
      "} ";
  const auto third = [](std::string_view to) {
    return str("kernel @k2 { stage (i < n, j < m) { %0 = load x[i, j] : f64  store ", to, " set %0 } }");
  };
  EXPECT_TRUE(follow(two));
  EXPECT_TRUE(follow(two + third("r[2*n + i, j]")));
  EXPECT_FALSE(follow(two + third("r[n + i, j]")));
  EXPECT_FALSE(follow(two + third("v[2*n*m + m*i + j]")));
}

}  // namespace
}  // namespace inlay::kernel
