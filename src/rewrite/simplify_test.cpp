#include "rewrite/simplify.h"

#include "rewrite/dead_values.h"
#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

/// What is left of the program, dead values dropped; it must compute the same bits.
Graph simplified(std::string_view text, const std::vector<int64_t>& symbols = {6, 5, 4},
                 PassContext context = PassContext()) {
  const Graph before = program(text);
  const Graph after = verified(drop_dead_values(verified(simplify(before, context)), context));
  expect_same_results(before, after, symbols);
  return after;
}

TEST(Simplify, MakesOneTransposeOfTwo) {
  const Graph once = simplified(R"(graph @main(%x: f64[2, 3, 4]) {
    %a = transpose %x [1, 2, 0]
    %b = transpose %a [1, 0, 2]
    return %b
  })");
  EXPECT_EQ(count_nodes(once, Op::transpose), 1);
  const Graph none = simplified(R"(graph @main(%x: f64[2, 3, 4]) {
    %a = transpose %x [1, 2, 0]
    %b = transpose %a [2, 0, 1]
    return %b
  })");
  EXPECT_EQ(none.nodes.size(), 0u);
}

TEST(Simplify, MakesOneSliceOfTwo) {
  const Graph after = simplified(R"(graph @main(%x: f64[30, 20, 3]) {
    %a = slice %x[2:29:3, 4:20, 1]
    %b = slice %a[1:9:2, 3]
    %c = slice %a[9:9, 0:16:4]
    return %b, %c
  })");
  EXPECT_EQ(after.nodes.size(), 2u);
}

TEST(Simplify, MakesOneSliceOfTwoForAllSizes) {
  const Graph after = simplified(R"(graph @main(%x: f64[n + 3], %y: f64[n]) {
    %a = slice %x[1:n + 2]
    %b = slice %a[1:n + 1]
    return %b
  })");
  EXPECT_EQ(count_nodes(after, Op::slice), 1);
}

TEST(Simplify, SlicesBesideAnyNumberOfUpdates) {
  // What a loop unrolled in Python makes: a vector written element by element, each of which reads another.
  std::string text = "graph @main(%x: f64[100]) {\n  %u0 = exp %x\n";
  for (int i = 0; i < 99; ++i) {
    const std::string before = "%u" + std::to_string(i);
    text += "  %v" + std::to_string(i) + " = slice " + before + "[99]\n  %u" + std::to_string(i + 1) +
            " = update set " + before + "[" + std::to_string(i) + "], %v" + std::to_string(i) + "\n";
  }
  const Graph after = simplified(text + "  %last = slice %u99[99]\n  return %u99, %last\n}");
  ValueId written{};
  for (const Node& node : after.nodes) {
    if (node.op == Op::scalar) written = node.results[0];
    if (node.op == Op::slice) {
      EXPECT_TRUE(node.operands[0] == written);
    }
  }
}

TEST(Simplify, EveryRangeOfARange) {
  // All of x[a:b:s][c:d:t] over a short axis.
  for (int64_t a : {0, 1, 3}) {
    for (int64_t s : {1, 2, 3}) {
      for (int64_t b = a; b <= 7; ++b) {
        const int64_t inner = (b - a + s - 1) / s;
        for (int64_t c = 0; c <= inner; ++c) {
          for (int64_t d = c; d <= inner; ++d) {
            for (int64_t t : {1, 2}) {
              GraphBuilder builder;
              const ValueId x = builder.param("x", {DType::f64, {7}});
              const ValueId first = builder.slice(x, {IndexItem::range(a, b, s)});
              builder.output(builder.slice(first, {IndexItem::range(c, d, t)}));
              const Graph before = std::move(builder).finish();
              PassContext context;
              const Graph after = verified(drop_dead_values(simplify(before, context), context));
              EXPECT_LE(after.nodes.size(), 1u);
              expect_same_results(before, after);
            }
          }
        }
      }
    }
  }
}

TEST(Simplify, LeavesWhatCarriesACheck) {
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %a = slice %x[1:4]
    %b = slice %a[1:2]
    return %b
  })");
  PassContext context;
  const Graph after = drop_dead_values(simplify(before, context), context);
  EXPECT_EQ(count_nodes(after, Op::slice), 2);
  EXPECT_EQ(after.checks.size(), before.checks.size());
}

TEST(Simplify, MakesOneReshapeOrBroadcastOfTwo) {
  const Graph after = simplified(R"(graph @main(%x: f64[n], %y: f64[1]) {
    %a = reshape %x : f64[n, 1]
    %b = reshape %a : f64[1, n, 1]
    %c = broadcast %y : f64[n]
    %d = broadcast %c : f64[3, n]
    %e = flip %x [0]
    %f = flip %e [0]
    return %b, %d, %f
  })");
  EXPECT_EQ(count_nodes(after, Op::reshape), 1);
  EXPECT_EQ(count_nodes(after, Op::broadcast), 1);
  EXPECT_EQ(after.nodes.size(), 2u);
}

TEST(Simplify, FoldsWhatIsKnown) {
  const Graph after = simplified(R"(graph @main(%x: f64[n]) {
    %a = literal 2.0 : f64
    %b = literal [3.0] : f64[1]
    %c = mul %a, %b
    %d = broadcast %c : f64[n]
    %e = literal 7 : i64
    %f = cast %e : f64
    %g = add %d, %f
    %h = mul %g, %x
    return %h
  })");
  EXPECT_EQ(count_nodes(after, Op::scalar), 1);
  EXPECT_EQ(count_nodes(after, Op::cast), 0);
}

TEST(Simplify, LeavesErrorsToTheRun) {
  const Graph before = program(R"(graph @main(%x: f64) {
    %a = literal 2 : i64
    %b = literal -1 : i64
    %c = pow %a, %b
    %d = literal nan : f64
    %e = cast %d : i64
    return %c, %e
  })");
  PassContext context;
  EXPECT_EQ(simplify(before, context).nodes.size(), before.nodes.size());
}

TEST(Simplify, ChoosesTheBranchThatIsKnown) {
  const Graph after = simplified(R"(graph @main(%x: f64[n], %y: f64) {
    %p = literal false : bool
    %a = exp %x
    %b = select %p, %a, %y
    return %b
  })");
  EXPECT_EQ(count_nodes(after, ScalarOp::exp_), 0);
  EXPECT_EQ(count_nodes(after, ScalarOp::select_), 0);
  EXPECT_EQ(after.type_text(after.type(after.outputs[0].value)), "f64[n]");
}

TEST(Simplify, SeesThroughViews) {
  PassContext context;
  const Graph before = program(R"(graph @main(%x: f64) {
    %a = exp %x
    %b = reshape %a : f64[1]
    %c = log %b
    return %c
  })");
  const Graph after = verified(drop_dead_values(simplify(before, context), context));
  ASSERT_EQ(after.nodes.size(), 1u);
  EXPECT_EQ(count_nodes(after, Op::reshape), 1);
}

TEST(Simplify, RulesFeedEachOther) {
  PassContext context;
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %one = literal 1.0 : f64
    %a = neg %x
    %b = exp %a
    %c = add %one, %b
    %d = div %one, %c
    %e = sub %one, %d
    %f = log %e
    return %f
  })");
  // log(1 - 1 / (1 + exp(-x))) = -softplus(x)
  const Graph after = verified(drop_dead_values(simplify(before, context), context));
  EXPECT_EQ(after.nodes.size(), 2u);
  EXPECT_EQ(count_nodes(after, ScalarOp::softplus_), 1);
  EXPECT_EQ(count_nodes(after, ScalarOp::neg_), 1);
}

TEST(Simplify, KeepsOneMinusASigmoidThatIsReadBesides) {
  // Its derivative, s * (1 - s), must go with the 1 - s of the value: a clip hides that one from the rule.
  const char* text = R"(graph @main(%x: f64[n, 1]) {
    %one = literal 1.0 : f64
    %s = sigmoid %x
    %v = reshape %s : f64[n]
    %c = sub %one, %v
    return %c SECOND
  })";
  const auto with = [&](std::string_view second) {
    std::string all = text;
    all.replace(all.find(" SECOND"), 7, second);
    PassContext context;
    return verified(simplify(program(all), context));
  };
  EXPECT_EQ(count_nodes(with(""), ScalarOp::sub_), 0);
  EXPECT_EQ(count_nodes(with(", %s"), ScalarOp::sub_), 1);
  EXPECT_EQ(count_nodes(with(", %v"), ScalarOp::sub_), 1);
}

TEST(Simplify, CastsOnceWhereTheFirstLosesNothing) {
  const Graph after = simplified(R"(graph @main(%p: bool[n], %x: f32[n], %k: i64[n]) {
    %a = cast %p : i8
    %b = cast %a : f64
    %c = cast %x : f64
    %d = cast %c : f32
    %e = cast %k : f64
    %f = cast %e : i64
    return %b, %d, %f
  })");
  EXPECT_EQ(count_nodes(after, Op::cast), 3);  // bool -> f64, i64 -> f64 -> i64
}

TEST(Simplify, DropsAnAssertThatHolds) {
  const Graph after = simplified(R"(graph @main(%x: f64[n]) {
    %p = literal true : bool
    %a = assert %x, %p, "holds"
    %b = neg %a
    return %b
  })");
  EXPECT_EQ(after.nodes.size(), 1u);
}

TEST(Simplify, StopsWhenTheBudgetIsSpent) {
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %a = neg %x
    %b = neg %a
    %c = neg %b
    %d = neg %c
    return %d
  })");
  PassContext one(PassOptions{.max_rewrites = 1});
  EXPECT_EQ(drop_dead_values(simplify(before, one), one).nodes.size(), 2u);
  PassContext none(PassOptions{.max_rewrites = 0});
  EXPECT_EQ(drop_dead_values(simplify(before, none), none).nodes.size(), 4u);
}

TEST(Simplify, KeepsTheNameOfWhatItReplaces) {
  const Graph before = program(R"(graph @main(%x: f64[n]) {
    %one = literal 1.0 : f64
    %a = add %x, %one
    %result = log %a
    return %result
  })");
  PassContext context;
  const Graph after = drop_dead_values(simplify(before, context), context);
  EXPECT_EQ(after.value_text(after.outputs[0].value), "%result");
}

}  // namespace
}  // namespace inlay::rewrite
