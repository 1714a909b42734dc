// Every rule that needs code, alone, on a program that it rewrites, in every dtype that the program takes, against the
// reference. The list is walked: a rule without a program fails.
#include "rewrite/node_rules.h"

#include "rewrite/dead_values.h"
#include "rewrite/simplify.h"
#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

struct Example {
  const char* rule;
  const char* text;         // T stands for a dtype
  const char* dtypes = "";  // empty: all
};

constexpr const char* kAll = "f64 f32 i64 i8 u8 bool";
constexpr const char* kNumbers = "f64 f32 i64 i8 u8";
constexpr const char* kFloats = "f64 f32";

constexpr Example kExamples[] = {
    {"fold", "graph @main() { %a = literal 2 : T; %b = broadcast %a : T[3]; %c = mul %a, %b; return %c }", kNumbers},
    {"fold-elements",
     "graph @main() { %a = literal [2, 3] : T[2]; %b = literal [5, 7] : T[2, 1]; %c = mul %a, %b; return %c }",
     kNumbers},
    {"cast-of-literal", "graph @main() { %a = literal [2, 3] : T[2]; %c = cast %a : i16; return %c }", kNumbers},
    {"cast-of-literal",
     "graph @main(%x: T[n]) { %a = literal true : bool; %b = broadcast %a : bool[n]; "
     "%c = cast %b : T; return %c }",
     kNumbers},
    {"reshape-of-literal", "graph @main() { %a = literal [2, 3] : T[2]; %c = reshape %a : T[2, 1]; return %c }",
     kNumbers},
    {"reshape-of-splat",
     "graph @main(%x: T[n]) { %a = literal 1 : T; %b = broadcast %a : T[n]; "
     "%c = reshape %b : T[n, 1]; return %c }",
     kNumbers},
    {"transpose-of-splat",
     "graph @main(%x: T[n, m]) { %a = literal 1 : T; %b = broadcast %a : T[n, m]; "
     "%c = transpose %b [1, 0]; return %c }",
     kNumbers},
    {"transpose-of-literal",
     "graph @main() { %a = literal [1, 2, 3, 4, 5, 6] : T[2, 1, 3]; "
     "%c = transpose %a [2, 0, 1]; return %c }",
     kNumbers},
    {"flip-of-splat",
     "graph @main(%x: T[n]) { %a = literal 1 : T; %b = broadcast %a : T[n]; %c = flip %b [0]; "
     "return %c }",
     kNumbers},
    {"flip-of-literal",
     "graph @main() { %a = literal [1, 2, 3, 4, 5, 6] : T[2, 3]; %b = flip %a [1]; "
     "%c = flip %a [0, 1]; return %b, %c }",
     kNumbers},
    {"slice-of-splat",
     "graph @main(%x: T[n]) { %a = literal 1 : T; %b = broadcast %a : T[n + 1]; "
     "%c = slice %b[1:n + 1]; return %c }",
     kNumbers},
    {"slice-of-literal",
     "graph @main() { %a = literal [1, 2, 3, 4, 5, 6] : T[2, 3]; %b = slice %a[1, 0:3:2]; "
     "%c = slice %a[0:2, 1]; %d = slice %a[0, 2]; return %b, %c, %d }",
     kNumbers},
    {"concat-of-literals",
     "graph @main() { %a = literal [1, 2, 3, 4] : T[2, 2]; %b = literal [5, 6] : T[2, 1]; "
     "%c = concat 1 %a, %b; return %c }",
     kNumbers},
    {"reduce-of-literal",
     "graph @main() { %a = literal [1, 2, 3, 4, 5, 6] : T[2, 3]; %b = reduce add %a [0] : T; "
     "%c = reduce max %a [1] : T; %d = reduce mul %a [0, 1] : T; return %b, %c, %d }",
     kNumbers},
    {"assert-of-true", "graph @main(%x: T[n]) { %p = literal true : bool; %a = assert %x, %p, \"holds\"; return %a }"},
    {"size-of-constant", "graph @main(%x: T[3]) { %a = size 3; return %a }"},

    {"transpose-of-transpose",
     "graph @main(%x: T[n, m, k]) { %a = transpose %x [1, 2, 0]; "
     "%b = transpose %a [1, 0, 2]; %c = transpose %a [2, 0, 1]; return %b, %c }"},
    {"reshape-of-reshape",
     "graph @main(%x: T[n]) { %a = reshape %x : T[n, 1]; %b = reshape %a : T[1, n, 1]; "
     "return %b }"},
    {"broadcast-of-broadcast",
     "graph @main(%x: T[1], %y: T[n]) { %a = broadcast %x : T[n]; "
     "%b = broadcast %a : T[3, n]; return %b }"},
    {"broadcast-of-unit-axes",
     "graph @main(%x: T[n], %y: T[m]) { %a = reshape %x : T[1, n]; "
     "%b = broadcast %a : T[m, n]; return %b }"},
    {"flip-of-flip",
     "graph @main(%x: T[n, m]) { %a = flip %x [0, 1]; %b = flip %a [1]; %c = flip %b [0]; "
     "return %b, %c }"},
    {"flip-of-unit-axes", "graph @main(%x: T[1, n]) { %a = flip %x [0]; %b = flip %x [0, 1]; return %a, %b }"},
    {"slice-of-slice",
     "graph @main(%x: T[30, 20, 3]) { %a = slice %x[2:29:3, 4:20, 1]; %b = slice %a[1:9:2, 3]; "
     "%c = slice %a[9:9, 0:16:4]; return %b, %c }"},
    {"slice-of-slice",
     "graph @main(%x: T[n + 3], %y: T[n]) { %a = slice %x[1:n + 2]; %b = slice %a[1:n + 1]; "
     "return %b }"},
    {"cast-of-cast",
     "graph @main(%x: i8[n]) { %a = cast %x : i32; %b = cast %a : T; %c = cast %a : i8; "
     "return %b, %c }",
     kNumbers},

    {"slice-of-concat",
     "graph @main(%x: T[n], %y: T[m], %z: T[3]) { %j = concat 0 %x, %y, %z; %a = slice %j[0:n]; "
     "%b = slice %j[n:n + m]; %c = slice %j[n + m + 1:n + m + 3]; %d = slice %j[n + m + 2]; "
     "return %a, %b, %c, %d }"},
    {"slice-of-concat",
     "graph @main(%x: T[2, n], %y: T[3, n]) { %j = concat 0 %x, %y; %a = slice %j[2:5:2, 0:n]; "
     "%b = slice %j[1, 0:n]; return %a, %b }"},
    {"slice-of-cast-concat",
     "graph @main(%x: i32[n], %y: i32[m]) { %j = concat 0 %x, %y; %f = cast %j : T; %a = slice %f[0:n]; "
     "%b = slice %f[n:n + m]; return %a, %b }",
     kNumbers},
    {"slice-of-its-update",
     "graph @main(%x: T[n + 2, 4], %v: T[n, 1]) { %u = update set %x[1:n + 1, 0:4:2], %v; "
     "%a = slice %u[1:n + 1, 0:4:2]; return %a }"},
    {"slice-of-its-update",
     "graph @main(%x: T[n + 2, 6, 3], %v: T[n, 1, 3]) { %u = update set %x[1:n + 1, 2:5, 0:3], %v; "
     "%a = slice %u[1:n + 1, 4, 0:3:2]; return %a }"},
    {"slice-of-its-update",
     "graph @main(%x: T[n + 2, 6], %v: T[n]) { %u = update set %x[1:n + 1, 2], %v; "
     "%a = slice %u[1:n + 1:2, 2]; return %a }"},
    {"slice-beside-update",
     "graph @main(%x: T[n + 2, 4], %v: T[n]) { %u = update set %x[1:n + 1, 2], %v; "
     "%a = slice %u[0, 0:4]; %b = slice %u[0:n + 2, 3]; %c = slice %u[n + 1:n + 2, 1:4]; "
     "return %a, %b, %c }"},
    {"update-again",
     "graph @main(%x: T[n + 2], %v: T[n], %w: T) { %u = update set %x[1:n + 1], %v; "
     "%t = update set %u[1:n + 1], %w; return %t }"},
    {"update-of-all", "graph @main(%x: T[n, m], %v: T[m]) { %u = update set %x[0:n, 0:m], %v; return %u }"},
    {"update-of-all",
     "graph @main(%x: T[n, m], %v: T[m]) { %u = update add %x[0:n, 0:m], %v; "
     "%w = update max %u[0:n, 0:m], %v; return %w }",
     kNumbers},
    {"concat-of-concat",
     "graph @main(%x: T[n], %y: T[m]) { %a = concat 0 %x, %y; %b = concat 0 %y, %a, %x; "
     "%c = concat 0 %b, %y; return %c }"},

    {"reduce-of-reduce",
     "graph @main(%x: T[n, m, k]) { %a = reduce add %x [1] : i64; %b = reduce add %a [0] : i64; "
     "%c = reduce add %a [1] : i64; return %b, %c }",
     "i64 i8 u8"},
    {"reduce-of-reduce",
     "graph @main(%x: T[2, n, 3]) { %a = reduce and %x [0, 1] : bool; %b = reduce and %a [0] : bool; "
     "return %b }",
     "bool"},
    {"reduce-of-reduce",
     "graph @main(%x: T[2, 3]) { %a = reduce max %x [0] : T; %b = reduce max %a [0] : T; "
     "return %b }",
     "i64 i8 u8"},
    {"log-of-softmax",
     "graph @main(%x: T[n, m]) { %e = exp %x; %s = reduce add %e [1] : T; %k = reshape %s : T[n, 1]; "
     "%q = div %e, %k; %l = log %q; return %l }",
     kFloats},
    {"log-of-softmax",
     "graph @main(%x: T[n]) { %e = exp %x; %s = reduce add %e [0] : T; %r = reciprocal %s; "
     "%q = mul %e, %r; %l = log %q; return %l }",
     kFloats},
    {"log-sum-exp", "graph @main(%x: T[n, 5]) { %e = exp %x; %s = reduce add %e [1] : T; %l = log %s; return %l }",
     kFloats},
    {"log-sum-exp",
     "graph @main(%y: T[n], %x: T[3, n + 1]) { %e = exp %x; %s = reduce add %e [0, 1] : T; "
     "%k = reshape %s : T[1, 1]; %l = log %k; return %l }",
     kFloats},
    {"select-of-one-op",
     "graph @main(%p: bool[n], %x: T[n], %y: T) { %a = neg %x; %b = neg %y; %c = select %p, %a, %b; return %c }",
     kFloats},
    {"select-of-one-op",
     "graph @main(%p: bool[n], %x: T[n], %y: T[n]) { %a = mul %x, %y; %b = mul %y, %y; %c = select %p, %b, %a; "
     "return %c }",
     kFloats},
    {"select-of-one-op",
     "graph @main(%p: bool, %x: T[n], %y: T[n], %z: T[n]) { %a = lt %x, %y; %b = lt %x, %z; %c = select %p, %a, %b; "
     "return %c }",
     kFloats},
    {"extreme-of-negated",
     "graph @main(%y: T[n], %x: T[n + 1]) { %a = neg %x; %m = reduce max %a [0] : T; %b = neg %m; "
     "%l = reduce min %a [0] : T; %c = neg %l; return %b, %c }",
     kFloats},
    {"extreme-of-negated",
     "graph @main(%x: T[n, 5]) { %a = neg %x; %m = reduce max %a [1] : T; %k = reshape %m : T[n, 1]; "
     "%c = literal -3 : T; %b = mul %k, %c; return %b }",
     kFloats},
    {"extreme-of-negated",
     "graph @main(%x: T[n, 5]) { %c = literal [-3] : T[1, 1]; %a = mul %x, %c; %m = reduce max %a [1] : T; "
     "%b = neg %m; return %b }",
     kFloats},
};

std::string with_dtype(std::string_view text, std::string_view dtype) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_word = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_');
    const bool alone = text[i] == 'T' && !is_word;
    out += alone ? std::string(dtype) : std::string(1, text[i]);
  }
  return out;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Of ordinary numbers the same but for a few digits; of all others finite where the left side is, at least.
void expect_no_worse(const reference::Tensor& from, const reference::Tensor& to, bool tame) {
  ASSERT_EQ(from.type_text(), to.type_text());
  for (int64_t i = 0; i < from.num_elements(); ++i) {
    const double a = Literal::load(from.dtype, from.element(i)).f, b = Literal::load(to.dtype, to.element(i)).f;
    EXPECT_TRUE(std::isfinite(b) || !std::isfinite(a)) << a << " became " << b;
    EXPECT_TRUE(!tame || std::abs(a - b) <= (from.dtype == DType::f64 ? 1e-13 : 1e-4)) << a << " became " << b;
  }
}

void judge(const NodeRule& rule, const Graph& before, const Graph& after, const std::vector<int64_t>& symbols) {
  std::mt19937 random(5);
  for (bool tame : {true, false}) {
    const auto inputs = random_inputs(before, symbols, random, tame);
    const auto from = reference::evaluate(before, inputs), to = reference::evaluate(after, inputs);
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (rule.close == Close::better) {
        expect_no_worse(from[i], to[i], tame);
      } else {
        EXPECT_TRUE(same_bits(from[i], to[i])) << rule.name << print(before) << print(after);
      }
    }
  }
}

class EveryNodeRule : public testing::TestWithParam<NodeRule> {};

TEST_P(EveryNodeRule, AgreesWithWhatItReplaces) {
  const NodeRule& rule = GetParam();
  int programs = 0;
  for (const Example& example : kExamples) {
    if (std::string_view(example.rule) != rule.name) continue;
    for (const std::string& dtype : words(*example.dtypes ? example.dtypes : kAll)) {
      const Graph before = program(with_dtype(example.text, dtype));
      PassContext context(PassOptions{.disabled_rules = other_rules(rule.name)});
      const Graph after = verified(drop_dead_values(verified(simplify(before, context)), context));
      EXPECT_GT(context.counted(rule.name), 0) << rule.name << print(before);
      EXPECT_EQ(after.checks.size(), before.checks.size());
      SCOPED_TRACE(print(before) + print(after));
      for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 5, 2}, {1, 1, 1}, {0, 3, 2}}) {
        judge(rule, before, after, sizes);
      }
      ++programs;

      PassContext all, again;
      const Graph once = drop_dead_values(simplify(before, all), all);
      const Graph twice = simplify(once, again);
      EXPECT_EQ(again.last_rewrite(), "") << print(once) << print(twice);
    }
  }
  EXPECT_GT(programs, 0) << "no program for " << rule.name;
}

INSTANTIATE_TEST_SUITE_P(List, EveryNodeRule, testing::ValuesIn(node_rules()), [](const auto& test) {
  std::string name = test.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// What a rule must leave alone.
int64_t rewrites_of(std::string_view text) {
  PassContext context;
  (void)simplify(program(text), context);
  return context.options().max_rewrites - context.rewrites_left();
}

TEST(NodeRules, DoNotLoseAnError) {
  EXPECT_EQ(
      rewrites_of("graph @main(%x: f64[n]) { %e = exp %x; %s = reduce add %e [0] : f64; %l = log %s; return %l }"), 0)
      << "the maximum of nothing";
  EXPECT_EQ(rewrites_of("graph @main(%x: i64[n, m]) { %a = reduce max %x [0] : i64; %b = reduce max %a [0] : i64; "
                        "return %b }"),
            0);
}

TEST(NodeRules, LeaveChoicesBetweenWhatOthersReadOrIsLessThanTheChoice) {
  EXPECT_EQ(rewrites_of("graph @main(%p: bool[n], %x: f64[n], %y: f64[n]) { %a = exp %x; %b = exp %y; "
                        "%c = select %p, %a, %b; return %a, %c }"),
            0);
  EXPECT_EQ(rewrites_of("graph @main(%p: bool[n], %x: f64, %y: f64) { %a = exp %x; %b = exp %y; "
                        "%c = select %p, %a, %b; return %c }"),
            0)
      << "two exponentials, not n";
  EXPECT_EQ(rewrites_of("graph @main(%p: bool[n], %x: i64[n], %y: i64[n], %z: i64[n]) { %a = pow %x, %y; "
                        "%b = pow %x, %z; %c = select %p, %a, %b; return %c }"),
            0)
      << "a power that nobody takes fails too";
}

TEST(NodeRules, TakeALongChainOutOfAChoiceAtOnce) {
  std::string text = "graph @main(%p: bool[n], %x: f64[n], %y: f64[n]) { %a0 = sin %x; %b0 = sin %y; ";
  for (int i = 1; i <= 200; ++i) {
    const char* op = i % 2 ? "tanh" : "sin";
    text += str("%a", i, " = ", op, " %a", i - 1, "; %b", i, " = ", op, " %b", i - 1, "; ");
  }
  EXPECT_EQ(rewrites_of(text + "%c = select %p, %a200, %b200; return %c }"), 1);
}

TEST(NodeRules, DoNotCentreTwice) {
  EXPECT_EQ(rewrites_of("graph @main(%x: f64[5]) { %m = reduce max %x [0] : f64; %d = sub %x, %m; %e = exp %d; "
                        "%s = reduce add %e [0] : f64; %l = log %s; %r = add %l, %m; return %r }"),
            0);
}

TEST(NodeRules, LeaveSumsOfComplexNumbers) {
  EXPECT_EQ(rewrites_of("graph @main(%x: c64[n, m]) { %a = reduce add %x [1] : c64; %b = reduce add %a [0] : c64; "
                        "return %b }"),
            0)
      << "another order rounds differently";
  EXPECT_EQ(rewrites_of("graph @main(%x: c128[5]) { %e = exp %x; %s = reduce add %e [0] : c128; %l = log %s; "
                        "return %l }"),
            0)
      << "complex numbers have no maximum, and log(exp(x)) is another branch than x";
}

TEST(NodeRules, RepeatFewPartsOfAConcat) {
  const auto times = [](int n) {
    std::string text = "graph @main(%x: f64[n]) { %a0 = concat 0 %x, %x; ";
    for (int i = 1; i <= n; ++i) text += str("%a", i, " = concat 0 %a", i - 1, ", %a", i - 1, "; ");
    return rewrites_of(text + str("return %a", n, " }"));
  };
  EXPECT_EQ(times(3), 3) << "16 parts";
  EXPECT_EQ(times(30), 30 - 30 / 4) << "every fourth stays";
}

TEST(NodeRules, LeaveTheBytesOfAnUpdateInPlaceToIt) {
  EXPECT_EQ(rewrites_of("graph @main(%x: f64[n + 2] donated, %v: f64[n]) { %u = update! max %x[1:n + 1], %v; "
                        "%t = update set %u[1:n + 1], %v; return %t, %u }"),
            0);
}

TEST(NodeRules, SeeOverlap) {
  EXPECT_EQ(rewrites_of("graph @main(%v: f64[n], %x: f64[n + 3]) { %u = update set %x[1:n + 1], %v; "
                        "%a = slice %u[0:2]; return %a }"),
            0);
  EXPECT_EQ(
      rewrites_of("graph @main(%v: f64[n], %x: f64[n + 1], %y: f64[3]) { %j = concat 0 %x, %y; %a = slice %j[n:n + 2]; "
                  "return %a }"),
      0);
}

}  // namespace

void PrintTo(const NodeRule& rule, std::ostream* out) { *out << rule.name; }

}  // namespace inlay::rewrite
