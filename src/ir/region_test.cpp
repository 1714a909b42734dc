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
  EXPECT_THAT(given_symbols_in(*graph.nodes[NodeId(1)].region.bodies[0]), SizeIs(2));
  EXPECT_THAT(given_symbols_in(*graph.nodes[NodeId(2)].region.bodies[0]), SizeIs(0));
}

/// The body of its loop.
const Graph& body_of(const Graph& graph) {
  const auto is_loop = [](const Node& node) { return node.op == Op::loop; };
  return *std::ranges::find_if(graph.nodes, is_loop)->region.bodies[0];
}

TEST(Region, ABodyMayFindSizesWhichNothingOutsideHas) {
  const Graph graph = parse(R"(graph @main(%x: f64[n], %count: i64) {
  %sums = loop %i < n with (%x = %x) {
    %m = as_size %i : m
    %points = iota m + n : f64
    %s = reduce add %points [0] : f64
    %inner = loop %j < m with (%x = %x) {
      %k = as_size %j : k
      %y = slice %x[0:min(n, k)]
      %first = reduce add %y [0] : f64
      return trace %first
    }
    %t = reduce add %inner [0] : f64
    %r = add %s, %t
    return trace %r
  }
  %late = as_size %count : m
  %more = iota m : f64
  return %sums, %more
}
)");
  EXPECT_THAT(verify(graph), IsEmpty());
  const Graph& body = body_of(graph);
  EXPECT_EQ(body.num_given, 1u);  // m of the graph comes later
  EXPECT_THAT(body.symbols, SizeIs(2));
  EXPECT_EQ(body_of(body).num_given, 2u);
  EXPECT_THAT(given_symbols_in(body), SizeIs(1));
  EXPECT_THAT(given_symbols_in(body_of(body)), SizeIs(2));
  const std::string text = print(graph);
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Region, ABodyThatComesIntoAnotherGraphKeepsWhatItFinds) {
  const Graph graph = parse(R"(graph @main(%x: f64[n]) {
  %sums = loop %i < n with (%x = %x) {
    %m = as_size %i : m
    %points = iota m + n : f64
    %s = reduce add %points [0] : f64
    return trace %s
  }
  return %sums
}
)");
  GraphBuilder b;
  const Dim first = b.symbol("first"), n = b.symbol("n");
  b.param("x", {DType::f64, {first, n}});
  const Graph around = std::move(b).finish();
  IdMap<SymbolId, Dim> replacement;
  replacement.push_back(n);
  const Graph moved = with_symbols(body_of(graph), around, replacement);
  EXPECT_EQ(moved.num_given, 2u);
  ASSERT_THAT(moved.symbols, SizeIs(3));
  EXPECT_EQ(moved.symbols[SymbolId(2)].name, "m");
  EXPECT_EQ(moved.type(moved.nodes[NodeId(1)].results[0]).dims[0], n + Dim::symbol(SymbolId(2)));
  EXPECT_EQ(moved.nodes[NodeId(0)].size, Dim::symbol(SymbolId(2)));
}

TEST(RegionVerify, WhatABodyFindsStaysInIt) {
  Graph graph = parse(R"(graph @main(%x: f64[n]) {
  %sums = loop %i < n with (%x = %x) {
    %m = as_size %i : m
    %points = iota m : f64
    return trace %x
  }
  return %sums
}
)");
  auto body = std::make_shared<Graph>(body_of(graph));
  body->outputs[0].value = body->nodes[NodeId(1)].results[0];
  graph.nodes[NodeId(0)].region.bodies[0] = body;
  const std::vector<Diagnostic> found = verify(graph);
  ASSERT_THAT(found, testing::Not(IsEmpty()));
  EXPECT_EQ(found[0].message, "body: %points  f64[m]    <text>:4:5 has a size that the body finds");
}

TEST(RegionBuilder, WhatABodyFindsNeitherComesInNorGoesOut) {
  GraphBuilder b;
  const ValueId p = b.param("p", {DType::boolean, {}});
  GraphBuilder body = b.body();
  const Dim m = body.symbol("m");
  EXPECT_THROW(body.param("x", {DType::f64, {m}}), Error);
  body.as_size(body.literal(Literal::of_integer(DType::i64, 3)), m);
  body.output(body.iota(m, DType::f64));
  const Graph branch = std::move(body).finish();
  try {
    b.cond(p, {}, branch, branch);
    FAIL() << "a result of a size that only the body has";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.diagnostic().message, "cond: output 0 is f64[m], and m is found in the body");
  }
  EXPECT_THROW(b.iota(m, DType::f64), Error);
}

TEST(RegionBuilder, ABodyIsClosed) {
  GraphBuilder b;
  const ValueId p = b.param("p", {DType::boolean, {}});
  Graph no_body = parse("graph @main() { return }");
  EXPECT_THROW(b.cond(p, {}, no_body, no_body), Error);
}

}  // namespace
}  // namespace inlay
