#include "rewrite/running_prefix.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "rewrite/common_values.h"

namespace inlay::rewrite {
namespace {

TEST(RunningPrefix, TheChecksOfASliceGoWithIt) {
  const Graph graph = parse(R"(graph @main(%x: f64[2, m]) {
  %sums = cumulative min %x [0] : f64[2, m]
  %part = slice %sums[0:1, 1:m - 1] : f64[1, m - 2]
  return %part
})");
  ASSERT_EQ(graph.checks.size(), 1U);
  EXPECT_EQ(graph.checks[0].node, NodeId(1));
  PassContext context;
  const std::optional<Graph> shorter = shorten_running_folds(graph, context);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->nodes[NodeId(0)].op, Op::slice);
  EXPECT_EQ(shorter->checks[0].node, NodeId(0));
  // One row runs over nothing, so the fold goes.
  EXPECT_EQ(print(share_common_values(*shorter, context)), R"(graph @main(%x: f64[2, m]) {
  %sums = slice %x[0:1, 1:m - 1] : f64[1, m - 2]
  return %sums
}
)");
}

}  // namespace
}  // namespace inlay::rewrite
