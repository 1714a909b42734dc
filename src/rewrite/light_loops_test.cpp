#include "rewrite/light_loops.h"

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

const Graph& body_of(const Graph& graph) {
  const auto loop = std::ranges::find(graph.nodes, Op::loop, &Node::op);
  return *loop->region.bodies[0];
}

Graph lightened(const Graph& before, PassContext& context) {
  Graph after = verified(lighten_loops(before, context));
  expect_same_results(before, after, {4});
  return after;
}

TEST(LightenLoops, MovesWhatCannotFailBeforeTheLoop) {
  const Graph before = program(R"(graph @main(%x: f64[n], %a: f64) {
    %zero = literal 0.0 : f64
    %r = loop %i < n carry (%c = %zero) with (%x = %x, %a = %a) {
      %e = exp %a
      %s = sin %e
      %v = gather %x[%i]
      %p = mul %s, %v
      %next = add %c, %p
      return %next
    }
    return %r
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("loop-invariant"), 1);  // with what it is made of
  EXPECT_EQ(count_nodes(after, ScalarOp::exp_), 1);
  EXPECT_EQ(body_of(after).nodes.size(), 3u);
  EXPECT_EQ(body_of(after).params.size(), 4u);  // %a is not read inside any more
}

TEST(LightenLoops, LeavesWhatMayFailOrGrowsWhereItIs) {
  const Graph before = program(R"(graph @main(%x: f64[n], %g: i64, %u: f64[n, 1]) {
    %zero = literal 0.0 : f64
    %start = broadcast %zero : f64[n, n]
    %r, %s = loop %i < 0 carry (%c = %zero, %d = %start) with (%x = %x, %g = %g, %u = %u) {
      %v = gather %x[%g]
      %w = mul %v, %v
      %next = add %c, %w
      %outer = mul %x, %u
      %sum = add %d, %outer
      return %next, %sum
    }
    return %r, %s
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("loop-invariant"), 0);
  EXPECT_EQ(body_of(after).nodes.size(), 5u);
}

TEST(LightenLoops, DropsWhatNobodyReadsThroughLoops) {
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %zero = literal 0.0 : f64
    %r, %rows = loop %i < n carry (%c = %zero) with (%x = %x) {
      %v = gather %x[%i]
      %next = add %c, %v
      return %next trace %next
    }
    %s, %t = loop %i < 3 carry (%c = %r, %d = %rows) {
      %next = neg %c
      %other = sin %d
      return %next, %other
    }
    return %s
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("unread-loop-result"), 2);
  for (const Node& node : after.nodes) EXPECT_LE(node.results.size(), 1u);
}

TEST(LightenLoops, KeepsAStateThatAnotherOneReads) {
  const Graph before = program(R"(graph @main(%x: f64, %steps: f64[n]) {
    %r, %s = loop %i < n carry (%c = %x, %d = %x) {
      %next = add %c, %d
      %other = neg %d
      return %next, %other
    }
    return %r
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("unread-loop-result"), 0);
  EXPECT_EQ(body_of(after).outputs.size(), 2u);
}

TEST(LightenLoops, AStateThatNoStepChangesIsOfTheOutside) {
  const Graph before = program(R"(graph @main(%x: f64, %steps: f64[n]) {
    %r, %s = loop %i < n carry (%c = %x, %d = %x) {
      %e = exp %d
      %next = add %c, %e
      return %next, %d
    }
    return %r, %s
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("unchanged-in-loop"), 1);
  EXPECT_EQ(body_of(after).nodes.size(), 1u);
  EXPECT_EQ(after.outputs[1].value, after.params[0].value);
}

TEST(LightenLoops, BringsViewsOfWhatIsInMemoryIn) {
  const Graph before = program(R"(graph @main(%x: f64[n + 1], %y: f64[n]) {
    %now = slice %x[1:n + 1]
    %back = flip %now [0]
    %before = slice %x[0:n]
    %all = exp %x
    %computed = slice %all[0:n]
    %sums = cumulative add %x [0] : f64
    %running = slice %sums[0:n]
    %zero = literal 0.0 : f64
    %r = loop %i < n carry (%c = %zero) with (%back = %back, %before = %before, %computed = %computed, %so_far = %running) {
      %u = gather %back[%i]
      %v = gather %before[%i]
      %w = gather %computed[%i]
      %t = gather %so_far[%i]
      %p = mul %u, %v
      %q = add %p, %w
      %o = add %q, %t
      %next = add %c, %o
      return %next
    }
    return %r
  })");
  PassContext context;
  const Graph after = lightened(before, context);
  EXPECT_EQ(context.counted("view-into-loop"), 3);
  EXPECT_EQ(body_of(after).params.size(), 5u);  // the step, the state, %x once, %computed, %sums
  EXPECT_EQ(count_nodes(body_of(after), Op::slice), 3);
  EXPECT_EQ(count_nodes(body_of(after), Op::flip), 1);
}

TEST(LightenLoops, DoesNothingWhereItsRulesAreOff) {
  const Graph before = program(R"(graph @main(%x: f64, %steps: f64[n]) {
    %r, %s, %t = loop %i < n carry (%c = %x, %d = %x) {
      %e = exp %d
      %next = add %c, %e
      return %next, %d trace %e
    }
    return %r
  })");
  PassContext context(PassOptions{.max_rewrites = 0});
  const Graph after = lightened(before, context);
  EXPECT_EQ(print(after), print(before));
}

}  // namespace
}  // namespace inlay::rewrite
