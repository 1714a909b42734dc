#include "ir/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace inlay {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kRegions = R"(graph @main(%p: bool, %x: f64[n], %w: f64[k, n]) {
  %start = cond %p with (%x = %x) at "model.py:3" {
    %e = exp %x : f64[n]
    return %e
  } else {
    return %x
  }
  %last, %5 "a name", %norms = loop %i < k carry (%c = %start, %2 "two words" = %p) with (%w = %w) {
    %row = gather %w[%i, 0:n] : f64[n]
    %next = mul %c, %row : f64[n]
    %norm = reduce add %next [0] : f64
    %inner = cond %2 with (%n = %norm) {
      return %n
    } else {
      return %n
    }
    return %next, %2 trace %inner while %2
  }
  loop %i < 3 {
    return
  }
  return %last, %norms
}
)";

TEST(RegionText, PrintsAsItWasRead) {
  const ParseResult read = parse_all(kRegions, "t");
  ASSERT_THAT(read.diagnostics, IsEmpty());
  EXPECT_EQ(print(*read.graph, {.locations = Show::no}),
            print(parse(print(*read.graph, {.locations = Show::no})), {.locations = Show::no}));
  std::string shown(kRegions);
  shown.erase(shown.find(" at \"model.py:3\""), 16);
  EXPECT_EQ(print(*read.graph, {.locations = Show::no}), shown);
  EXPECT_EQ(read.graph->nodes[NodeId(0)].location.text, "model.py:3");
}

TEST(RegionText, IsVerified) { EXPECT_THAT(verify(parse(kRegions)), IsEmpty()); }

TEST(RegionVerify, SaysWhatDoesNotPassTheBorder) {
  Graph graph = parse(kRegions);
  Node& cond = graph.nodes[NodeId(0)];
  cond.operands[1] = graph.params[2].value;
  const std::vector<Diagnostic> found = verify(graph);
  ASSERT_THAT(found, testing::Not(IsEmpty()));
  EXPECT_EQ(found[0].message, "%w: comes into a body as %x  f64[n]");
}

TEST(Region, SymbolsOfABodyAreThoseOfItsSizes) {
  const Graph graph = parse(kRegions);
  EXPECT_THAT(symbols_in(*graph.nodes[NodeId(1)].region.bodies[0]), SizeIs(2));
  EXPECT_THAT(symbols_in(*graph.nodes[NodeId(2)].region.bodies[0]), SizeIs(0));
}

TEST(RegionBuilder, ABodyIsClosed) {
  GraphBuilder b;
  const ValueId p = b.param("p", {DType::boolean, {}});
  Graph no_body = parse("graph @main() { return }");
  EXPECT_THROW(b.cond(p, {}, no_body, no_body), Error);
}

}  // namespace
}  // namespace inlay
