#include "kernel/stopping.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

/// O, R, W: at outer points, in rows, within the last stage.
std::string looks(std::string_view kernel_text) {
  const KernelProgram program = parse(str("program @main(x: f64[n, 9] param 0, r: f64[n, 9] output 0) symbols n = x.0 ",
                                          "{ kernel @k0 { ", kernel_text, " } }"));
  const Kernel& kernel = std::get<Kernel>(program.steps[0]);
  const Stage& stage = kernel.stages.back();
  return str(looks_at_outer_points(kernel) ? "O" : "", looks_in_rows(kernel) ? "R" : "",
             looks_within(kernel, stage, loop_nest(program, kernel, stage)) ? "W" : "");
}

std::string stage(std::string_view extent) {
  return str("stage (i < ", extent, ") { %0 = load x[i, 0] : f64  store r[i, 0] set %0 } ");
}

TEST(Stopping, ShortStagesAreLongTogether) {
  EXPECT_EQ(looks(stage("n")), "RW");
  EXPECT_EQ(looks(stage("20000")), "");
  EXPECT_EQ(looks(stage("20000") + stage("20000")), "RW");
  EXPECT_EQ(looks(stage("20000") + stage("n")), "RW");
  EXPECT_EQ(looks(stage("n") + stage("20000")), "R");
}

TEST(Stopping, AnOuterPointLooksForItsStages) {
  const std::string row = "stage (j < 9) { %0 = load x[i, j] : f64  store r[i, j] set %0 }";
  EXPECT_EQ(looks("outer (i < n) " + row), "OR");
  EXPECT_EQ(looks("outer (i < 99) " + row), "");
}

}  // namespace
}  // namespace inlay::kernel
