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

}  // namespace
}  // namespace inlay::runtime
