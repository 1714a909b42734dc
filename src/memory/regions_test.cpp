// Memory around and in the bodies of loops and conds: what lives through all passes, and what a loop carries.
#include "memory/liveness.h"
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Planned;

std::string unary(std::string_view name, std::string_view from, std::string_view op, std::string_view to) {
  return str("kernel @", name, " { stage (i < n) { %0 = load ", from, "[i] : f64  %1 = ", op, " %0 : f64  store ", to,
             "[i] set %1 } }\n");
}

std::string program(std::string_view buffers, std::string_view steps) {
  return str("program @main(x: f64[n] param 0, y: f64[n] output 0, i: i64 scalar, ", buffers, ") symbols n = x.0 {\n",
             steps, "}");
}

TEST(Regions, WhatALoopReadsOutlivesAllOfItsPasses) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary", unary("k0", "x", "exp", "a") + "loop i < 3 {\n" +
                                                                          unary("k1", "a", "neg", "b") +
                                                                          unary("k2", "b", "exp", "y") + "}\n"));
  EXPECT_FALSE(p.share("a", "b"));  // the next pass reads a again
  EXPECT_FALSE(p.share("b", "y"));  // y is what the caller gets: b would write over it in the next pass
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, WithinAPassBytesAreSharedAsEverywhere) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary", "loop i < 3 {\n" + unary("k0", "x", "exp", "a") +
                                                                          unary("k1", "a", "neg", "b") +
                                                                          unary("k2", "b", "exp", "y") + "}\n"));
  EXPECT_EQ(p.where("b"), "in place of a");
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, TheNextValueIsMadeInTheCarriedOnesPlace) {
  const Planned p(program("c: f64[n] temporary, next: f64[n] temporary",
                          unary("k0", "x", "exp", "c") + "loop i < 3 {\n" + unary("k1", "c", "sin", "next") +
                              "copy next -> c \"carried\"\n}\n" + unary("k2", "c", "neg", "y")));
  EXPECT_EQ(p.where("next"), "in place of c");
  EXPECT_THAT(p.copies(), IsEmpty());
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, ACarriedValueThatIsReadAgainIsNotWrittenOver) {
  const Planned p(program("c: f64[n] temporary, next: f64[n] temporary",
                          unary("k0", "x", "exp", "c") + "loop i < 3 {\n" + unary("k1", "c", "sin", "next") +
                              unary("k2", "c", "neg", "y") + "copy next -> c \"carried\"\n}\n"));
  EXPECT_FALSE(p.share("next", "c"));
  EXPECT_THAT(p.copies(), ElementsAre("next -> c: carried, which is read by @k2"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, ACarriedValueThatIsReadBackwardsIsNotWrittenOver) {
  const Planned p(program("c: f64[n] temporary, next: f64[n] temporary", unary("k0", "x", "exp", "c") +
                                                                             R"(loop i < 3 {
    kernel @k1 { stage (i_2 < n) { %0 = load c[n - 1 - i_2] : f64  store next[i_2] set %0 } }
    copy next -> c "carried"
  }
  )" + unary("k2", "c", "neg", "y")));
  EXPECT_FALSE(p.share("next", "c"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, AnUpdateOfACarriedValueTouchesItsRegionOnly) {
  const Planned p(program("c: f64[n] temporary, next: f64[n] temporary", unary("k0", "x", "exp", "c") + R"(loop i < n {
    kernel @k1 {
      out next start copy c
      stage () {
        %0 = load i[] : i64
        %1 = literal 1.0 : f64
        store next[wrap(%0, n) proved] set %1
      }
    }
    copy next -> c "carried"
  }
  )" + unary("k2", "c", "neg", "y")));
  EXPECT_EQ(p.where("next"), "in place of c");
  EXPECT_THAT(p.copies(), IsEmpty());
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Regions, BranchesUseTheSameBytes) {
  const Planned p(program("a: f64[4, n] temporary, b: f64[4, n] temporary, p: bool param 1",
                          R"(cond p {
    kernel @k0 { out a start fill 1.0 }
    kernel @k1 { stage (i_2 < n) { %0 = load a[1, i_2] : f64  store y[i_2] set %0 } }
  } else {
    kernel @k2 { out b start fill 2.0 }
    kernel @k3 { stage (i_2 < n) { %0 = load b[2, i_2] : f64  store y[i_2] set %0 } }
  }
  )"));
  EXPECT_THAT(p.problems(), IsEmpty());
  const std::vector<int64_t> sizes = {10};
  EXPECT_EQ(plan(Planner::greedy, storages_of_segment(p.plan.sharing, 0, sizes)).arena_bytes, 320);
}

TEST(Regions, TheReplayFindsWhatTheNextPassReads) {
  Planned p(program("a: f64[n] temporary, b: f64[n] temporary", unary("k0", "x", "exp", "a") + "loop i < 3 {\n" +
                                                                    unary("k1", "a", "neg", "b") +
                                                                    unary("k2", "b", "exp", "y") + "}\n"));
  p.plan.sharing.placements[p.buffer("b")].storage = p.at("a").storage;
  EXPECT_THAT(p.problems(), Not(IsEmpty()));
}

TEST(Regions, WhatPassesTheBorderOfALoopLivesThroughIt) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary", unary("k0", "x", "exp", "a") + "loop i < 3 {\n" +
                                                                          unary("k1", "a", "neg", "b") +
                                                                          unary("k2", "b", "exp", "y") + "}\n"));
  const Liveness lives = liveness(p.program);
  EXPECT_EQ(lives.lives[p.buffer("a")], (Lifetime{1, 10}));
  EXPECT_EQ(lives.lives[p.buffer("b")], (Lifetime{5, 8}));
  EXPECT_EQ(lives.lives[p.buffer("y")], (Lifetime{2, 11}));
}

}  // namespace
}  // namespace inlay::memory
