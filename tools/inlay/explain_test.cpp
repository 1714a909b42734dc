#include "explain.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ir/text.h"

namespace inlay::tool {
namespace {

TEST(Explain, JsonSaysWhatTheTextSays) {
  const Lowered program = lower(parse(R"(graph @main(%x: f64[n]) {
    %e = exp %x
    %s = reduce add %e [0] : f64
    return %e, %s
  })"));
  const nlohmann::json explained = nlohmann::json::parse(explain_json(program));
  ASSERT_EQ(explained["kernels"].size(), 1u);
  EXPECT_EQ(explained["kernels"][0]["reads"], "n");
  EXPECT_EQ(explained["kernels"][0]["reductions"], 1);
  EXPECT_EQ(explained["copies"].size(), 0u);
  EXPECT_EQ(explained["arena_bytes"], 0);
  EXPECT_TRUE(explained["seconds"].contains("memory"));
}

TEST(Explain, CountsTheRewritesByTheirRules) {
  Options options;
  options.rewrite.max_rewrites = 2;
  const Lowered program = lower(parse(R"(graph @main(%x: f64[n]) {
    %e = exp %x
    %f = exp %x
    %a = neg %e
    %b = neg %a
    %c = neg %b
    %d = neg %c
    return %d, %f
  })"),
                                options);
  const std::string text = explain(program);
  EXPECT_NE(text.find("# the rewrites\n        1  common-value (common-values)\n        1  neg-neg (simplify)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("the last one: neg-neg\n"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(explain_json(program))["rewrites"]["neg-neg"], 1);
}

}  // namespace
}  // namespace inlay::tool
