#include "compiler/origins.h"

#include <gmock/gmock.h>

#include "ir/text.h"

namespace inlay {
namespace {

using ::testing::ElementsAre;

TEST(Origins, AreTheNodesBetweenWhatIsReadAndWhatIsWritten) {
  const Lowered program = lower(parse(R"(graph @main(%x: f64[64, 64]) {
  %e = exp %x
  %t = tanh %e
  %p = matmul %t, %x
  %q = sqrt %p
  %r = neg %q
  return %r
})",
                                      "m.inlay"));
  const Origins origins(program);
  ASSERT_EQ(program.kernels.steps.size(), 3u);
  EXPECT_THAT(origins.of(kernel::StepId(0)), ElementsAre("m.inlay:3:3", "m.inlay:2:3"));
  EXPECT_THAT(origins.of(kernel::StepId(1)), ElementsAre("m.inlay:4:3"));
  EXPECT_THAT(origins.of(kernel::StepId(2)), ElementsAre("m.inlay:6:3", "m.inlay:5:3"));
}

TEST(Origins, LinesOfOneFileStandTogether) {
  EXPECT_EQ(source_lines({"Exp #1, b.py:12", "Exp #2", "Mul #3 x, a.py:7", "Mul #4, b.py:3", "Add #5, b.py:12"}),
            "a.py:7; b.py:3, 12");
  EXPECT_EQ(source_lines({"m.inlay:3:9", "<text>:4:1"}), "<text>:4; m.inlay:3");
  EXPECT_EQ(source_lines({"Exp #1 alpha, my script, v2.py:7", "Mul #2, a:b.py:3"}), "a:b.py:3; my script, v2.py:7");
  EXPECT_EQ(source_lines({"a dir, old/c d.inlay:8:2", "b, c.cpp:5"}), "a dir, old/c d.inlay:8; b, c.cpp:5");
  EXPECT_EQ(source_lines({"Exp #1", "", ":", "a.py:", "a.py:-3", "Exp #1, :3", "a.py:99999999999999999999"}), "");
  EXPECT_EQ(source_lines({std::string(100'000, 'a') + ":3:9"}), std::string(100'000, 'a') + ":3");
}

}  // namespace
}  // namespace inlay
