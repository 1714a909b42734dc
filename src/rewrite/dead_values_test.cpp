#include "rewrite/dead_values.h"

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

TEST(DropDeadValues, LeavesOutWhatNoOutputNeeds) {
  const Graph before = program(R"(graph @main(%x: f64[n], %y: f64[n]) {
    %a = exp %x
    %b = log %a
    %c = neg %y
    return %a
  })");
  PassContext context;
  const Graph after = verified(drop_dead_values(before, context));
  EXPECT_EQ(after.nodes.size(), 1u);
  EXPECT_EQ(after.params.size(), 2u);
  EXPECT_EQ(context.counted("dropped"), 2);
  EXPECT_EQ(after.value_text(after.outputs[0].value), "%a");
  expect_same_results(before, after, {5});
}

TEST(DropDeadValues, KeepsAssertsAndWhatTheyNeed) {
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %s = reduce add %x [0] : f64
    %z = literal 0.0 : f64
    %ok = ge %s, %z
    %checked = assert %x, %ok, "negative"
    return %x
  })");
  PassContext context;
  EXPECT_EQ(verified(drop_dead_values(before, context)).nodes.size(), before.nodes.size());
}

TEST(DropDeadValues, DropsTheSizesOfAHostCallThatNothingNeeds) {
  GraphBuilder b;
  const Dim k = b.symbol("k"), n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}});
  b.host_call("nonzero", 0, {x}, {{DType::i64, {k}}});
  b.output(b.scalar(ScalarOp::neg_, {x}));
  const Graph before = std::move(b).finish();
  PassContext context;
  const Graph after = verified(drop_dead_values(before, context));
  EXPECT_EQ(count_nodes(after, Op::host_call), 0);
  ASSERT_EQ(after.symbols.size(), 1u);
  EXPECT_EQ(after.symbols[SymbolId(0)].name, "n");
  EXPECT_EQ(after.type_text(after.type(after.outputs[0].value)), "f64[n]");
}

TEST(DropDeadValues, KeepsAHostCallWhoseSizeIsNeeded) {
  GraphBuilder b;
  const Dim k = b.symbol("k"), n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}});
  b.host_call("nonzero", 0, {x}, {{DType::i64, {k}}});
  b.output(b.size(k));
  const Graph before = std::move(b).finish();
  PassContext context;
  const Graph after = verified(drop_dead_values(before, context));
  EXPECT_EQ(count_nodes(after, Op::host_call), 1);
  EXPECT_EQ(after.symbols.size(), 2u);
}

TEST(DropDeadValues, KeepsTheChecksOfWhatStays) {
  const Graph before = program(R"(graph @main(%x: f64[n], %y: f64[m], %z: f64[k]) assume n == 2*k {
    %dead = add %x, %z
    %a = add %x, %y
    return %a
  })");
  PassContext context;
  const Graph after = verified(drop_dead_values(before, context));
  ASSERT_EQ(before.checks.size(), 3u);
  ASSERT_EQ(after.checks.size(), 2u);
  EXPECT_FALSE(after.checks[0].node.valid());
  EXPECT_EQ(after.checks[1].node, NodeId(0));
  EXPECT_EQ(after.checks[1].message, before.checks[2].message);
  EXPECT_EQ(after.assumptions, before.assumptions);
}

TEST(DropDeadValues, KeepsNamesLocationsAndFacts) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId g = b.bound("g", {DType::i64, {n}}, {.has_range = true, .min = 0, .max = 84, .sorted = true});
  b.at({"model.py:7"});
  const ValueId x = b.scalar(ScalarOp::neg_, {g});
  b.name(x, "minus");
  b.output(x, "result");
  const Graph before = std::move(b).finish();
  PassContext context;
  const Graph after = drop_dead_values(before, context);
  EXPECT_TRUE(after.params[0].bound);
  EXPECT_EQ(after.params[0].facts, before.params[0].facts);
  EXPECT_EQ(after.nodes[NodeId(0)].location.text, "model.py:7");
  EXPECT_EQ(after.values[ValueId(1)].name, "minus");
  EXPECT_EQ(after.outputs[0].name, "result");
  EXPECT_EQ(print(after), print(before));
}

}  // namespace
}  // namespace inlay::rewrite
