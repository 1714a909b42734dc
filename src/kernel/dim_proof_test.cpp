#include "kernel/dim_proof.h"

#include <cstdlib>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace inlay::kernel {
namespace {

const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1)), k = Dim::symbol(SymbolId(2));

TEST(AlwaysAtLeast, SumsOfSizes) {
  EXPECT_TRUE(always_at_least(n + m, n));
  EXPECT_TRUE(always_at_least(n * m + 1, 1));
  EXPECT_FALSE(always_at_least(n, 1));
  EXPECT_FALSE(always_at_least(n, m));
}

TEST(AlwaysAtLeast, FloorDivisions) {
  EXPECT_TRUE(always_at_least(n, floor_div(n, 2)));
  EXPECT_TRUE(always_at_least(n + 1, Dim(2) * floor_div(n + 1, 2)));
  EXPECT_TRUE(always_at_least(Dim(2) * floor_div(n + 1, 2), n));
  EXPECT_FALSE(always_at_least(Dim(2) * floor_div(n, 2), n));
  EXPECT_TRUE(always_at_least(floor_div(n, 3), 0));
  EXPECT_TRUE(floor_div(n + 1, 0).is(0));  // as with numbers: a size may turn out to be 0
}

TEST(AlwaysAtLeast, MinAndMax) {
  EXPECT_TRUE(always_at_least(max(n - 1, 0), n - 1));
  EXPECT_TRUE(always_at_least(max(n - 1, 0), 0));
  EXPECT_TRUE(always_at_least(n, min(n, m)));
  EXPECT_TRUE(always_at_least(min(n, m), 0));
  EXPECT_TRUE(always_at_least(max(n, m), min(n, m)));
  EXPECT_FALSE(always_at_least(min(n, m), m));
}

TEST(AlwaysAtLeast, InEachCaseOfAFactorOf0Or1) {
  const Dim s = min(1, max(0, n - 1)), t = min(1, m), length = k - min(1, k);
  EXPECT_TRUE(always_at_least(length, length * s));
  EXPECT_TRUE(always_at_least(length, length * s * t));
  EXPECT_TRUE(always_at_least(length * s, length * s * s));
  EXPECT_TRUE(always_apart(0, length * s, length, length + length * s));
  EXPECT_FALSE(always_at_least(length * s, length));
  EXPECT_FALSE(always_at_least(length * s, length * t));
}

TEST(AlwaysApart, WhereOneEndsBeforeTheOtherBegins) {
  EXPECT_TRUE(always_apart(0, n, n, n + m));
  EXPECT_TRUE(always_apart(n + 1, n + m, 0, n));
  EXPECT_FALSE(always_apart(0, n + 1, n, n + m));
  EXPECT_FALSE(always_apart(0, n, m, n + m));
}

TEST(AlwaysAtLeast, GivenWhatElseIsKnown) {
  EXPECT_TRUE(always_at_least(n, 1, std::vector{n - 1}));
  EXPECT_TRUE(always_at_least(Dim(2) * k - 2, k - 1, std::vector{k - 1}));
  EXPECT_TRUE(always_at_least(n + m, 2, std::vector{n - 1, m - 1}));
  EXPECT_TRUE(always_at_least(Dim(3) * n, 3, std::vector{n - 1}));
  EXPECT_FALSE(always_at_least(n, 2, std::vector{n - 1}));
  EXPECT_FALSE(always_at_least(n, 1, std::vector{m - 1}));
}

TEST(AlwaysAtLeast, AQuotientOfWhatIsKnownToBeASize) {
  const Dim half = floor_div(n - k + 1, 2);
  EXPECT_TRUE(always_at_least(m + half, m, std::vector{n - k}));
  EXPECT_FALSE(always_at_least(m + half, m, std::vector{n - m}));
  EXPECT_FALSE(always_at_least(m + half, m + 1, std::vector{n - k}));
  EXPECT_FALSE(always_at_least(m - half, 0, std::vector{n - k}));
  const Dim third = floor_div(n - Dim(4) * k + 2, 3);
  EXPECT_TRUE(always_at_least(third, 0, std::vector{n - Dim(4) * k}));
}

TEST(AlwaysAtLeast, AMultipleOfWhatItIsDividedBy) {
  const Dim period = max(n - 1, 1), shift = Dim(-1) - period * floor_div(-1, period);
  EXPECT_TRUE(always_at_least(shift, 0));
  EXPECT_TRUE(always_at_least(period - 1, shift));
  EXPECT_TRUE(always_at_least(m * period, m * shift));
  EXPECT_FALSE(always_at_least(shift, 1));
}

TEST(AlwaysAtLeast, WhatHoldsOnlyWhereAFactIsFalse) {
  EXPECT_TRUE(always_at_least(n, m, std::vector{Dim(-1)}));
  EXPECT_FALSE(always_at_least(n, m, std::vector{Dim(0)}));
  // One of the two loops has no points, whatever the sizes are.
  const Dim is_long = min(1, max(0, k - 1));
  EXPECT_TRUE(always_at_least(n, m, std::vector{n * is_long - 1, n - n * is_long - 1}));
  EXPECT_FALSE(always_at_least(n, m, std::vector{n * is_long - 1, n - 1}));
}

TEST(AlwaysAtLeast, WhatAMultipleOfItShows) {
  EXPECT_TRUE(always_at_least(1, n, std::vector{7 - 5 * n}));   // n <= 7/5, and it is whole
  EXPECT_FALSE(always_at_least(0, n, std::vector{7 - 5 * n}));  // n may be 1
  EXPECT_TRUE(always_at_least(m, n, std::vector{3 * m - 3 * n + 2}));
  EXPECT_FALSE(always_at_least(m, n, std::vector{3 * m - 3 * n + 3}));
  EXPECT_FALSE(always_at_least(m - (int64_t{1} << 61), 0, std::vector{5 * m - 7}));  // five times of it do not fit
}

TEST(IsAtMostOrOne, AsLongAsWhatReadsItOrOfOneElement) {
  const Dim is_long = min(1, max(0, m - 1));
  const Dim fits =
      (n - 1) * is_long + max(min(m, 1), min(n, 1));  // the length that `stretch` asks of one that becomes n
  EXPECT_TRUE(is_at_most_or_one(m, n, is_long, m, fits));
  EXPECT_FALSE(is_at_most_or_one(m, n, is_long, m, k));
  EXPECT_FALSE(is_at_most_or_one(m + 1, n, is_long, m, fits));
}

// Without a bound on its steps this takes hours: each of 16 functions has a bound of its own.
TEST(AlwaysAtLeast, WhatCannotBeProvedEnds) {
  Dim sum = 0;
  for (int i = 0; i < 8; ++i) sum = sum + min(n + i, m) - max(n, m + i);
  EXPECT_FALSE(always_at_least(sum, 0));
  EXPECT_FALSE(always_at_least(sum, 0, std::vector{n - k, m - 2}));
}

// What is proved holds at every size that is tried.
TEST(AlwaysAtLeast, IsNeverWrong) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE(testing::Message() << "INLAY_FUZZ_SEED=" << seed);
  std::mt19937_64 engine(seed);
  const auto between = [&](int64_t minimum, int64_t maximum) {
    return std::uniform_int_distribution<int64_t>(minimum, maximum)(engine);
  };
  const std::function<Dim(int)> random_dim = [&](int depth) -> Dim {
    switch (depth == 0 ? between(0, 2) : between(0, 9)) {
      case 0: return between(-3, 3);
      case 1: return n;
      case 2: return m;
      case 3: return random_dim(depth - 1) + random_dim(depth - 1);
      case 4: return random_dim(depth - 1) - random_dim(depth - 1);
      case 5: return Dim(between(-3, 3)) * random_dim(depth - 1);
      case 6: return floor_div(random_dim(depth - 1), between(1, 6));
      case 7: return min(random_dim(depth - 1), random_dim(depth - 1));
      case 8: return min(1, max(0, random_dim(depth - 1))) * random_dim(depth - 1);
      default: return max(random_dim(depth - 1), random_dim(depth - 1));
    }
  };
  int num_proved = 0;
  for (int round = 0; round < 3000; ++round) {
    const Dim a = random_dim(3), b = random_dim(2);
    const std::vector<Dim> facts = {random_dim(2), random_dim(1)};
    if (!always_at_least(a, b, facts)) continue;
    ++num_proved;
    for (int64_t i = 0; i < 36; ++i) {
      const std::vector<int64_t> symbols = {i / 6, i % 6};
      if (facts[0].evaluate(symbols) < 0 || facts[1].evaluate(symbols) < 0) continue;
      ASSERT_GE(a.evaluate(symbols), b.evaluate(symbols)) << "n = " << symbols[0] << ", m = " << symbols[1];
    }
  }
  EXPECT_GT(num_proved, 300);
}

}  // namespace
}  // namespace inlay::kernel
