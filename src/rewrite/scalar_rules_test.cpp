// Every rule of the list, alone, on random shapes, dtypes and nasty values, against the reference.
#include "rewrite/scalar_rules.h"

#include <set>

#include "rewrite/common_values.h"
#include "rewrite/dead_values.h"
#include "rewrite/pattern.h"
#include "rewrite/simplify.h"
#include "rewrite/test_support.h"

namespace inlay::rewrite {
namespace {

constexpr DType kDTypes[] = {DType::f64, DType::f32,     DType::i64, DType::i8,
                             DType::u8,  DType::boolean, DType::f16, DType::c128};

/// Makes the left side of a rule out of parameters and literals.
class LeftSide {
 public:
  LeftSide(DType dtype, std::vector<std::vector<Dim>> shapes, double literal, bool views)
      : dtype_(dtype), shapes_(std::move(shapes)), literal_(literal), views_(views) {}

  /// Nothing if the ops do not take the dtype.
  std::optional<Graph> build(const Rule& rule) {
    never_negative_ = std::string_view(rule.when).find("never_negative") != std::string_view::npos;
    try {
      b_.output(expression(parse_pattern(rule.from), dtype_));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::wrong_dtype) << error.what();
      return std::nullopt;
    }
    return std::move(b_).finish();
  }

 private:
  ValueId expression(const Pattern& pattern, DType dtype) {
    switch (pattern.kind) {
      case Pattern::Kind::value: return variable(pattern.variable, dtype);
      case Pattern::Kind::literal: return b_.literal(Literal::of(dtype, pattern.variable == 'c' ? literal_ : 7));
      case Pattern::Kind::boolean: return b_.literal(Literal::of(DType::boolean, pattern.number));
      case Pattern::Kind::number: return b_.literal(Literal::of(dtype, pattern.number));
      case Pattern::Kind::op: return call(pattern, dtype);
    }
    return {};
  }

  ValueId call(const Pattern& pattern, DType dtype) {
    std::vector<ValueId> operands;
    for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
      const bool is_condition = pattern.op == ScalarOp::select_ && i == 0;
      ValueId v = expression(pattern.operands[i], is_condition ? DType::boolean : dtype);
      // A view between the two ops of a rule must not hide the one from the other.
      if (views_ && pattern.operands[i].kind == Pattern::Kind::op) v = b_.reshape(v, with_unit(b_.type(v).dims));
      operands.push_back(v);
    }
    return b_.scalar(pattern.op, operands);
  }

  static std::vector<Dim> with_unit(std::vector<Dim> dims) {
    dims.insert(dims.begin(), 1);
    return dims;
  }

  ValueId variable(char name, DType dtype) {
    if (!variables_.count(name)) {
      ValueId v = b_.param(std::string(1, name), {dtype, shapes_[variables_.size() % shapes_.size()]});
      if (never_negative_) v = b_.scalar(ScalarOp::square_, {v});
      variables_[name] = v;
    }
    return variables_[name];
  }

  DType dtype_;
  std::vector<std::vector<Dim>> shapes_;
  double literal_;
  bool views_;
  bool never_negative_ = false;
  GraphBuilder b_;
  std::map<char, ValueId> variables_;
};

/// Distance in representable numbers.
double ulps_between(DType dtype, double a, double b) {
  if (a == b) return 0;
  if (dtype == DType::f16) return std::abs(a - b) / std::max(std::abs(a) * 0x1p-11, 0x1p-24);
  if (dtype == DType::f32)
    return std::abs(a - b) / (std::nextafter(static_cast<float>(std::abs(a)), INFINITY) - std::abs(a));
  return std::abs(a - b) / (std::nextafter(std::abs(a), INFINITY) - std::abs(a));
}

/// Compares complex numbers relative to their size; NaN in one part is NaN.
void expect_close_in_the_plane(const Rule& rule, const reference::Tensor& from, const reference::Tensor& to) {
  for (int64_t i = 0; i < from.num_elements(); ++i) {
    const Literal a = Literal::load(from.dtype, from.element(i)), b = Literal::load(to.dtype, to.element(i));
    const double size = std::hypot(a.f, a.imaginary), distance = std::hypot(a.f - b.f, a.imaginary - b.imaginary);
    if (std::isnan(a.f) || std::isnan(a.imaginary)) {
      EXPECT_TRUE(std::isnan(b.f) || std::isnan(b.imaginary)) << rule.name << ": " << a.to_text();
    } else if (std::isfinite(size)) {
      EXPECT_LE(distance, 1e-15 * size) << rule.name << ": " << a.to_text() << " became " << b.to_text();
    } else {
      EXPECT_EQ(a, b) << rule.name;
    }
  }
}

void expect_close(const Rule& rule, const reference::Tensor& from, const reference::Tensor& to, bool tame) {
  ASSERT_EQ(from.type_text(), to.type_text()) << rule.name;
  if (rule.close != Close::bitwise && is_complex(from.dtype)) return expect_close_in_the_plane(rule, from, to);
  if (rule.close == Close::bitwise || !is_float(from.dtype)) {
    EXPECT_TRUE(same_bits(from, to)) << rule.name;
    return;
  }
  for (int64_t i = 0; i < from.num_elements(); ++i) {
    const double a = Literal::load(from.dtype, from.element(i)).f, b = Literal::load(to.dtype, to.element(i)).f;
    // An infinity may have been an overflow, or log1p(-exp(5e-324)), where 1 - exp(5e-324) is below zero.
    if (rule.close == Close::better && std::isinf(a)) continue;
    // inf / inf of exp(x) / (1 + exp(x)) is nan, where the better has a value. Ordinary numbers have no such excuse.
    if (rule.close == Close::better && !tame && std::isnan(a)) continue;
    EXPECT_EQ(std::isnan(a), std::isnan(b)) << rule.name << ": " << a << " became " << b;
    if (std::isnan(a)) continue;
    if (rule.close == Close::rounding) {
      EXPECT_EQ(std::signbit(a), std::signbit(b)) << rule.name;
      EXPECT_LE(ulps_between(from.dtype, a, b), 4) << rule.name << ": " << a << " became " << b;
    } else if (tame) {
      // What is replaced loses a few digits here, not all.
      const double tolerance = from.dtype == DType::f64 ? 1e-13 : from.dtype == DType::f32 ? 1e-4 : 0.1;
      EXPECT_NEAR(a, b, tolerance * std::max(1.0, std::abs(a))) << rule.name;
    }
  }
}

/// With all rules on, no rule applies to their results.
void expect_end(const Graph& before) {
  PassContext first, second;
  const Graph once = drop_dead_values(share_common_values(simplify(before, first), first), first);
  const Graph twice = simplify(once, second);
  EXPECT_EQ(second.last_rewrite(), "") << print(before) << "became" << print(once) << "and then" << print(twice);
}

class EveryRule : public testing::TestWithParam<Rule> {};

TEST_P(EveryRule, AgreesWithWhatItReplaces) {
  const Rule& rule = GetParam();
  const std::vector<std::vector<std::vector<Dim>>> shapes = {
      {{}},       {{0}},         {{1}}, {{200}}, {{3, 40}}, {{40}, {3, 40}, {}}, {{}, {40}}, {{2, 1}, {1, 30}, {30}},
      {{40}, {}}, {{3, 40}, {1}}};
  int fired = 0;
  std::mt19937 random(11);
  for (DType dtype : kDTypes) {
    for (const auto& dims : shapes) {
      for (double literal : {2.0, -0.25, 3.0}) {
        for (bool views : {false, true}) {
          const std::optional<Graph> before = LeftSide(dtype, dims, literal, views).build(rule);
          if (!before) continue;
          expect_end(*before);
          PassContext context(PassOptions{.disabled_rules = other_rules(rule.name)});
          const Graph after = verified(drop_dead_values(simplify(*before, context), context));
          if (context.counted(rule.name) == 0) continue;
          ++fired;
          SCOPED_TRACE(print(*before));
          for (bool tame : {true, false}) {
            const auto inputs = random_inputs(*before, {}, random, tame);
            expect_close(rule, reference::evaluate(*before, inputs)[0], reference::evaluate(after, inputs)[0], tame);
          }
        }
      }
    }
  }
  EXPECT_GT(fired, 0) << rule.name << " never fired";
}

INSTANTIATE_TEST_SUITE_P(List, EveryRule, testing::ValuesIn(scalar_rules().begin(), scalar_rules().end()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const RuleInfo& rule : all_rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

TEST(ScalarRules, OneMinusExpOfZeroIsNoNegativeZero) {
  for (const double zero : {0.0, -0.0}) {
    GraphBuilder b;
    const ValueId x = b.param("x", {DType::f64, {}}), one = b.literal(Literal::of(DType::f64, 1.0));
    b.output(b.scalar(ScalarOp::sub_, {one, b.scalar(ScalarOp::exp_, {x})}));
    PassContext context;
    const Graph after = simplify(std::move(b).finish(), context);
    EXPECT_EQ(context.counted("expm1-neg"), 1);
    reference::Tensor at = reference::Tensor::zeros(DType::f64, {});
    Literal::of(DType::f64, zero).store(at.element(0));
    const reference::Tensor result = reference::evaluate(after, std::vector{at})[0];
    EXPECT_FALSE(std::signbit(Literal::load(DType::f64, result.element(0)).f)) << zero;
  }
}

TEST(ScalarRules, OnlyBitwiseOnesRunWhenEveryBitCounts) {
  for (const Rule& rule : scalar_rules()) {
    const std::optional<Graph> before = LeftSide(DType::f64, {{5}}, 2.0, false).build(rule);
    if (!before) continue;
    PassContext context(PassOptions{.farthest = Close::bitwise});
    expect_same_results(*before, simplify(*before, context));
  }
}

}  // namespace

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

}  // namespace inlay::rewrite
