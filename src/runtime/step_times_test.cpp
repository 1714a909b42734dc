#include "runtime/step_times.h"

#include <gtest/gtest.h>

namespace inlay::runtime {
namespace {

TEST(StepTimes, CountsThePassesOfTheCallThatTheClockStandsAround) {
  StepTimes outer(3), inner(1);
  inlay_step_begins(0);  // no clock
  {
    const StepClock clock(outer);
    inlay_step_begins(0);
    {
      const StepClock nested(inner);
      inlay_step_begins(0);
    }
    inlay_step_begins(1);
    inlay_step_begins(1);
    inlay_step_begins(3);  // all are done
    EXPECT_EQ(outer.rows()[0].passes, 0);
  }
  EXPECT_EQ(outer.rows()[0].passes, 1);
  EXPECT_EQ(outer.rows()[1].passes, 2);
  EXPECT_EQ(outer.rows()[2].passes, 0);
  EXPECT_EQ(inner.rows()[0].passes, 1);
  EXPECT_GT(outer.rows()[0].seconds, inner.rows()[0].seconds);
}

TEST(StepTimes, KeepsTheLeastOfTheCallsThatRanAStep) {
  StepTimes times(2);
  times.add({{.seconds = 0.5, .passes = 2}, {}});
  times.add({{.seconds = 0.25, .passes = 1}, {.seconds = 3, .passes = 1}});
  times.add({{}, {}});
  EXPECT_EQ(times.rows()[0].seconds, 0.75);
  EXPECT_EQ(times.rows()[0].least_seconds, 0.25);
  EXPECT_EQ(times.rows()[0].passes, 3);
  EXPECT_EQ(times.rows()[1].least_seconds, 3);
}

TEST(StepTimes, CountsTheThreadsThatAStepIsGiven) {
  StepTimes times(2);
  {
    StepClock clock(times);
    EXPECT_EQ(StepClock::of_this_thread(), &clock);
    clock.add_blocks(9, 1, 1);  // of no step
    inlay_step_begins(0);
    clock.add_blocks(3, 2.5, 1);  // two threads, and a half, at the time of the one that counts already
    clock.add_blocks(2, 1.5, 1);
    inlay_step_begins(1);
  }
  EXPECT_EQ(StepClock::of_this_thread(), nullptr);
  times.add({{.seconds = 0.5, .passes = 1, .threads = 2, .busy_seconds = 1}, {}});
  const std::vector<StepTimes::Row> rows = times.rows();
  EXPECT_EQ(rows[0].threads, 3);
  EXPECT_NEAR(rows[0].busy_seconds - rows[0].seconds, 1.5 + 0.5 + 0.5, 1e-9);
  EXPECT_EQ(rows[1].threads, 1);
  EXPECT_EQ(rows[1].busy_seconds, rows[1].seconds);
}

TEST(StepTimes, BeginsAnew) {
  StepTimes times(1);
  times.add({{.seconds = 0.25, .passes = 1}});
  times.set_sizes(std::vector<int64_t>{3});
  times.clear();
  EXPECT_TRUE(times.sizes().empty());
  times.add({{.seconds = 0.5, .passes = 2}});
  EXPECT_EQ(times.rows()[0].seconds, 0.5);
  EXPECT_EQ(times.rows()[0].least_seconds, 0.5);
  EXPECT_EQ(times.rows()[0].passes, 2);
}

TEST(StepTimes, KnowsTheSizesOfTheLastCall) {
  StepTimes times(0);
  EXPECT_TRUE(times.sizes().empty());
  times.set_sizes(std::vector<int64_t>{3, -1});
  times.set_sizes(std::vector<int64_t>{4, 5});
  EXPECT_EQ(times.sizes(), (std::vector<int64_t>{4, 5}));
}

}  // namespace
}  // namespace inlay::runtime
