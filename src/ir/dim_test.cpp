#include "ir/dim.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay {
namespace {

const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1));

TEST(Dim, TheLesserIsSeenWhereItIsOneForAllSizes) {
  EXPECT_EQ(min(n, n + 3), n);
  EXPECT_EQ(max(n, n + 3), n + 3);
  EXPECT_EQ(min(n + m, m), m);
  EXPECT_EQ(max(n + min(m, 3), min(m, 3)), n + min(m, 3));
  EXPECT_EQ(max(n, 0), n);
  EXPECT_EQ(min(min(n, 3), 3), min(n, 3));
  EXPECT_EQ(min(n, min(3, n)), min(n, 3));
  EXPECT_EQ(min(min(n, 3), 5), min(n, 3));
  EXPECT_EQ(max(max(n - 1, 0), n - 1), max(n - 1, 0));
  EXPECT_EQ(min(max(n, 4), n), n);
  EXPECT_EQ(max(max(n - 1, 0) - 1, 0), max(n - 2, 0));
  EXPECT_EQ(min(2, min(n, 3) + 1), min(n + 1, 2));
  EXPECT_EQ(min(n, n - max(n - 2, 0)), n - max(n - 2, 0));
  EXPECT_EQ(max(0, n - max(n - 2, 0)), n - max(n - 2, 0));
  EXPECT_EQ(max(max(n - 2, 0), max(n - 1, 0)), max(n - 1, 0));
  EXPECT_NE(min(n, m), n);
  EXPECT_NE(min(n, 3), 3);
  EXPECT_NE(min(min(n, 5), 3), min(n, 5));
}

TEST(Dim, WhatAClampTakesAwayIsAClamp) {
  EXPECT_EQ(n - min(n, 1), max(n - 1, 0));
  EXPECT_EQ(n - max(n - 1, 0), min(n, 1));
  EXPECT_EQ(n + m - min(n, 1), m + max(n - 1, 0));
  EXPECT_EQ(n * m - min(n, 1) * m, (n - min(n, 1)) * m);
  EXPECT_EQ(Dim(2) * n - Dim(2) * min(n, 1), Dim(2) * max(n - 1, 0));
  EXPECT_EQ(n - min(n, 1) + min(n, 1), n);
  EXPECT_EQ(max(n - 1, 0) * m + min(n, 1) * m, n * m);
  EXPECT_EQ(max(n + 1, 3) + min(n + 2, 4), n + 5);
  EXPECT_EQ((n - min(n, 1)).lower_bound({}), 0);
  EXPECT_EQ((n - min(n, 1) - max(n - 2, 0)).lower_bound({}), 0);
}

// x[1:][1:] ...: each size is in the next one twice.
TEST(Dim, ASliceOfASliceIsNoLongerThanASlice) {
  Dim size = n, middle = n;
  for (int i = 0; i < 100; ++i) {
    size = max(size, 0) - max(min(1, size), 0);
    middle = max(middle - 1, 0) - min(max(middle - 1, 0), 1);
  }
  EXPECT_EQ(size, max(n - 100, 0));
  EXPECT_EQ(middle, max(n - 200, 0));
}

TEST(Dim, TheLesserOfNumbersOfAnySize) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> sizes = {5, 7};
  for (int64_t bound : {kLeast, kLeast + 1, kMost - 1, kMost}) {
    EXPECT_EQ(max(Dim(bound), 3), std::max<int64_t>(bound, 3));
    EXPECT_EQ(max(n + Dim(bound < 0 ? bound : bound - 10), 3).evaluate(sizes), bound < 0 ? 3 : bound - 5);
    EXPECT_EQ(min(n, Dim(bound)).evaluate(sizes), std::min<int64_t>(5, bound));
  }
}

// What is left out never counts.
TEST(Dim, MinAndMaxAreThoseOfTheNumbers) {
  std::mt19937_64 engine(1);
  const auto between = [&](int64_t minimum, int64_t maximum) {
    return std::uniform_int_distribution<int64_t>(minimum, maximum)(engine);
  };
  struct Pair {
    Dim dim;
    int64_t value;
  };
  for (int round = 0; round < 20000; ++round) {
    const std::vector<int64_t> sizes = {between(0, 4), between(0, 4)};
    std::vector<Pair> made = {{n, sizes[0]}, {m, sizes[1]}, {2, 2}, {0, 0}, {between(-3, 3), 0}};
    made.back().value = made.back().dim.constant();
    for (int i = 0; i < 6; ++i) {
      const Pair a = made[between(0, made.size() - 1)], b = made[between(0, made.size() - 1)];
      switch (between(0, 3)) {
        case 0: made.push_back({a.dim + b.dim, a.value + b.value}); break;
        case 1: made.push_back({a.dim - b.dim, a.value - b.value}); break;
        case 2: made.push_back({min(a.dim, b.dim), std::min(a.value, b.value)}); break;
        default: made.push_back({max(a.dim, b.dim), std::max(a.value, b.value)}); break;
      }
      ASSERT_EQ(made.back().dim.evaluate(sizes), made.back().value);
    }
  }
}

/// (s0 + 1) * (s1 + 1) * ... of `count` symbols.
Dim product_of_sums(int count) {
  Dim out = 1;
  for (int i = 0; i < count; ++i) out = out * (Dim::symbol(SymbolId(static_cast<uint32_t>(i))) + 1);
  return out;
}

TEST(Dim, QuotientsOfEqualSumsAreEqual) {
  EXPECT_EQ(floor_div(Dim(9) * n + 1, 2), Dim(4) * n + floor_div(n + 1, 2));
  EXPECT_EQ(floor_div(n - m, 2) + m, floor_div(n + m, 2));
  EXPECT_EQ(floor_div(Dim(2) * n + 2, 3), floor_div(n + n + 5, 3) - 1);
  // A size substituted for another gives what the size gives at once.
  std::mt19937_64 engine(17);
  const auto between = [&](int64_t minimum, int64_t maximum) {
    return std::uniform_int_distribution<int64_t>(minimum, maximum)(engine);
  };
  using Two = std::pair<Dim, Dim>;  // of n and m, and the same of n alone
  const std::function<Two(int)> random_dim = [&](int depth) -> Two {
    if (depth == 0) {
      const Two leaves[] = {{between(-9, 9), 0}, {n, n}, {m, n}};
      const Two leaf = leaves[between(0, 2)];
      return leaf.first.is_constant() ? Two(leaf.first, leaf.first) : leaf;
    }
    const Two a = random_dim(depth - 1), b = random_dim(depth - 1);
    const int64_t number = between(-9, 9), divisor = between(1, 9);
    switch (between(0, 3)) {
      case 0: return {a.first + b.first, a.second + b.second};
      case 1: return {a.first - b.first, a.second - b.second};
      case 2: return {Dim(number) * a.first + b.first, Dim(number) * a.second + b.second};
      default: return {floor_div(a.first, divisor), floor_div(a.second, divisor)};
    }
  };
  for (int round = 0; round < 3000; ++round) {
    const auto [of_both, of_one] = random_dim(5);
    IdMap<SymbolId, Dim> equal(2, n);
    ASSERT_EQ(of_both.substitute(equal), of_one) << "round " << round;
    for (int64_t size : {0, 1, 2, 5, 31}) {
      const std::vector<int64_t> symbols = {size, size};
      ASSERT_EQ(of_both.evaluate(symbols), of_one.evaluate(symbols)) << "round " << round;
      ASSERT_LE(of_one.lower_bound({}), of_one.evaluate(symbols)) << "round " << round;
    }
  }
}

TEST(Dim, QuotientsByLargeNumbersFit) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> symbols = {3, 5};
  EXPECT_EQ(floor_div(n - m, kMost).evaluate(symbols), -1);
  EXPECT_EQ(floor_div(n + m, kMost).evaluate(symbols), 0);
  EXPECT_EQ(floor_div(Dim(kLeast) * n + m, kMost).evaluate({{1, 5}}), -1);
  EXPECT_EQ(floor_div(Dim(kLeast) + n, 3).evaluate(symbols), kLeast / 3);
}

TEST(Dim, QuotientsOfLargeSizesFit) {
  constexpr int64_t kLarge = int64_t{1} << 52;
  for (int64_t divisor : {3, 1023, 1024, 1025, 1 << 20}) {
    EXPECT_EQ(floor_div(n - m, divisor).evaluate({{kLarge, kLarge - 5000}}), 5000 / divisor) << divisor;
    EXPECT_EQ(floor_div(n - m, divisor).evaluate({{kLarge - 5000, kLarge}}), -((4999 + divisor) / divisor)) << divisor;
  }
}

TEST(Dim, WhatIsTakenIntoAQuotientBoundsIt) {
  EXPECT_EQ(floor_div(n - min(n, 4), 2).lower_bound({}), 0);
  EXPECT_EQ(floor_div(Dim(2) * n + 8, 3).lower_bound({}), 2);
  EXPECT_EQ((Dim(3) * floor_div(n - min(n, 4) + 6, 2) + m).lower_bound({}), 9);
}

TEST(Dim, AQuotientHasNoBoundWhereItsDivisorMayBeNegative) {
  for (const Dim& divisor : {m - 2, m - n, Dim(3) - m, m, m + 1, max(m - 2, Dim(0)), Dim(0)}) {
    for (const Dim& size : {floor_div(n, divisor), floor_div(n - min(n, 3), divisor) * 2 + 1}) {
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 5; ++j) {
          EXPECT_LE(size.lower_bound({}), size.evaluate({{i, j}})) << i << ", " << j;
        }
      }
    }
  }
  EXPECT_EQ(floor_div(n, m).lower_bound({}), 0);
}

// Each slice doubles what a bound that knows all of them takes: with forty it would never end.
TEST(Dim, TheBoundOfManyClampedSlicesEnds) {
  const auto last_five = [](int i) {
    const Dim size = Dim::symbol(SymbolId(i));
    return size - max(size - 5, 0);
  };
  Dim sum = 0;
  for (int i = 0; i < 6; ++i) sum = sum + last_five(i);
  EXPECT_EQ(sum.lower_bound({}), 0);
  for (int i = 6; i < 40; ++i) sum = sum + last_five(i);
  EXPECT_LE(sum.lower_bound({}), 0);
}

TEST(Dim, AProductOfSumsIsNotMultipliedOutWithoutEnd) {
  constexpr int kMany = 24;
  const Dim product = product_of_sums(kMany);
  EXPECT_EQ(product, product_of_sums(kMany));
  EXPECT_EQ(same_dim(product, product_of_sums(kMany)), Answer::yes);
  EXPECT_EQ(product_of_sums(4).terms().size(), 15U);  // a short one is
  EXPECT_LE(product.terms().size(), 64U);
  std::vector<int64_t> sizes(kMany, 1);
  EXPECT_EQ(product.evaluate(sizes), int64_t{1} << kMany);
  EXPECT_EQ(product.estimate(sizes), 1 << kMany);
  sizes[7] = 4;
  EXPECT_EQ(product.evaluate(sizes), (int64_t{1} << (kMany - 1)) * 5);
  EXPECT_EQ(product.symbols().size(), static_cast<std::size_t>(kMany));
  EXPECT_EQ(product.lower_bound({}), 1);
  EXPECT_GE(product.lower_bound(IdMap<SymbolId, int64_t>(kMany, 3)), int64_t{1} << (2 * kMany));
  // What is put in the place of symbols makes numbers of it.
  IdMap<SymbolId, Dim> ones(kMany, Dim(1));
  EXPECT_EQ(product.substitute(ones), Dim(int64_t{1} << kMany));
}

TEST(Dim, ALongProductHasOneFormWhateverItsSign) {
  const Dim product = product_of_sums(9);
  EXPECT_EQ((Dim(-1) * product_of_sums(8)) * (Dim::symbol(SymbolId(8)) + 1), Dim(-1) * product);
  IdMap<SymbolId, Dim> same;
  for (int i = 0; i < 9; ++i) same.push_back(Dim::symbol(SymbolId(i)));
  EXPECT_EQ((Dim(-3) * product).substitute(same), Dim(-3) * product);
}

TEST(Dim, WhatDoesNotFitIsAnError) {
  const Dim cube = n * n * n;
  EXPECT_EQ(cube.evaluate(std::vector<int64_t>{2097151}), 2097151LL * 2097151 * 2097151);
  for (const Dim& dim : {cube, cube + 5, min(cube, m), floor_div(cube, m + 2), 4611686018427387904 * n, n + n * m}) {
    EXPECT_TRUE(dim.may_overflow());
    EXPECT_THROW((void)dim.evaluate(std::vector<int64_t>{4194304, int64_t{1} << 45}), Error) << dim.terms().size();
  }
  EXPECT_THROW((void)(Dim(4000000000) * Dim(4000000000)), Error);
  EXPECT_EQ(cube.estimate(std::vector<int64_t>{4194304}), 0x1p66);
  for (const Dim& dim : {n, n - 1, n - m, 5 - n, min(n, m), max(n - 1, 0), Dim(-1) * n, Dim(3)}) {
    EXPECT_FALSE(dim.may_overflow());
  }
  for (const Dim& dim : {n + 1, n + m, 2 * n, n * m, min(n + 1, m)}) EXPECT_TRUE(dim.may_overflow());
  // (n + 1)^66 has coefficients that fit, and (n + 1)^67 is not multiplied out any more.
  Dim power = 1;
  for (int i = 0; i < 70; ++i) power = power * (n + 1);
  EXPECT_EQ(power.evaluate(std::vector<int64_t>{0}), 1);
  EXPECT_THROW((void)power.evaluate(std::vector<int64_t>{1}), Error);
  EXPECT_EQ(power.lower_bound(IdMap<SymbolId, int64_t>(1, 1)), std::numeric_limits<int64_t>::max());
}

TEST(Dim, TextHasTheLeastIntegerToo) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  IdMap<SymbolId, std::string> names;
  names.push_back("n");
  EXPECT_EQ((n + Dim(kLeast)).to_text(names), "n - 9223372036854775808");
  EXPECT_EQ((Dim(kLeast) * n).to_text(names), "-9223372036854775808*n");
}

}  // namespace
}  // namespace inlay
