#include "ir/builder.h"

#include <functional>

#include <gtest/gtest.h>

#include "ir/checks.h"
#include "ir/compose_fill.h"
#include "ir/linalg.h"
#include "ir/verify.h"
#include "support/error.h"

namespace inlay {
namespace {

/// The first words of the error: unknown-name, or what else it is.
std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code() == ErrorCode::unknown_name ? error.diagnostic().message : error.what();
  }
  return "accepted";
}

/// Two builders with the same numbers of everything, so that no number is out of range in the other.
struct Two {
  GraphBuilder one, other;
  Dim n = one.symbol("n"), m = other.symbol("m");
  ValueId x = one.param("x", {DType::f64, {n}}), p = other.param("p", {DType::f64, {m}});
  ValueId i = one.param("i", {DType::i64, {}}), k = other.param("k", {DType::i64, {}});
  ValueId yes = one.param("yes", {DType::boolean, {}}), no = other.param("no", {DType::boolean, {}});
};

constexpr const char* kForeignValue = "a value that is not of this builder";

TEST(GraphBuilder, AValueOfAnotherIsRefusedByEveryOp) {
  Two t;
  GraphBuilder& b = t.one;
  const ValueId x = t.x, p = t.p;
  const std::vector<IndexItem> whole = {IndexItem::range(0, t.n)};
  const std::function<void()> calls[] = {
      [&] { b.scalar(ScalarOp::exp_, {p}); },
      [&] { b.scalar(ScalarOp::add_, {x, p}); },
      [&] { b.cast(p, DType::f32); },
      [&] { promoted(b, {x, p}); },
      [&] { b.broadcast(p, {t.n}); },
      [&] { b.reshape(p, {t.n}); },
      [&] { b.transpose(p, {0}); },
      [&] { b.flip(p, {0}); },
      [&] { b.diagonal(p, 0, 0); },
      [&] { b.slice(p, whole); },
      [&] { b.gather(p, {IndexItem::through(t.i)}); },
      [&] { b.gather(x, {IndexItem::through(t.k)}); },
      [&] { b.update(Combine::set, p, whole, x); },
      [&] { b.update(Combine::set, x, whole, p); },
      [&] { b.scatter(Combine::add, x, {IndexItem::through(t.k)}, x); },
      [&] { b.reduce(Fold::add, p, {0}, DType::f64); },
      [&] { b.cumulative(Combine::add, p, 0, DType::f64); },
      [&] { b.concat({x, p}, 0); },
      [&] { b.as_size(t.k, b.symbol("s")); },
      [&] { b.compress(t.no, {x}, b.symbol("s")); },
      [&] { b.library(LibraryOp::matmul, {x, p}); },
      [&] { linalg::matmul(b, p, x); },
      [&] { b.host_call("f", 0, {p}, {{DType::f64, {}}}); },
      [&] { b.assert_that(p, t.yes, "no"); },
      [&] { b.assert_that(x, t.no, "no"); },
      [&] { b.assert_that(x, t.yes, "no", ErrorCode::index_out_of_bounds, {t.k}); },
      [&] { b.require(DimCheck::Relation::equal, t.n, 3, ErrorCode::shape_mismatch, "n is not 3", p); },
      [&] { b.name(p, "q"); },
      [&] { b.output(p, "p"); },
      [&] { (void)b.type(p); },
  };
  for (const auto& call : calls) EXPECT_EQ(refusal(call), kForeignValue) << "call " << &call - calls;
  EXPECT_EQ(refusal([&] { b.output(ValueId(), "none"); }), kForeignValue);
  EXPECT_EQ(refusal([&] { b.output(x, "x"); }), "accepted");
}

TEST(GraphBuilder, ASizeOfAnotherIsRefusedByEveryOp) {
  Two t;
  GraphBuilder& b = t.one;
  const ValueId x = t.x;
  const Dim m = t.m, typed = t.other.type(t.p).dims[0];
  const auto at = [](const Dim& dim) { return std::vector<IndexItem>{IndexItem::at(dim)}; };
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"parameter y", [&] { b.param("y", {DType::f64, {m}}); }},
      {"parameter y", [&] { b.param("y", {DType::f64, {typed}}); }},
      {"parameter y", [&] { b.bound("y", {DType::f64, {m + 1}}); }},
      {"parameter y", [&] { b.donated("y", {DType::f64, {2 * m}}); }},
      {"assume", [&] { b.assume_equal(t.n, m); }},
      {"literal", [&] { b.literal({Literal::of_float(DType::f64, 1)}, {m}); }},
      {"broadcast", [&] { b.broadcast(x, {m}); }},
      {"reshape", [&] { b.reshape(x, {m}); }},
      {"slice", [&] { b.slice(x, at(m)); }},
      {"slice", [&] { b.slice(x, {IndexItem::range(0, m)}); }},
      {"slice", [&] { b.slice(x, {IndexItem::range(m, 0, -1)}); }},
      {"gather", [&] { b.gather(x, at(m)); }},
      {"update", [&] { b.update(Combine::set, x, at(m), x); }},
      {"scatter", [&] { b.scatter(Combine::set, x, at(m), x); }},
      {"iota", [&] { b.iota(m, DType::i64); }},
      {"size", [&] { b.size(min(m, 3)); }},
      {"as_size", [&] { b.as_size(t.i, m); }},
      {"compress", [&] { b.compress(t.yes, {}, m); }},
      {"host_call f", [&] { b.host_call("f", 0, {}, {{DType::f64, {m}}}); }},
      {"step", [&] { b.body().step("i", m); }},
      {"loop", [&] { b.loop(m, {}, {}, t.one.body().finish()); }},
  };
  for (const auto& [op, call] : calls) {
    EXPECT_EQ(refusal(call), str(op, ": a size that is not of this builder"));
  }
  const char* mixed = "sizes of two builders stand in one expression";
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { (void)(t.n + m); }, [&] { (void)(t.n - m); }, [&] { (void)(t.n * m); }, [&] { (void)min(t.n, m); },
           [&] { (void)max(t.n, m); }, [&] { (void)floor_div(t.n, m); }, [&] { (void)floor_div(t.n * 2 + 1, m); }}) {
    EXPECT_EQ(refusal(call), mixed);
  }
  EXPECT_EQ(refusal([&] { b.iota(m - m + t.n, DType::i64); }), "accepted") << "a constant is of no builder";
}

TEST(GraphBuilder, ABodyHasTheSizesAroundItAndValuesOfItsOwn) {
  Two t;
  GraphBuilder body = t.one.body();
  const ValueId step = body.step("i", t.n);
  EXPECT_EQ(refusal([&] { body.scalar(ScalarOp::exp_, {t.x}); }), kForeignValue);
  const ValueId inside = body.param("c", {DType::f64, {t.n}});
  EXPECT_EQ(refusal([&] { t.one.scalar(ScalarOp::exp_, {inside}); }), kForeignValue);
  EXPECT_EQ(refusal([&] { t.one.scalar(ScalarOp::neg_, {step}); }), kForeignValue);
  body.output(body.scalar(ScalarOp::exp_, {inside}), "next");
  const Graph finished = std::move(body).finish();
  EXPECT_EQ(refusal([&] { t.one.loop(t.n, {t.p}, {}, finished); }), kForeignValue);
  EXPECT_EQ(refusal([&] { t.other.loop(t.m, {t.p}, {}, finished); }), "loop: @body is a body of another builder");
  EXPECT_EQ(refusal([&] { t.other.cond(t.no, {t.k, t.p}, finished, finished); }),
            "cond: @body is a body of another builder");
  EXPECT_EQ(refusal([&] { t.one.cond(t.no, {t.i, t.x}, finished, finished); }), kForeignValue);
  EXPECT_EQ(refusal([&] { t.one.cond(t.yes, {t.i, t.p}, finished, finished); }), kForeignValue);
  EXPECT_EQ(refusal([&] { t.one.loop(t.n, {t.x}, {}, finished); }), "accepted");
}

TEST(GraphBuilder, WhatItGaveOutEndsWithIt) {
  GraphBuilder b;
  const ValueId old = b.param("x", {DType::f64, {3}});
  b.output(old, "y");
  const Graph graph = std::move(b).finish();
  b.param("p", {DType::f64, {3}});  // NOLINT(bugprone-use-after-move): a builder that has finished begins anew
  EXPECT_EQ(refusal([&] { b.output(old, "y"); }), kForeignValue);
  // Those of the graph itself are indices.
  EXPECT_EQ(graph.outputs[0].value.builder, 0u);
  EXPECT_EQ(graph.params[0].value.builder, 0u);
}

TEST(GraphBuilder, ACheckThatNoNodeFollowsStandsAlone) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}});
  b.require(DimCheck::Relation::at_most, 1, n, ErrorCode::shape_mismatch, "{1} is less than {0}", x);
  b.output(x, "y");
  const Graph graph = std::move(b).finish();
  ASSERT_EQ(graph.checks.size(), 1u);
  EXPECT_FALSE(graph.checks[0].node.valid());
  EXPECT_TRUE(verify(graph).empty());
}

TEST(GraphBuilder, ACheckOfALateSizeThatNoNodeFollowsStandsAlone) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {3}}), count = b.param("count", {DType::i64, {}});
  const Dim k = b.symbol("k");
  b.output(b.as_size(count, k), "size");
  b.require(DimCheck::Relation::at_most, 2, k, ErrorCode::shape_mismatch, "{1} is less than {0}", x);
  b.output(x, "y");
  const Graph graph = std::move(b).finish();
  ASSERT_EQ(graph.checks.back().message, "{1} is less than {0}");
  EXPECT_FALSE(graph.checks.back().node.valid());
  EXPECT_EQ(binder_of(graph, graph.checks.back()), graph.values[graph.outputs[0].value].node);
  EXPECT_TRUE(verify(graph).empty());
}

}  // namespace
}  // namespace inlay
