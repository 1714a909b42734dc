#include "memory/upper_bound.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "explain/memory_map.h"
#include "memory/plan.h"
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1));

/// The largest value, found by trying all.
int64_t largest(const Dim& size, int64_t most_n, int64_t most_m) {
  int64_t out = INT64_MIN;
  for (int64_t i = 0; i <= most_n; ++i) {
    for (int64_t j = 0; j <= most_m; ++j) out = std::max(out, size.evaluate(std::vector<int64_t>{i, j}));
  }
  return out;
}

TEST(UpperBound, IsExactWhereSizesGrow) {
  for (const Dim& size : {Dim(7), 8 * n, 8 * n * m + 64, floor_div(n + 15, 16) * 128, max(n, m) * 4, min(n, m) + n}) {
    const std::vector<int64_t> bounds = {9, 5};
    EXPECT_EQ(at_most(size, bounds), largest(size, 9, 5));
  }
}

TEST(UpperBound, IsNeverTooSmallWhereTheyDoNot) {
  for (const Dim& size : {n - m, Dim(8) - n, (n - m) * (n - m), max(n - m, Dim(0)) * 8, floor_div(n, m),
                          floor_div(n - m, Dim(3)), floor_div(Dim(20), m + 1), min(n - m, m - n), n * (Dim(6) - m),
                          floor_div(n - 10, m - 2), floor_div(n - 4, m - 9), floor_div(n, m - 3)}) {
    for (int64_t most_n : {0, 1, 4, 9}) {
      for (int64_t most_m : {0, 1, 5}) {
        const std::vector<int64_t> bounds = {most_n, most_m};
        EXPECT_GE(at_most(size, bounds), largest(size, most_n, most_m)) << most_n << ", " << most_m;
      }
    }
  }
}

TEST(UpperBound, DoesNotWrapAround) {
  const std::vector<int64_t> bounds = {INT64_MAX / 2, INT64_MAX / 2};
  EXPECT_THROW(at_most(8 * n, bounds), Error);
  EXPECT_THROW(at_most(n + m + n, bounds), Error);
}

constexpr std::string_view kProgram = R"(
program @main(x: f64[n, m] param 0, a: f64[n, m] temporary, b: f64[n, m] temporary, r: f64[m] output 0)
    symbols n = x.0, m = x.1 {
  kernel @k0 {
    stage (i < n, j < m) {
      %0 = load x[i, j] : f64
      store a[i, j] set %0
    }
  }
  kernel @k1 {
    stage (i < n, j < m) {
      %0 = load a[i, n - 1 - j] : f64
      store b[i, j] set %0
    }
  }
  kernel @k2 {
    out r start fill 0.0
    stage (i < n, j < m) {
      %0 = load b[i, j] : f64
      %1 = load a[i, j] : f64
      %2 = mul %0, %1 : f64
      fold add r[j] %2 : f64
    }
  }
})";

TEST(UpperBound, OneLayoutForAllSizesUpToIt) {
  const auto [program, plan] = plan_memory(kernel::parse(kProgram), {.upper_bounds = {{"n", 3}, {"m", 4}}});
  EXPECT_TRUE(plan.is_static);
  EXPECT_EQ(plan.arena_bytes(), 128 + 96);  // a and b, each of 96 bytes at a multiple of 64
  for (int64_t i = 1; i <= 3; ++i) {
    const std::vector<int64_t> sizes = {i, i};
    EXPECT_TRUE(verify(program, plan, plan.layouts, sizes).empty());
  }
  EXPECT_EQ(explain::memory_map(program, plan).substr(0, 68),
            "memory: arena 224 bytes, lower bound 224 for n up to 3, m up to 4\n  ");
}

TEST(UpperBound, OfASizeThatIsFoundEqualToAnother) {
  const char* const text = R"(program @main(x: f64[n] param 0, y: f64[m] param 1, a: f64[m, 2] temporary,
    r: f64[n] output 0) symbols n = x.0, m = y.0 {
  check n == 2*m + 1 #0
  sites { #0 shape-mismatch "" }
})";
  const auto bounds = [&](Sizes given) {
    const MemoryPlan plan = plan_memory(kernel::parse(text), {.upper_bounds = std::move(given)}).plan;
    return std::pair(plan.upper_bounds[SymbolId(0)], plan.upper_bounds[SymbolId(1)]);
  };
  EXPECT_EQ(bounds({{"n", 10}}), std::pair(int64_t{10}, int64_t{4}));
  EXPECT_EQ(bounds({{"m", 4}}), std::pair(int64_t{9}, int64_t{4}));
  EXPECT_EQ(bounds({{"n", 10}, {"m", 7}}), std::pair(int64_t{10}, int64_t{7}));
}

TEST(UpperBound, NamesTheSizeThatHasNone) {
  const kernel::KernelProgram program = kernel::parse(kProgram);
  const auto message = [&](Sizes bounds) -> std::string {
    try {
      plan_memory(program, {.upper_bounds = std::move(bounds)});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message({{"n", 3}}),
            "error[upper-bound]: the size of a depends on m, which has no upper bound\n"
            "  help: give one for each size that working memory depends on, or none at all");
  EXPECT_EQ(message({{"k", 3}}), "error[unknown-name]: the program has no size called k, but n, m");
  EXPECT_EQ(message({{"n", -1}}), "error[negative-size]: the size n is given as -1");
}

}  // namespace
}  // namespace inlay::memory
