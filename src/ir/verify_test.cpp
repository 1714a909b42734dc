#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text.h"

namespace inlay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> messages(const Graph& graph) {
  std::vector<std::string> out;
  for (const Diagnostic& d : verify(graph)) out.push_back(d.message);
  return out;
}

Graph sound() {
  return parse(R"(graph @main(%x: f64[n, 3], %y: f64[n], %i: i64[k], %c: bool) {
    %e = exp %x
    %s = slice %x[0:n, 1]
    %g = gather %x[%i, 0:3]
    %u = update add %x[0:n, 1], %y
    %r = reduce add %x [1] : f64
    %t = transpose %x [1, 0]
    %j = concat 0 %r, %y
    %m = matmul %t, %x
    %a = assert %x, %c, "m"
    %h = host_call "f" (%x) : f64[late]
    return %e
  })");
}

/// The sound graph, with one thing broken.
template <class Break>
std::vector<std::string> broken(Break breaks) {
  Graph graph = sound();
  breaks(graph);
  return messages(graph);
}

ValueId value(const Graph& graph, std::string_view name) {
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    if (graph.values[v].name == name) return v;
  }
  return ValueId();
}
Node& node(Graph& graph, std::string_view name) { return graph.nodes[graph.values[value(graph, name)].node]; }
TensorType& type(Graph& graph, std::string_view name) { return graph.values[value(graph, name)].type; }

TEST(VerifyGraph, FindsNothingInASoundOne) { EXPECT_THAT(messages(sound()), IsEmpty()); }

TEST(VerifyGraph, Order) {
  EXPECT_THAT(broken([](Graph& g) { node(g, "e").operands[0] = value(g, "j"); }),
              Contains("%j: is used by exp before it is made"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "e").operands[0] = ValueId(99); }),
              Contains("main: an operand is no value of the graph"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "e").results[0] = value(g, "x"); }), Contains("%x: is made twice"));
  EXPECT_THAT(broken([](Graph& g) { g.outputs[0].value = ValueId(); }),
              ElementsAre("main: an output is no value of the graph"));
  EXPECT_THAT(broken([](Graph& g) { g.values.push_back({}); }), ElementsAre("%14: is made by nothing"));
}

TEST(VerifyGraph, Types) {
  EXPECT_THAT(broken([](Graph& g) { type(g, "e").dtype = DType::f32; }), ElementsAre("%e: its dtype is not f64"));
  EXPECT_THAT(broken([](Graph& g) { type(g, "e").dims[1] = 4; }),
              ElementsAre("%e: operand 0 f64[n, 3] does not stretch to f64[n, 4]"));
  EXPECT_THAT(broken([](Graph& g) { type(g, "r").dims[0] = 4; }),
              Contains("%r: its type is f64[4]; its operands make f64[n]"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "r").fold = Fold::and_; }), ElementsAre("%r: and cannot be f64"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "r").fold = Fold::none; }), ElementsAre("reduce: names no fold"));
  EXPECT_THAT(broken([](Graph& g) { type(g, "m").dims = {3}; }),
              ElementsAre("%m: its type is f64[3]; its operands make f64[3, 3]"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "e").operands.push_back(value(g, "x")); }),
              ElementsAre("%e: exp has 2 operands"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "a").operands[1] = value(g, "y"); }),
              ElementsAre("%a: the condition is no 0-d bool"));
}

TEST(VerifyGraph, IndicesAndAxes) {
  EXPECT_THAT(broken([](Graph& g) { node(g, "s").index[1].position = 3; }),
              ElementsAre("%s: position 3 is not shown to be in axis 1"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "s").index[0].stop = Dim(5); }),
              Contains("%s: range 0:5 is not shown to be in axis 0"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "s").index.pop_back(); }), ElementsAre("%s: 1 index items for rank 2"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "g").operands[1] = value(g, "y"); }),
              ElementsAre("%g: the operands are not the index arrays in order"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "r").axes = {2}; }), ElementsAre("%r: axes [2] of rank 2"));
  EXPECT_THAT(broken([](Graph& g) { node(g, "t").axes = {1, 1}; }), ElementsAre("%t: the axes are no permutation"));
}

TEST(VerifyGraph, ADiagonalHasTwoAxesOfOneSize) {
  Graph graph = parse("graph @main(%x: f64[n, m, n]) {\n%d = diagonal %x [2, 0]\nreturn %d }");
  EXPECT_THAT(messages(graph), IsEmpty());
  node(graph, "d").axes = {0, 1};
  EXPECT_THAT(messages(graph), Contains("%d: the two dims differ"));
  node(graph, "d").axes = {2};
  EXPECT_THAT(messages(graph), ElementsAre("%d: 1 axes, not 2"));
  node(graph, "d").axes = {0, 3};
  EXPECT_THAT(messages(graph), ElementsAre("%d: axes [0, 3] of rank 3"));
}

TEST(VerifyGraph, SizesThatDifferNeedACheck) {
  Graph graph = parse("graph @main(%x: f64[n], %y: f64[m]) {\n%e = add %x, %y\nreturn %e }");
  EXPECT_THAT(messages(graph), IsEmpty());
  graph.checks.clear();
  EXPECT_THAT(messages(graph), ElementsAre(HasSubstr("operand 1 f64[m] does not stretch to f64[n]")));
}

TEST(VerifyGraph, SizesThatEqualAThirdOneAreEqual) {
  const Graph graph = parse(R"(graph @main(%c: bool[k], %x: f64[n], %y: f64[m], %z: f64[l], %w: f64[9]) {
    %j = concat 0 %x, %y, %z
    %s = select %c, %j, %w : f64[9]
    return %s })");
  EXPECT_THAT(messages(graph), IsEmpty());
}

TEST(VerifyGraph, BehindACheckThatNeverHoldsAllSizesAreEqual) {
  EXPECT_THAT(messages(parse("graph @main(%x: f64[n], %u: f64[p]) assume n == p {\n"
                             "%r = update set %x[1:n], %u\nreturn %r }")),
              IsEmpty());
}

TEST(VerifyGraph, SymbolsAreBoundBeforeTheyAreUsed) {
  EXPECT_THAT(broken([](Graph& g) { type(g, "x").dims[0] = type(g, "h").dims[0]; }),
              Contains("%x: symbol late is used before it is bound"));
  EXPECT_THAT(broken([](Graph& g) { g.symbols[SymbolId(0)].axis = 1; }), Contains("%x: axis 1 does not bind symbol n"));
}

}  // namespace
}  // namespace inlay
