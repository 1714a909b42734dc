// The rows of ops/folds.def, as the kernel evaluator computes them: in whichever order parts are merged.
#include "ops/fold.h"

#include <array>
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "ops/fold_merge.h"
#include "oracle/kernels/element.h"

namespace inlay::kernel {
namespace {

using States = std::vector<Element>;
using Merge = FoldMerge<Element, ElementOps>;

/// Of each stored state: f64, but for places.
std::vector<DType> dtypes_of(Fold fold) {
  std::vector<DType> stored;
  for (std::size_t k = 0; k < facts(fold).num_stored; ++k) {
    stored.push_back(accepts(facts(fold).states[k].dtype, DType::f64) ? DType::f64 : DType::i64);
  }
  return state_dtypes(fold, stored);
}

double number(const Element& element) {
  const Literal literal = Literal::load(element.dtype, element.bytes.data());
  return is_float(element.dtype) ? literal.f : static_cast<double>(literal.i);
}

class EveryFold : public testing::TestWithParam<Fold> {
 protected:
  States lifted(double x, int64_t place) {
    States folded;
    for (std::size_t k = 0; k < facts(GetParam()).num_stored; ++k) {
      folded.push_back(dtypes_[k] == DType::i64 ? Element::of_integer(DType::i64, place)
                                                : Element::of(Literal::of_float(DType::f64, x)));
    }
    return merge_.lifted(folded);
  }

  States in_order(const std::vector<double>& x) {
    States out = merge_.nothing();
    for (std::size_t i = 0; i < x.size(); ++i) out = merge_.merged(out, lifted(x[i], static_cast<int64_t>(i)));
    return out;
  }

  void expect_same(const States& a, const States& b, double tolerance) {
    for (std::size_t k = 0; k < facts(GetParam()).num_stored; ++k) {
      const double expected = number(a[k]), found = number(b[k]);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found)) << facts(GetParam()).states[k].name << " is " << found;
      } else if (found != expected) {
        EXPECT_NEAR(found, expected, tolerance * std::abs(expected)) << facts(GetParam()).states[k].name;
      }
    }
  }

  ElementOps ops_;
  std::vector<DType> dtypes_ = dtypes_of(GetParam());
  Merge merge_{GetParam(), dtypes_, ops_};
};

/// So lanes, tiles and blocks may be put together as a backend likes.
TEST_P(EveryFold, IsTheSameByAnyTree) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> halves(-6, 6);
  for (int length = 1; length < 40; ++length) {
    std::vector<double> x;
    std::vector<States> parts;
    for (int i = 0; i < length; ++i) {
      x.push_back(halves(random) / 2.0);
      parts.push_back(lifted(x.back(), i));
      if (i % 5 == 0) parts.push_back(merge_.nothing());
    }
    const States expected = in_order(x);
    while (parts.size() > 1) {
      std::swap(parts[random() % parts.size()], parts.back());
      const States last = parts.back();
      parts.pop_back();
      std::swap(parts[random() % parts.size()], parts.back());
      parts.back() = random() % 2 == 0 ? merge_.merged(parts.back(), last) : merge_.merged(last, parts.back());
    }
    expect_same(expected, parts[0], 1e-13);  // 40 points, each rounded to 1e-16 a few times
  }
}

TEST_P(EveryFold, OfNoPointsChangesNothing) {
  const States states = in_order({1e150, -3, 1e150});
  expect_same(states, merge_.merged(states, merge_.nothing()), 0);
  expect_same(states, merge_.merged(merge_.nothing(), states), 0);
}

INSTANTIATE_TEST_SUITE_P(Folds, EveryFold, testing::ValuesIn(all_folds().begin(), all_folds().end()),
                         [](const auto& test) { return std::string(facts(test.param).name); });

/// What a backend's own step for such a row, and a store that accumulates, may rely on.
TEST(FoldOfOneState, IsWhatItsCombineMakes) {
  std::mt19937_64 random(7);
  std::set<Combine> met;
  for (Fold fold : all_folds()) {
    const FoldFacts& row = facts(fold);
    if (!row.has_one_state()) continue;
    const FoldState& state = row.states[0];
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.name, combine_name(state.combine));
    EXPECT_EQ(row.name, state.name);
    EXPECT_EQ(fold_by(state.combine), fold);
    met.insert(state.combine);
    for (auto dtype = DType::boolean; dtype != DType::opaque; dtype = DType(static_cast<int>(dtype) + 1)) {
      EXPECT_EQ(accepts(state.dtype, dtype), accepts(combine_op(state.combine), dtype)) << dtype_name(dtype);
      if (!accepts(state.dtype, dtype)) continue;
      ElementOps ops;
      Merge merge(fold, {dtype}, ops);
      EXPECT_EQ(merge.nothing()[0].bytes, Element::of(identity_of(state.combine, dtype)).bytes);
      for (int i = 0; i < 100; ++i) {
        const auto drawn = [&] { return cast(Element::of_integer(DType::i64, int64_t(random() % 13) - 6), dtype); };
        const States a = {drawn()}, b = {drawn()};
        EXPECT_EQ(merge.lifted(a)[0].bytes, a[0].bytes);
        EXPECT_EQ(merge.merged(a, b)[0].bytes, apply_op(combine_op(state.combine), std::array{a[0], b[0]}).bytes);
      }
    }
  }
  EXPECT_EQ(met.size(), combine_names().size() - 1);  // `set` folds nothing
}

class Argmax : public EveryFold {};
TEST_P(Argmax, IsTheFirstPlaceOfTheGreatestOrOfNaN) {
  EXPECT_EQ(number(in_order({1, 3, 2, 3})[0]), 1);
  EXPECT_EQ(number(in_order({-INFINITY, -INFINITY})[0]), 0);
  EXPECT_EQ(number(in_order({1, NAN, 3, NAN})[0]), 1);
}
INSTANTIATE_TEST_SUITE_P(Fold, Argmax, testing::Values(Fold::argmax));

class LogSumExp : public EveryFold {};
TEST_P(LogSumExp, NeitherOverflowsNorVanishes) {
  EXPECT_DOUBLE_EQ(number(in_order({1000, 1000, 999})[0]), 2 + std::exp(-1));
  EXPECT_DOUBLE_EQ(number(in_order({-INFINITY, -1000, -1000, -INFINITY})[0]), 2);
}
INSTANTIATE_TEST_SUITE_P(Fold, LogSumExp, testing::Values(Fold::log_sum_exp));

class Moments : public EveryFold {};
TEST_P(Moments, AreOfDifferencesHoweverLargeTheNumbersAre) {
  EXPECT_DOUBLE_EQ(number(in_order({1e15 + 1, 1e15 + 2, 1e15 + 3})[0]), 2);
  EXPECT_DOUBLE_EQ(number(in_order({1e200})[0]), 0);
  EXPECT_TRUE(std::isnan(number(in_order({1, INFINITY})[0])));
}
INSTANTIATE_TEST_SUITE_P(Fold, Moments, testing::Values(Fold::moments));

}  // namespace
}  // namespace inlay::kernel
