#include "rewrite/common_values.h"

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

Graph shared(const Graph& graph, PassContext& context) { return verified(share_common_values(graph, context)); }

TEST(ShareCommonValues, ComputesEqualExpressionsOnce) {
  const Graph before = program(R"(graph @main(%x: f64[n], %i: i64[m]) {
    %a = exp %x
    %b = exp %x
    %c = slice %a[0:n]
    %s = gather %a[%i]
    %t = gather %b[%i]
    %u = mul %s, %t
    %v = mul %t, %s
    %w = sub %u, %v
    return %w
  })");
  PassContext context;
  const Graph after = shared(before, context);
  EXPECT_EQ(count_nodes(after, ScalarOp::exp_), 1);
  EXPECT_EQ(count_nodes(after, Op::gather), 1);
  EXPECT_EQ(count_nodes(after, ScalarOp::mul_), 1);
  EXPECT_EQ(context.counted("common-value"), 3);
}

TEST(ShareCommonValues, ComparesLiteralsBitByBit) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {}});
  ValueId sum = x;
  for (double value : {0.0, -0.0, 0.0, 1.0, 1.0}) sum = b.scalar(ScalarOp::add_, {sum, b.literal(value)});
  sum = b.scalar(ScalarOp::add_, {sum, b.cast(b.literal(Literal::of_float(DType::f32, 1.0)), DType::f64)});
  b.output(sum);
  const Graph before = std::move(b).finish();
  PassContext context;
  const Graph after = shared(before, context);
  EXPECT_EQ(count_nodes(after, Op::literal), 4);  // 0.0, -0.0, 1.0, and 1.0 of f32
  EXPECT_EQ(count_nodes(after, ScalarOp::add_), 6);
  expect_same_results(before, after);
}

TEST(ShareCommonValues, TellsApartWhatOnlyLooksAlike) {
  const Graph before = program(R"(graph @main(%x: f64[4, 4]) {
    %a = slice %x[0:2, 0:4]
    %b = slice %x[2:4, 0:4]
    %c = reduce add %x [0] : f64
    %d = reduce add %x [1] : f64
    %e = reduce max %x [0] : f64
    %f = reshape %x : f64[2, 8]
    %g = reshape %x : f64[8, 2]
    %h = sub %c, %d
    %i = sub %d, %c
    return %a, %b, %e, %f, %g, %h, %i
  })");
  PassContext context;
  EXPECT_EQ(shared(before, context).nodes.size(), before.nodes.size());
  EXPECT_EQ(context.counted("common-value"), 0);
}

TEST(ShareCommonValues, NeverSharesHostCallsAndAsserts) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {}}), ok = b.param("ok", {DType::boolean, {}});
  const ValueId first = b.host_call("draw", 0, {x}, {{DType::f64, {}}})[0];
  const ValueId second = b.host_call("draw", 0, {x}, {{DType::f64, {}}})[0];
  b.output(b.assert_that(first, ok, "no"));
  b.output(b.assert_that(first, ok, "no"));
  b.output(second);
  const Graph before = std::move(b).finish();
  PassContext context;
  const Graph after = shared(before, context);
  EXPECT_EQ(after.nodes.size(), 4u);
}

TEST(ShareCommonValues, PassesANameOnToAValueWithoutOne) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {}});
  const ValueId first = b.scalar(ScalarOp::exp_, {x}), second = b.scalar(ScalarOp::exp_, {x});
  b.name(second, "sigma");
  b.output(b.scalar(ScalarOp::mul_, {first, second}));
  PassContext context;
  const Graph after = shared(std::move(b).finish(), context);
  EXPECT_EQ(after.values[ValueId(1)].name, "sigma");
}

TEST(ShareCommonValues, KeepsOneOfEqualChecks) {
  const Graph before = program(R"(graph @main(%x: f64[n], %y: f64[m]) {
    %a = add %x, %y
    %b = add %x, %y
    %c = mul %a, %b
    return %c
  })");
  PassContext context;
  const Graph after = shared(before, context);
  EXPECT_EQ(count_nodes(after, ScalarOp::add_), 1);
  ASSERT_EQ(after.checks.size(), 1u);
  EXPECT_EQ(after.checks[0].node, NodeId(0));
}

}  // namespace
}  // namespace inlay::rewrite
