#include "ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/compose_fill.h"
#include "ir/nearest.h"
#include "ir/verify.h"
#include "text/lexer.h"

namespace inlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> problems(std::string_view text) {
  std::vector<std::string> out;
  for (const Diagnostic& d : parse_all(text, "t").diagnostics) {
    out.push_back(str(d.location.text, ": ", code_name(d.code), ": ", d.message));
  }
  return out;
}

std::vector<std::string> body_problems(std::string_view statement) {
  return problems(str("graph @main(%x: f64[n, 3], %y: f64[m], %i: i64[k], %c: bool) {\n", statement, "\nreturn %x }"));
}

constexpr std::string_view kEveryOp =
    R"(graph @every(%o: f64[n], %x: f64[m], %g: i64[m] bound {min 0, max 84, sorted}, %t: f64[84], %a: f64[n, 3], %w: f32[3] bound, %q: opaque) assume n == m + 1 {
  %e = exp %x : f64[m]
  %s = add %e, %x : f64[m]
  %p = gt %s, %x : bool[m]
  %sel = select %p, %s, %x : f64[m]
  %c = literal 1.5 : f64
  %d = literal [1, 2, 3] : i64[3]
  %two = literal [1.0, 0.1, -inf, nan] : f32[2, 2]
  %yes = literal true : bool
  %k = cast %x : i64[m]
  %b = broadcast %c : f64[n, 3]
  %h = reshape %x : f64[m, 1]
  %tr = transpose %a [1, 0] : f64[3, n]
  %f = flip %x [0] : f64[m]
  %sq = broadcast %h : f64[m, m]
  %dg = diagonal %sq [0, 1] : f64[m]
  %sl = slice %a[0:n:2, 2] : f64[floordiv(n + 1, 2)]
  %at = gather %t[%g] : f64[m]
  %at2 = gather %a[%d, 0:2] : f64[3, 2]
  %r = update set %o[1:n], %e : f64[n]
  %u = scatter add %t[%g], %x : f64[84]
  %all = reduce add %b [0, 1] : f64
  %rows = reduce max %a [1] : f64[n]
  %j = concat 0 %x, %o : f64[n + m]
  %n = iota n + 2 : i64[n + 2]
  %z = size 2*n + 1 : i64
  %mm = matmul %tr, %a : f64[3, 3]
  %h1, %h2 = host_call "my function" (%x, %q) : f64[late], opaque
  %after = mul %h1, %h1 : f64[late]
  %ok = assert %x, %yes, "must \"hold\"" : f64[m]
  %ok2 = assert %x, %yes, "shapes", shape-mismatch : f64[m]
  %38 "not an identifier" = neg %x : f64[m]
  return %r, loss = %all, "a name" = %38, %after
}
)";

TEST(Text, PrintsWhatItReads) {
  const Graph graph = parse(kEveryOp);
  EXPECT_EQ(print(graph), kEveryOp);
  EXPECT_EQ(print(parse(print(graph))), print(graph));
  EXPECT_THAT(verify(graph), IsEmpty());
}

TEST(Text, KeepsWhatAGatherIsMadeFor) {
  const std::string text = R"(graph @main(%x: f64[n], %i: i64[k]) {
  %a = gather %x[%i] as "take_along_axis" : f64[k]
  return %a
}
)";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, TypesMayBeLeftOutAndAxesMayBeShort) {
  const Graph graph = parse(R"(
    graph @main(%x: f64[n, m], %i: i64[]) {   # a comment
      %a = slice %x[:, 1:]
      %b = slice %x[:n]
      %c = slice %x[::2]
      %d = reduce add %x [0] : f64; %e = gather %x[%i]
      return %a, %b, %c, %d, %e
    })");
  EXPECT_EQ(print(graph, {.types = Show::no}), R"(graph @main(%x: f64[n, m], %i: i64) {
  %a = slice %x[0:n, 1:m]
  %c = slice %x[0:n:2, 0:m]
  %d = reduce add %x [0] : f64[m]
  %e = gather %x[%i, 0:m]
  return %a, %x, %c, %d, %e
}
)");
}

TEST(Text, KeepsTheOrderOfSymbolsWhereItShows) {
  GraphBuilder b;
  const Dim m = b.symbol("m"), n = b.symbol("n");
  b.param("x", {DType::f64, {n}});
  const ValueId y = b.param("y", {DType::f64, {m}});
  b.output(b.broadcast(y, {n + m, m}));
  const std::string text = print(std::move(b).finish());
  EXPECT_THAT(text, HasSubstr("graph @main[m, n](%x: f64[n], %y: f64[m])"));
  EXPECT_THAT(text, HasSubstr("f64[m + n, m]"));
  EXPECT_EQ(print(parse(text)), text);
}

/// "(n0 + 1)*(n1 + 1)*...": of `count` symbols from `first` on.
std::string product_of_sums(int first, int count) {
  std::string out;
  for (int i = first; i < first + count; ++i) out += str(i == first ? "" : "*", "(n", i, " + 1)");
  return out;
}

TEST(Text, ProductsThatAreNotMultipliedOutAreReadAsTheyWere) {
  std::string params;
  for (int i = 0; i < 12; ++i) params += str(i ? ", " : "", "%x", i, ": f64[n", i, "]");
  const std::string late_long = str("(", product_of_sums(6, 6), ")*", product_of_sums(0, 2));  // sorted the other way
  const std::string nested = str("(", product_of_sums(0, 12), " + n3)*(n1 + 1)*n0");
  for (const std::string& size :
       {product_of_sums(0, 12), str(product_of_sums(0, 12), "*n1"), str("-3*n1*(", product_of_sums(0, 12), ")"),
        str(product_of_sums(0, 12), "*2 - ", product_of_sums(0, 12), "*n4"), late_long, nested}) {
    const std::string text = str("graph @main(", params, ") {\n  %a = size ", size, "\n  return %a\n}");
    const std::string printed = print(parse(text));
    EXPECT_EQ(print(parse(printed)), printed);
  }
}

TEST(Text, NumbersValuesThatShareANameAndKeepsTheName) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {}});
  const ValueId y = b.scalar(ScalarOp::exp_, {x});
  b.name(y, "x");
  b.output(y);
  const std::string text = print(std::move(b).finish());
  EXPECT_EQ(text, "graph @main(%0 \"x\": f64) {\n  %1 \"x\" = exp %0 : f64\n  return %1\n}\n");
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, NumbersByTheOrderOfTheText) {
  GraphBuilder b;  // a bound array that arrives late, as the Python doors make them
  const ValueId x = b.param("", {DType::f64, {3}});
  const ValueId e = b.scalar(ScalarOp::exp_, {x});
  const ValueId c = b.bound("", {DType::f64, {3}});
  b.output(b.scalar(ScalarOp::add_, {e, c}));
  const std::string text = print(std::move(b).finish());
  EXPECT_EQ(text, R"(graph @main(%0: f64[3], %1: f64[3] bound) {
  %2 = exp %0 : f64[3]
  %3 = add %2, %1 : f64[3]
  return %3
}
)");
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, RenamesSymbolsThatShareAName) {
  GraphBuilder b;
  b.param("x", {DType::f64, {b.symbol("n"), b.symbol("n"), b.symbol("not a name")}});
  const std::string text = print(std::move(b).finish());
  EXPECT_THAT(text, HasSubstr("f64[n, n_2, s]"));
  EXPECT_EQ(print(parse(text)), text);
}

// A body two levels below has no symbols of a graph that got them later, and a name of its own for what it finds.
TEST(Text, RenamesASizeFoundInABodyThatAGraphAroundItFindsToo) {
  const auto loop = [](GraphBuilder& b, ValueId x, const auto& body_of) {
    GraphBuilder body = b.body();
    body.param("i", {DType::i64, {}});
    body.output(body_of(body, body.param("x", {DType::i64, {}})));
    return b.loop(2, {x}, {}, std::move(body).finish())[0];
  };
  const auto number_of_points = [](GraphBuilder& b, ValueId x) {
    const Dim found = b.symbol("found");
    b.as_size(x, found);
    return b.reduce(Fold::add, b.iota(found, DType::i64), {0}, DType::i64);
  };
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::i64, {}});
  b.output(loop(b, x, [&](GraphBuilder& outer, ValueId y) { return loop(outer, y, number_of_points); }));
  b.output(number_of_points(b, x));
  const std::string text = print(std::move(b).finish());
  EXPECT_THAT(text, HasSubstr("as_size %x : found_2"));
  EXPECT_THAT(text, HasSubstr("as_size %x : found\n"));
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, LeavesOutANameThatTwoResultsHave) {
  GraphBuilder b;
  const ValueId x = b.param("x", {DType::f64, {3}});
  b.output(x, "a");
  b.output(b.scalar(ScalarOp::exp_, {x}), "a");
  b.output(x, "b");
  const std::string text = print(std::move(b).finish());
  EXPECT_THAT(text, HasSubstr("return %x, %1, b = %x\n"));
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, LocationsSurviveWhenAskedFor) {
  const std::string text = "graph @main(%x: f64) {\n  %e = exp %x : f64 at \"model.py:41\"\n  return %e\n}\n";
  EXPECT_EQ(print(parse(text), {.locations = Show::yes}), text);
  EXPECT_EQ(parse("graph @main(%x: f64) {\n  %e = exp %x\n  return %e\n}", "f").nodes[NodeId(0)].location.text,
            "f:2:3");
}

TEST(Text, LiteralsKeepTheirBits) {
  const auto element = [](const std::string& text) {
    const Graph graph = parse("graph @main() {\n%c = literal " + text + "\nreturn %c }");
    return graph.nodes[NodeId(0)].elements[0];
  };
  EXPECT_EQ(element("0.1 : f64").f, 0.1);
  EXPECT_EQ(element("0.1 : f32").f, static_cast<double>(0.1F));
  EXPECT_TRUE(std::signbit(element("-0.0 : f64").f));
  EXPECT_EQ(element("5e-324 : f64").f, 5e-324);
  EXPECT_EQ(element("inf : f64").f, std::numeric_limits<double>::infinity());
  EXPECT_THROW(element("1e999 : f64"), Error);
  EXPECT_EQ(element("18446744073709551615 : u64").i, -1);
  EXPECT_EQ(element("-9223372036854775808 : i64").i, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(element("-128 : i8").i, -128);
  EXPECT_EQ(element("2 : f64").f, 2.0);
  EXPECT_EQ(element("0.1 : f16").f, 0.0999755859375);
  EXPECT_EQ(element("0.1 : bf16").f, 0.10009765625);
  EXPECT_EQ(element("(1.5, -2) : c128"), Literal::of_float(DType::c128, 1.5, -2));
  EXPECT_EQ(element("(0.1, -0.0) : c64"), Literal::of_float(DType::c64, 0.1F, -0.0));
  EXPECT_EQ(element("2 : c64"), Literal::of_float(DType::c64, 2, 0));
}

TEST(Text, PrintsComplexAndHalfLiterals) {
  const std::string text = R"(graph @main() {
  %a = literal (1.5, -inf) : c128
  %b = literal [(0.1, 0.0), (nan, -2.0)] : c64[2]
  %c = literal 0.099975586 : f16
  return %a, %b, %c
}
)";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Builder, PromotesToTheDTypeInWhichAllMeet) {
  GraphBuilder b;
  const ValueId i = b.param("i", {DType::i32, {}}), x = b.param("x", {DType::f32, {}}),
                z = b.param("z", {DType::c64, {}});
  for (ValueId v : promoted(b, {i, x})) EXPECT_EQ(b.type(v).dtype, DType::f64);
  for (ValueId v : promoted(b, {i, x, z})) EXPECT_EQ(b.type(v).dtype, DType::c128);
  EXPECT_EQ(promoted(b, {x, x})[0], x);
}

// Errors: the place, the code, and what would have been right.

TEST(TextErrors, NameThePlaceAndWhatWasFound) {
  EXPECT_THAT(problems(""), ElementsAre("t:1:1: syntax: expected `graph`, found the end of the text"));
  EXPECT_THAT(problems("graph main"),
              ElementsAre("t:1:7: syntax: expected the graph's name, such as `@main`, found `main`"));
  EXPECT_THAT(problems("graph @main(%x f64) {}"), ElementsAre("t:1:16: syntax: expected `:`, found `f64`"));
  EXPECT_THAT(problems("graph @main() {\n}"), ElementsAre("t:2:1: syntax: expected `return`, found `}`"));
  EXPECT_THAT(problems("graph @main() { return } more"),
              ElementsAre("t:1:26: syntax: expected the end of the text, found `more`"));
  EXPECT_THAT(body_problems("%e = exp %x %y"),
              ElementsAre("t:2:13: syntax: expected `,` or the end of the line, found `%y`"));
  EXPECT_THAT(body_problems("exp %x"),
              ElementsAre("t:2:1: syntax: expected a value's name, such as `%x`, found `exp`"));
  EXPECT_THAT(body_problems("%e = literal x : f64"), ElementsAre("t:2:14: syntax: expected a number, found `x`"));
  EXPECT_THAT(body_problems("%e = assert %x, %c, \"open"),
              testing::Contains("t:2:21: syntax: the string does not end on its line"));
  EXPECT_THAT(problems("graph @main(%x: f64[99999999999999999999]) { return }"),
              ElementsAre("t:1:21: syntax: 99999999999999999999 does not fit 64 bits"));
}

TEST(TextErrors, NameTheNearestWord) {
  const auto first = [](std::string_view statement) {
    return parse_all(str("graph @main(%alpha: f64[n]) {\n", statement, "\nreturn }"), "t").diagnostics.at(0);
  };
  EXPECT_EQ(first("%e = exo %alpha").to_text(),
            "error[unknown-op]: there is no op exo\n  at     t:2:6\n  help: did you mean exp?");
  EXPECT_EQ(first("%e = exp %alhpa").help, "did you mean %alpha?");
  EXPECT_EQ(first("%e = cast %alpha : f63").help, "did you mean f64?");
  EXPECT_THAT(first("%e = reduce sum %alpha [0] : f64").to_text(),
              StartsWith("error[unknown-name]: reduce: there is no way to combine sum\n  at     t:2:13\n"
                         "  help: did you mean add? reduce takes add, mul, max, "));
  EXPECT_EQ(first("%e = update sett %alpha[0:1], %alpha").help,
            "did you mean set? update takes set, add, mul, max, min");
  EXPECT_EQ(first("%e = cumulative whatever %alpha [0] : f64").help, "cumulative takes add, mul, max, min");
  EXPECT_EQ(first("%e = cholesky %alpha lower").to_text(),
            "error[unknown-name]: cholesky: has no option lower\n  at     t:2:22\n  help: it has upper, nan");
  EXPECT_EQ(first("%e = cholesky %alpha uper").help, "did you mean upper?");
  EXPECT_EQ(first("%e = sort %alpha right").help, "it has none");
  EXPECT_EQ(first("%e = iota N : i64").help, "did you mean n?");
  EXPECT_EQ(first("%e = something_else %alpha").help, "");
  EXPECT_EQ(first("%e = shift_right %alpha, %alpha").help, "did you mean right_shift?");
}

TEST(TextErrors, SayHowAnExpressionIsWritten) {
  const auto help = [](std::string_view statement) {
    return parse_all(str("graph @main(%x: f64[n], %y: f64[5]) {\n", statement, "\nreturn }"), "t")
        .diagnostics.at(0)
        .help;
  };
  EXPECT_EQ(help("%e = %x + %y"), "the op stands before its operands: `add %x, %y`");
  EXPECT_EQ(help("%e = %x ** %y"), "the op stands before its operands: `pow %x, %y`");
  EXPECT_EQ(help("%e = %x // %y"), "the op stands before its operands: `floor_div %x, %y`");
  EXPECT_EQ(
      help("%e = %x ** 2"),
      "the op stands before its operands: `pow %x, %c`, where a number is a value of its own: `%c = literal 2 : f64`");
  EXPECT_EQ(
      help("%i = cast %x : i32\n%e = %i * 2"),
      "the op stands before its operands: `mul %i, %c`, where a number is a value of its own: `%c = literal 2 : i32`");
  EXPECT_EQ(help("%e = %x ** * %y"), "a line is one op and its operands: `%z = add %x, %y`");
  EXPECT_EQ(help("%e = %x @ %y"), "a matrix product is `matmul %x, %y`");
  EXPECT_EQ(help("%e = add %x %y"), "commas stand between operands: `add %x, %y`");
  EXPECT_EQ(help("%e = sum %x %y"), "commas stand between operands: `add %x, %y`");
  EXPECT_EQ(help("%e = sum(%x)"), "operands stand without parentheses: `sum %x`");
  EXPECT_EQ(help("%i = cast %x : i64\n%e = div %i, %i"), "cast the operands to f64, or take floor_div");
  EXPECT_EQ(help("%b = cast %x : bool\n%e = div %b, %b"), "cast the operands to f64");
  EXPECT_EQ(help("%i = cast %x : i64\n%e = sqrt %i"), "cast the operand to f64");
  EXPECT_EQ(help("%z = cast %x : c128\n%e = erf %z"), "");
  EXPECT_EQ(help("%e = (%x)"), "a line is one op and its operands: `%z = add %x, %y`");
  EXPECT_EQ(help("%e = 2.0"), "a number is `literal 2.0 : f64`");
  EXPECT_EQ(help("%e = %x[1:]"), "a part of %x is `slice %x[...]`");
  EXPECT_EQ(help("%e = exp(%x)"), "operands stand without parentheses: `exp %x`");
  EXPECT_EQ(help("%e = add %x, exp %x"), "each op has a line of its own: `%a = exp ...`, and here `%a`");
  EXPECT_EQ(help("%e = %x <= %y"), "the op stands before its operands: `le %x, %y`");
  EXPECT_EQ(help("%e = %x != %y"), "the op stands before its operands: `ne %x, %y`");
  EXPECT_EQ(help("%e = %x == %y"), "the op stands before its operands: `eq %x, %y`");
  EXPECT_EQ(help("%e = %x >> %y"), "the op stands before its operands: `right_shift %x, %y`");
  EXPECT_EQ(help("%e = -%x"), "the op stands before its operands: `neg %x`");
  EXPECT_EQ(help("%e = ~%x"), "the op stands before its operands: `not %x`");
  EXPECT_EQ(help("%e = add %x, x"), "did you mean %x?");
  EXPECT_EQ(help("%e = add %x, z"), "");
  EXPECT_EQ(help("%e = x + y"), "a line is one op and its operands: `%z = add %x, %y`");
  EXPECT_EQ(help("%e = np.exp(%x)"), "ops are no members of `np`: write `exp`");
  EXPECT_EQ(help("%e = np.linalg.inv(%x)"), "");
  EXPECT_EQ(help("%e = np.linalg.qr(%x)"), "ops are no members of `np.linalg`: write `qr`");
  EXPECT_EQ(help("%e = np.power(%x, %y)"), "ops are no members of `np`: write `pow`");
  EXPECT_EQ(help("%e = np.foo(%x)"), "");
  EXPECT_EQ(help("%e = epx %x"), "did you mean exp?");
  EXPECT_EQ(help("%e = ln %x"), "did you mean log?");
  EXPECT_EQ(help("%e = np.\n%f = exp %x"), "did you mean ne?");
}

TEST(TextErrors, SayWhereAPositionFromTheEndIs) {
  const auto first = [](std::string_view statement) {
    return parse_all(str("graph @main(%x: f64[n], %y: f64[5]) {\n", statement, "\nreturn }"), "t").diagnostics.at(0);
  };
  const std::string says = "a negative number does not count from the end here: write `";
  EXPECT_EQ(first("%e = slice %x[:-1]").to_text(),
            "error[slice-out-of-range]: slice: axis 0 ends at -1, before 0\n  at     t:2:1\n  operand %x  f64[n]\n  "
            "help: " +
                says + "n - 1`");
  EXPECT_EQ(first("%e = slice %x[-2:]").help, says + "n - 2`");
  EXPECT_EQ(first("%e = slice %x[-1]").help, says + "n - 1`");
  EXPECT_EQ(first("%e = slice %x[-1::-1]").help, says + "n - 1`");
  EXPECT_EQ(first("%e = slice %y[1:-1]").help, says + "4`");
  EXPECT_EQ(first("%e = slice %y[1:-7]").help, "");
}

TEST(TextErrors, SayWhichResultsShareAName) {
  const auto problems = parse_all("graph @main(%x: f64[n]) {\nreturn a = %x, b = %x, a = %x }", "t").diagnostics;
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].to_text(), "error[duplicate-name]: two results are named a\n  at     t:2:24");
  EXPECT_THAT(parse_all("graph @main(%x: f64[n]) {\nreturn %x, \"\" = %x }", "t").diagnostics, ElementsAre());
}

TEST(TextErrors, AreCollectedAndFollowUpsAreNot) {
  EXPECT_THAT(
      body_problems("%a = exo %x\n%b = add %a, %x\n%c = exp %b\n%d = add %x, %i\n%e = exp %zz"),
      ElementsAre("t:2:6: unknown-op: there is no op exo", "t:4:1: duplicate-name: %c is defined twice",
                  "t:5:1: wrong-dtype: add: operands of f64 and i64", "t:6:10: unknown-name: there is no value %zz"));
}

TEST(TextErrors, OfTheOps) {
  EXPECT_THAT(body_problems("%e = add %x"), ElementsAre("t:2:1: wrong-arity: add: takes 2 operands, not 1"));
  EXPECT_THAT(body_problems("%e = matmul %x"), ElementsAre("t:2:1: wrong-arity: matmul: takes 2 operands, not 1"));
  EXPECT_THAT(body_problems("%e, %f = exp %x"),
              ElementsAre("t:2:1: wrong-arity: exp: has 1 result, and the line names 2"));
  EXPECT_THAT(body_problems("%e = exp %x : f64[n, 4]"),
              ElementsAre("t:2:15: shape-mismatch: exp: the result is f64[n, 3], not f64[n, 4]"));
  EXPECT_THAT(body_problems("%e = exp %x : f32[n, 3]"),
              ElementsAre("t:2:15: wrong-dtype: exp: the result is f64[n, 3], not f32[n, 3]"));
  EXPECT_THAT(body_problems("%e = reduce add %x [0] : f64[4]"),
              ElementsAre("t:2:26: shape-mismatch: reduce: the result is f64[3], not f64[4]"));
  EXPECT_THAT(body_problems("%e = slice %x[:, :, :]"),
              ElementsAre("t:2:1: wrong-rank: an index for axis 2 of a rank 2 value"));
  EXPECT_THAT(body_problems("%e, %f = reduce argmax %i, %i [0] : f32"),
              ElementsAre("t:2:1: wrong-dtype: reduce argmax place: does not take f32"));
  EXPECT_THAT(body_problems("%e, %f = reduce argmax %x [0] : i64"),
              ElementsAre("t:2:1: wrong-arity: reduce argmax: takes 2 operands, not 1"));
  EXPECT_THAT(body_problems("%e = reduce moments %x [0] : f64"),
              ElementsAre("t:2:1: unsupported: reduce moments: is folded over all axes"));
  EXPECT_THAT(body_problems("%e = reduce add %x [2] : f64"),
              ElementsAre("t:2:1: axis-out-of-range: reduce: axis 2 of a rank 2 value"));
  EXPECT_THAT(body_problems("%e = literal 300 : u8"), ElementsAre("t:2:14: wrong-dtype: literal: 300 is no u8"));
  EXPECT_THAT(body_problems("%e = literal 1.5 : i64"), ElementsAre("t:2:14: wrong-dtype: literal: 1.5 is no i64"));
  EXPECT_THAT(body_problems("%e = broadcast %y : f32[2, m]"),
              ElementsAre("t:2:21: wrong-dtype: broadcast: from f64 to f32"));
  EXPECT_THAT(body_problems("%e = reshape %y : f64[q]"), ElementsAre("t:2:23: unknown-name: there is no symbol q"));
  EXPECT_THAT(body_problems("%e = assert %x, %c, \"m\", nonsense-code"),
              ElementsAre("t:2:26: unknown-name: there is no error nonsense-code"));
  EXPECT_THAT(problems("graph @main(%x: f64[2*n]) { return }"),
              ElementsAre("t:1:23: unknown-name: nothing says how large n is"));
}

TEST(TextErrors, OfSizesThatAreTooLargeOrTooDeep) {
  EXPECT_THAT(
      body_problems("%e = iota n * 4000000000 * 4000000000 : i64"),
      ElementsAre(testing::HasSubstr("size-overflow: a size does not fit in 64 bits: 4000000000 * 4000000000")));
  EXPECT_THAT(body_problems("%e = iota n + 9223372036854775807 + 1 : i64"),
              ElementsAre(testing::HasSubstr("size-overflow: ")));
  const auto nested = [](int depth) { return std::string(depth, '(') + "n" + std::string(depth, ')') + " : i64"; };
  const auto refused = testing::HasSubstr("unsupported: a size is nested more than 100 deep");
  EXPECT_THAT(body_problems("%e = iota " + nested(100)), testing::IsEmpty());
  EXPECT_THAT(body_problems("%e = iota " + nested(101) + "\n%f = iota " + nested(3)), ElementsAre(refused));
  EXPECT_THAT(body_problems("%e = iota " + nested(100000)), ElementsAre(refused));
}

TEST(TextErrors, OfBodiesThatAreTooDeep) {
  const auto nested = [](int depth) {
    std::string text = "graph @main(%p: bool, %x: f64) {\n";
    for (int i = 0; i < depth; ++i) text += "%r = cond %p with (%p = %p, %x = %x) {\n";
    text += "return %x\n";
    for (int i = 0; i < depth; ++i) text += "} else {\nreturn %x\n}\nreturn %r\n";
    return text + "}\n";
  };
  EXPECT_THAT(problems(nested(100)), testing::IsEmpty());
  EXPECT_THAT(problems(nested(101)), ElementsAre("t:102:38: unsupported: a body is nested more than 100 deep"));
  EXPECT_THAT(problems(nested(10000)),
              testing::Contains(testing::HasSubstr("unsupported: a body is nested more than 100 deep")));
}

TEST(TextErrors, ParseThrowsTheFirst) { EXPECT_THROW(parse("graph"), Error); }

TEST(Text, ReadsSizesAsNumbers) {
  constexpr std::string_view kText = R"(graph @main(%p: bool, %x: f64[n], %y: f64[m]) assume n == m + 1 {
  %r = cond %p with (%a = %x, %b = %y) {
    %t = slice %a[1:n]
    return %t
  } else {
    %e = slice %b[0:m]
    return %e
  }
  return %r, %y
})";
  const Graph graph = parse(kText, "t", {{"n", 4}, {"m", 3}});
  EXPECT_TRUE(verify(graph).empty());
  EXPECT_EQ(graph.symbols.size(), 0u);
  EXPECT_EQ(graph.type_text(graph.type(graph.outputs[0].value)), "f64[3]");
  EXPECT_EQ(parse(kText, "t", {{"m", 3}}).symbols.size(), 1u);
  EXPECT_THROW(parse(kText, "t", {{"n", 4}, {"m", 5}}), Error);
  EXPECT_THROW(parse("graph @main(%x: i64) {\n %k = as_size %x : k\n return %k }", "t", {{"k", 3}}), Error);
}

TEST(Nearest, GivesNothingThatIsFar) {
  const std::vector<std::string> words = {"exp", "log", "sigmoid"};
  EXPECT_EQ(text::nearest("sigmod", words), "sigmoid");
  EXPECT_EQ(text::nearest("xyz", words), std::nullopt);
}

TEST(Lexer, ReadsNumbersAndStrings) {
  const text::Tokens tokens = text::lex("1 1.5 .5 1e-3 1.e4 2e \"a\\\"b\\n\" a==b", "t");
  std::vector<std::string> texts;
  for (const text::Token& token : tokens.tokens) texts.push_back(token.text);
  EXPECT_THAT(texts, ElementsAre("1", "1.5", ".5", "1e-3", "1.e4", "2", "e", "a\"b\n", "a", "==", "b", ""));
}

}  // namespace
}  // namespace inlay
