#include "rewrite/single_precision.h"

#include <cmath>

#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

using reference::Tensor;

/// What the pass makes of a graph; itself where it changes nothing.
Graph narrow(const Graph& graph, PassContext& context) {
  std::optional<Graph> made = use_single_precision(graph, context);
  return made ? verified(std::move(*made)) : graph;
}

Graph narrow(const std::string& text) {
  PassContext context;
  return narrow(program(text), context);
}

int64_t count_wide(const Graph& graph) {
  return std::ranges::count_if(
      graph.values, [](const ValueInfo& v) { return v.type.dtype == DType::f64 || v.type.dtype == DType::c128; });
}

/// Elements in which f32 computes without cancellation or overflow.
std::vector<Tensor> benign_inputs(const Graph& graph, const std::vector<int64_t>& symbols, std::mt19937& random) {
  std::vector<Tensor> out = random_inputs(graph, symbols, random, /*tame=*/true);
  std::uniform_real_distribution<double> around_one(0.5, 2);
  for (Tensor& tensor : out) {
    if (!is_float(tensor.dtype)) continue;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      Literal::of_float(tensor.dtype, around_one(random)).store(tensor.element(i));
    }
  }
  return out;
}

/// 1e-5: some tens of roundings of f32, at 6e-8 each; sums of the reference go in order.
void expect_close(const Tensor& wanted, const Tensor& found, const std::string& text) {
  ASSERT_EQ(wanted.type_text(), found.type_text());
  for (int64_t i = 0; i < wanted.num_elements(); ++i) {
    const double a = Literal::load(wanted.dtype, wanted.element(i)).f;
    const double b = Literal::load(found.dtype, found.element(i)).f;
    ASSERT_LE(std::fabs(a - b), 1e-5 * std::max(std::fabs(a), std::fabs(b))) << text;
  }
}

TEST(SinglePrecision, LeavesNoF64WhereAllOfItIsRounded) {
  for (const char* body : {
           "%s = sum %x, axes = [0]",
           "%s = mean %x, axes = [0]",
           "%s = var %x, axes = [0]",
           "%s = std %x, axes = [0], ddof = 1",
           "%s = softmax %x, axes = [0]",
           "%s = log_softmax %x, axes = [0]",
           "%s = logsumexp %x, axes = [0]",
           "%w = cast %x : f64\n%c = cumulative add %w [0] : f64\n%s = cast %c : f32",
           "%w = cast %x : f64\n%p = matmul %w, %w\n%s = cast %p : f32",
           "%w = cast %x : f64\n%c = concat 0 %w, %w\n%f = flip %c [0]\n%s = cast %f : f32",
           "%i = iota n : f64\n%w = cast %x : f64\n%p = mul %i, %w\n%s = cast %p : f32",
           "%m = reduce moments %x [0] : f32\n%s = sqrt %m",
       }) {
    SCOPED_TRACE(body);
    const Graph before = program(str("graph @main(%x: f32[n]) {\n", body, "\nreturn %s\n}"));
    PassContext context;
    const Graph after = narrow(before, context);
    EXPECT_EQ(count_wide(after), 0) << print(after);
    EXPECT_EQ(context.counted("single-precision"), 1);
    std::mt19937 random(3);
    for (int64_t n : {2, 3, 50}) {
      const std::vector<Tensor> inputs = benign_inputs(before, {n}, random);
      expect_close(reference::evaluate(before, inputs)[0], reference::evaluate(after, inputs)[0], print(after));
    }
  }
}

TEST(SinglePrecision, IsOfOtherNarrowNumbersToo) {
  for (const char* type : {"f16", "bf16", "i8", "u16", "bool"}) {
    const Graph after = narrow(str("graph @main(%x: ", type, "[n]) {\n%w = cast %x : f64\n",
                                   "%s = reduce add %w [0] : f64\n%r = cast %s : f16\nreturn %r\n}"));
    EXPECT_EQ(count_wide(after), 0) << print(after);
  }
  const Graph complex = narrow(
      "graph @main(%x: c64[n]) {\n%w = cast %x : c128\n%s = reduce add %w [0] : c128\n%a = abs %s\n"
      "%r = cast %a : f32\n%z = cast %s : c64\nreturn %r, %z\n}");
  EXPECT_EQ(count_wide(complex), 0) << print(complex);
}

TEST(SinglePrecision, LeavesWhatTheProgramSaysInF64AndSaysWhy) {
  const std::pair<const char*, const char*> cases[] = {
      // A parameter, a result, and whoever reads the same sum.
      {"%p = mul %w, %y\n%r = cast %p : f32\nreturn %r", "%y is a parameter"},
      {"%p = exp %w\n%r = cast %p : f32\nreturn %r, %p", "%p is a result"},
      {"%s = reduce add %w [0] : f64\n%e = exp %s\n%r = cast %e : f32\nreturn %r, %s", "%s is a result"},
      // Numbers that f32 has not.
      {"%p = div %w, %big\n%r = cast %p : f32\nreturn %r", "%big has a number that f32 has not"},
      {"%v = cast %k : f64\n%p = mul %w, %v\n%r = cast %p : f32\nreturn %r", "%k is of integers that f32 has not"},
      // What a rounding would show in.
      {"%s = reduce add %w [0] : f64\n%i = cast %s : i64\n%r = cast %s : f32\nreturn %r, %i", "%i is no number of f32"},
      {"%s = reduce add %w [0] : f64\n%b = gt %s, %one\n%r = cast %s : f32\nreturn %r, %b", "%b is a result"},
      {"%s = exp %w\n%at = iota n : i64\n%t, %u = reduce argmax %at, %s [0] : i64\n%r = cast %u : f32\nreturn %r, %t",
       "%t is a place"},
      {"%p = nextafter %w, %one\n%r = cast %p : f32\nreturn %r", "%p asks for the neighbour"},
      // Linear algebra, which may lose all digits.
      {"%a = reshape %w : f64[1, n]\n%l = qr_r %a\n%r = cast %l : f32\nreturn %r", "stays in f64"},
  };
  for (const auto& [body, reason] : cases) {
    SCOPED_TRACE(body);
    const Graph before = program(
        str("graph @main(%x: f32[n], %y: f64[n], %k: i64[n]) {\n%big = literal 1e300 : f64\n%one = literal 1 : f64\n"
            "%w = cast %x : f64\n",
            body, "\n}"));
    PassContext context;
    EXPECT_EQ(print(narrow(before, context)), print(before));
    EXPECT_THAT(context.refusals(), testing::ElementsAre(testing::HasSubstr(reason)));
    EXPECT_EQ(context.counted("single-precision"), 0);
  }
}

TEST(SinglePrecision, ComparesInF32WhatChoosesBetweenNumbersThatAreRounded) {
  const std::string start =
      "graph @main(%x: f32[n]) {\n%w = cast %x : f64\n%s = reduce add %w [0] : f64\n"
      "%one = literal 1 : f64\n%b = gt %s, %one\n%f = isfinite %s\n%c = and %b, %f\n";
  EXPECT_EQ(count_wide(narrow(start + "%v = select %c, %s, %one\n%r = cast %v : f32\nreturn %r\n}")), 0);
  EXPECT_EQ(count_wide(narrow(start + "%v = select %c, %x, %x\n%r = cast %s : f32\nreturn %r, %v\n}")), 0);
  // Of numbers: not where something else hangs on it.
  EXPECT_GT(count_wide(narrow(start + "%k = literal 1 : i64\n%j = literal 2 : i64\n%v = select %c, %k, %j\n"
                                      "%r = cast %s : f32\nreturn %r, %v\n}")),
            0);
  // Where both are the f32's numbers, nobody can tell.
  EXPECT_EQ(count_wide(narrow("graph @main(%x: f32[n]) {\n%w = cast %x : f64\n%half = literal 0.5 : f64\n"
                              "%m = reduce max %w [0] : f64\n%b = gt %w, %half\n%c = lt %m, %half\n"
                              "%r = cast %m : f32\nreturn %r, %b, %c\n}")),
            0);
}

TEST(SinglePrecision, KeepsNumbersInF64ForThoseWhoNeedThem) {
  // The casts and the literal are there for both; only the sum that becomes f32 is of f32.
  const Graph after = narrow(
      "graph @main(%x: f32[n], %y: f64[n]) {\n%third = literal 0.3333333333333333 : f64\n%w = cast %x : f64\n"
      "%a = mul %w, %third\n%s = reduce add %a [0] : f64\n%r = cast %s : f32\n%b = mul %y, %third\n%d = add %b, %w\n"
      "return %r, %d\n}");
  EXPECT_EQ(count_wide(after), 5) << print(after);  // y, third, w, b, d
}

/// A graph of elementwise ops, reductions and choices that are continuous, of f64 between casts.
Graph random_region(std::mt19937& random) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  std::vector<ValueId> wide;
  for (const char* name : {"x", "y"}) wide.push_back(b.cast(b.param(name, {DType::f32, {n}}), DType::f64));
  wide.push_back(b.cast(b.size(n), DType::f64));
  wide.push_back(b.literal(0.1));
  const auto any = [&] { return wide[random() % wide.size()]; };
  for (int i = 0; i < 12; ++i) {
    const ValueId u = any(), v = any();
    switch (random() % 8) {
      case 0: wide.push_back(b.scalar(ScalarOp::add_, {u, v})); break;
      case 1: wide.push_back(b.scalar(ScalarOp::div_, {u, b.scalar(ScalarOp::add_, {u, v})})); break;
      case 2: wide.push_back(b.scalar(ScalarOp::sqrt_, {u})); break;
      case 3: wide.push_back(b.scalar(ScalarOp::log1p_, {u})); break;
      case 4: wide.push_back(b.scalar(ScalarOp::select_, {b.scalar(ScalarOp::gt_, {u, v}), u, v})); break;
      case 5: wide.push_back(b.scalar(ScalarOp::tanh_, {u})); break;
      case 6:
        if (b.type(u).rank() == 1) wide.push_back(b.reduce(Fold::add, u, {0}, DType::f64));
        break;
      default: wide.push_back(b.scalar(ScalarOp::max_, {u, v}));
    }
  }
  for (std::size_t i = 4; i < wide.size(); ++i) b.output(b.cast(wide[i], DType::f32));
  return std::move(b).finish();
}

TEST(SinglePrecision, OfRandomRegionsIsCloseToTheirF64) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Graph before = random_region(random);
    PassContext context;
    const Graph after = narrow(before, context);
    ASSERT_EQ(count_wide(after), 0) << print(after);
    const std::vector<Tensor> inputs = benign_inputs(before, {static_cast<int64_t>(1 + random() % 20)}, random);
    const auto wanted = reference::evaluate(before, inputs), found = reference::evaluate(after, inputs);
    for (std::size_t i = 0; i < wanted.size(); ++i) expect_close(wanted[i], found[i], print(after));
  }
}

}  // namespace
}  // namespace inlay::rewrite
