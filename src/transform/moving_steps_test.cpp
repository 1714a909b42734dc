#include "transform/moving_steps.h"

#include <gtest/gtest.h>

namespace inlay::transform {
namespace {

using kernel::BufferId;
using kernel::Copy;
using kernel::KernelProgram;
using kernel::StepId;

/// Copies of the first buffer to each of the others.
KernelProgram copies(std::size_t num) {
  KernelProgram program;
  const BufferId from = program.buffers.push_back({.name = "x"});
  for (std::size_t i = 0; i < num; ++i) {
    program.steps.push_back(Copy{.source = from, .destination = program.buffers.push_back({.name = str("y", i)})});
  }
  return program;
}

std::vector<std::size_t> indices(MovingSteps::Steps steps) {
  std::vector<std::size_t> out;
  for (StepId step : steps) out.push_back(step.index);
  return out;
}

using Indices = std::vector<std::size_t>;

TEST(MovingSteps, AreListedByWhatTheyName) {
  KernelProgram program = copies(4);
  const MovingSteps steps(program);
  EXPECT_EQ(indices(steps.all(StepId(1), StepId(2))), (Indices{1, 2}));
  EXPECT_EQ(indices(steps.naming(BufferId(0))), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(indices(steps.naming(BufferId(0), StepId(1), StepId(3))), (Indices{1, 2, 3}));
  EXPECT_EQ(indices(steps.naming(BufferId(3), StepId(0), StepId(3))), (Indices{2}));
  EXPECT_EQ(indices(steps.naming(BufferId(3), StepId(0), StepId(1))), Indices());
}

TEST(MovingSteps, KeepTheirIdsWhenTheyMove) {
  KernelProgram program = copies(4);
  MovingSteps steps(program);
  steps.move_behind(StepId(2), StepId(0));
  EXPECT_EQ(indices(steps.naming(BufferId(0))), (Indices{1, 2, 0, 3}));
  steps.add_before(StepId(1), Copy{.source = BufferId(1), .destination = BufferId(2)});
  EXPECT_EQ(indices(steps.all(StepId(4), StepId(3))), (Indices{4, 1, 2, 0, 3}));
  EXPECT_EQ(indices(steps.naming(BufferId(1))), (Indices{4, 0}));
  std::get<Copy>(program.steps[0]).destination = BufferId(4);
  steps.changed(StepId(0), {BufferId(1), BufferId(4)});
  EXPECT_EQ(indices(steps.naming(BufferId(1))), (Indices{4}));
  EXPECT_EQ(indices(steps.naming(BufferId(4))), (Indices{0, 3}));
  steps.finish();
  std::vector<uint32_t> destinations;
  for (const kernel::Step& step : program.steps) destinations.push_back(std::get<Copy>(step).destination.index);
  EXPECT_EQ(destinations, (std::vector<uint32_t>{2, 2, 3, 4, 4}));
}

/// More of them than the gap between two labels can be halved.
TEST(MovingSteps, FindRoomForManyInOnePlace) {
  constexpr std::size_t kNum = 200;
  KernelProgram program = copies(kNum);
  MovingSteps steps(program);
  Indices expected = {0};
  for (std::size_t i = kNum - 1; i > 0; --i) expected.push_back(i);
  for (std::size_t i = 1; i < kNum; ++i) steps.move_behind(StepId(0), StepId(i));
  EXPECT_EQ(indices(steps.all(StepId(0), StepId(1))), expected);
  EXPECT_EQ(indices(steps.naming(BufferId(0))), expected);
}

}  // namespace
}  // namespace inlay::transform
