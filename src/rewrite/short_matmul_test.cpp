#include "rewrite/short_matmul.h"

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

/// The matmul of parameters of these types, before and after.
std::pair<Graph, Graph> expanded(const std::string& a, const std::string& b, PassContext& context) {
  const Graph before = program(str("graph @main(%a: ", a, ", %b: ", b, ") {\n  %c = matmul %a, %b\n  return %c\n}"));
  return {before, verified(expand_short_matmul(before, context))};
}

TEST(ExpandShortMatmul, AgreesInEveryRank) {
  const std::vector<std::pair<std::string, std::string>> shapes = {
      {"f64[n]", "f64[n]"},       {"f64[n, 3]", "f64[3]"},   {"f64[3]", "f64[3, n]"}, {"f64[n, 3]", "f64[3, m]"},
      {"f64[2, n]", "f64[n, 5]"}, {"f64[2, n]", "f64[n]"},   {"f64[n]", "f64[n, 2]"}, {"f64[n, 1]", "f64[1, m]"},
      {"f32[n, 1]", "f32[1]"},    {"f64[n, 0]", "f64[0, m]"}};
  for (const auto& [a, b] : shapes) {
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3}, {0, 2}, {1, 1}, {17, 0}}) {
      SCOPED_TRACE(a + " x " + b);
      PassContext context;
      const auto [before, after] = expanded(a, b, context);
      EXPECT_EQ(count_nodes(after, Op::library), 0);
      EXPECT_EQ(context.counted("short-matmul"), 1);
      std::mt19937 random(3);
      const auto inputs = random_inputs(before, sizes, random, /*tame=*/true);
      EXPECT_TRUE(same_bits(reference::evaluate(before, inputs)[0], reference::evaluate(after, inputs)[0]));
    }
  }
}

TEST(ExpandShortMatmul, LeavesLongOnesAndSaysWhy) {
  for (const auto& [a, b] :
       {std::pair("f64[n, m]", "f64[m, k]"), {"f64[n, 17]", "f64[17, 2]"}, {"f64[5, m]", "f64[m, 4]"}}) {
    PassContext context;
    EXPECT_EQ(count_nodes(expanded(a, b, context).second, Op::library), 1);
    EXPECT_THAT(context.refusals(), testing::ElementsAre(testing::HasSubstr("%c stays a matmul")));
  }
}

TEST(ExpandShortMatmul, TheLimitIsTheBackends) {
  PassContext none(PassOptions{.max_short_side = 2});
  EXPECT_EQ(count_nodes(expanded("f64[n, 3]", "f64[3]", none).second, Op::library), 1);
}

TEST(ExpandShortMatmul, KeepsTheCheckInTheUsersWords) {
  PassContext context;
  const Graph after = expanded("f64[n, 1]", "f64[k]", context).second;
  ASSERT_EQ(after.checks.size(), 1u);
  EXPECT_EQ(after.checks[0].message, "matmul: the summed dim is {0} on the left and {1} on the right");
  EXPECT_EQ(after.checks[0].node, NodeId(0));
  std::mt19937 random(1);
  // mul alone would stretch the 1.
  EXPECT_NO_THROW(reference::evaluate(after, random_inputs(after, {4, 1}, random)));
  EXPECT_THROW(reference::evaluate(after, random_inputs(after, {4, 2}, random)), Error);
}

}  // namespace
}  // namespace inlay::rewrite
