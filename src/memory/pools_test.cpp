#include "memory/pools/pools.h"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inlay::memory::pools {
namespace {

using ::testing::ElementsAre;

Plan planned(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools = {},
             Planner planner = Planner::search) {
  EXPECT_FALSE(find_mistake(buffers, pools));
  return plan(buffers, pools, planner_of({.planner = planner}));
}

/// Returns the place of each buffer: "pool+offset".
std::vector<std::string> places(const Plan& plan) {
  std::vector<std::string> out;
  for (const Placement& p : plan.buffers) out.push_back(str(plan.pools[p.pool].pool.name, "+", p.offset_bytes));
  return out;
}

std::string mistake(const std::vector<Buffer>& buffers, const std::vector<Pool>& pools = {}) {
  const auto found = find_mistake(buffers, pools);
  return found ? str(found->buffer, ": ", found->message) : "";
}

TEST(Pools, NothingNeedsNothing) {
  const Plan plan = planned({});
  EXPECT_TRUE(plan.pools.empty());
  EXPECT_EQ(plan.peak_bytes(), 0);
  EXPECT_TRUE(plan.fits());
  EXPECT_EQ(planned({{.name = "never", .lower = 2, .upper = 2, .size = 8}}).peak_bytes(), 0);
}

TEST(Pools, ABaseLivesAsLongAsWhatLiesInIt) {
  const Buffer a{.name = "a", .lower = 0, .upper = 2, .size = 8}, c{.name = "c", .lower = 2, .upper = 4, .size = 8};
  EXPECT_EQ(planned({a, c}).peak_bytes(), 8);
  const Plan plan = planned({a, {.name = "b", .lower = 1, .upper = 4, .size = 4, .offset = 4, .base = "a"}, c});
  EXPECT_EQ(plan.peak_bytes(), 16);
  EXPECT_EQ(plan.buffers[1].offset_bytes, plan.buffers[0].offset_bytes + 4);
}

TEST(Pools, ABaseOfABaseIsAlignedAsTheStrictestAsks) {
  const Plan plan = planned({{.name = "x", .upper = 9, .size = 4},
                             {.name = "a", .upper = 9, .size = 64},
                             {.name = "b", .upper = 9, .size = 32, .alignment = 8, .offset = 16, .base = "a"},
                             {.name = "c", .upper = 9, .size = 16, .alignment = 32, .offset = 16, .base = "b"}});
  EXPECT_EQ(plan.buffers[3].offset_bytes % 32, 0);
  EXPECT_EQ(plan.buffers[3].offset_bytes, plan.buffers[1].offset_bytes + 32);
}

TEST(Pools, EntryPointsReuseBytesAndShareStates) {
  const Plan plan = planned({{.name = "state", .lower = 3, .upper = 4, .size = 16},
                             {.name = "a", .lower = 0, .upper = 5, .size = 100, .entry = "prefill"},
                             {.name = "b", .lower = 0, .upper = 9, .size = 60, .entry = "decode"},
                             {.name = "c", .lower = 4, .upper = 9, .size = 40, .entry = "decode"}});
  EXPECT_EQ(plan.peak_bytes(), 116);
  EXPECT_EQ(plan.lower_bound_bytes(), 116);
  EXPECT_GE(plan.buffers[0].live.end, plan.buffers[3].live.end);
}

TEST(Pools, EachPoolIsPlannedByItself) {
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 8, .pools = {"p"}},
                             {.name = "b", .upper = 2, .size = 8, .pools = {"q"}},
                             {.name = "c", .lower = 2, .upper = 3, .size = 16, .pools = {"q"}}});
  EXPECT_THAT(places(plan), ElementsAre("p+0", "q+0", "q+0"));
  EXPECT_EQ(plan.pools[1].peak_bytes, 16);
}

TEST(Pools, WhatCostsLeastIsSpilled) {
  const std::vector<Buffer> buffers = {{.name = "a", .upper = 4, .size = 32, .cost = 90},
                                       {.name = "b", .upper = 4, .size = 32, .cost = 10},
                                       {.name = "c", .upper = 4, .size = 32, .cost = 50}};
  const Plan plan = planned(buffers, {{"fast", 64}, {"slow"}});
  EXPECT_EQ(plan.pools[0].peak_bytes, 64);
  EXPECT_THAT(places(plan)[1], "slow+0");
  EXPECT_TRUE(plan.buffers[1].is_spilled);
  EXPECT_FALSE(plan.buffers[0].is_spilled || plan.buffers[2].is_spilled);
}

TEST(Pools, ThreeBanksOneAfterTheOther) {
  std::vector<Buffer> buffers;
  for (const char* name : {"a", "b", "c", "d", "e"}) buffers.push_back({.name = name, .upper = 4, .size = 16});
  const Plan plan = planned(buffers, {{"l1", 16}, {"l2", 32}, {"dram"}});
  EXPECT_TRUE(plan.fits());
  EXPECT_EQ(plan.pools[0].peak_bytes, 16);
  EXPECT_EQ(plan.pools[1].peak_bytes, 32);
  EXPECT_EQ(plan.pools[2].peak_bytes, 32);
}

TEST(Pools, AGroupIsSpilledAsAWhole) {
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 32, .cost = 1},
                             {.name = "b", .lower = 2, .upper = 4, .size = 8, .base = "a", .cost = 99},
                             {.name = "c", .lower = 1, .upper = 3, .size = 32, .cost = 50}},
                            {{"fast", 32}, {"slow"}});
  EXPECT_THAT(places(plan), ElementsAre("fast+0", "fast+0", "slow+0"));
}

TEST(Pools, WhatGaveWayComesBackWhenItFits) {
  // The first to go for [0, 2) is the one that costs least for its bytes, and then the large one has to go all the
  // same.
  const Plan plan = planned({{.name = "small", .upper = 2, .size = 16, .cost = 1},
                             {.name = "large", .upper = 2, .size = 100, .cost = 200},
                             {.name = "must", .upper = 2, .size = 48, .pools = {"fast"}}},
                            {{"fast", 64}, {"slow"}});
  EXPECT_THAT(places(plan)[0].substr(0, 4), "fast");
  EXPECT_THAT(places(plan)[1], "slow+0");
  EXPECT_EQ(plan.pools[0].peak_bytes, 64);
}

TEST(Pools, WhatIsTooLargeGoesFirst) {
  // It costs most, and cannot lie there: nothing else has to give way.
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 40, .cost = 1},
                             {.name = "large", .upper = 2, .size = 100, .cost = 1000},
                             {.name = "b", .upper = 2, .size = 24, .cost = 1}},
                            {{"fast", 64}, {"slow"}});
  EXPECT_THAT(places(plan), ElementsAre("fast+0", "slow+0", "fast+40"));
}

TEST(Pools, APoolThatIsTooSmallIsPassedOver) {
  const Plan plan =
      planned({{.name = "a", .upper = 2, .size = 48, .cost = 1}, {.name = "b", .upper = 2, .size = 64, .cost = 9}},
              {{"fast", 64}, {"tiny", 16}, {"slow"}});
  EXPECT_TRUE(plan.fits());
  EXPECT_THAT(places(plan), ElementsAre("slow+0", "fast+0"));
}

TEST(Pools, WhatIsCheapestMayHaveNoRoomElsewhere) {
  // `a` and `b` are cheap and may go to a pool that holds one of them; `c` may go anywhere.
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 32, .pools = {"fast", "tiny"}, .cost = 1},
                             {.name = "b", .upper = 2, .size = 32, .pools = {"fast", "tiny"}, .cost = 1},
                             {.name = "c", .upper = 2, .size = 64, .pools = {"fast", "slow"}, .cost = 99}},
                            {{"fast", 64}, {"tiny", 32}, {"slow"}});
  EXPECT_TRUE(plan.fits());
  EXPECT_EQ(plan.buffers[2].pool, 2U);
}

TEST(Pools, PoolsDoNotFillEachOtherForEver) {
  // Each pair was laid into the gap that the other one left, and so on.
  std::vector<Buffer> buffers = {{.name = "a1", .upper = 1, .size = 8, .pools = {"A", "B"}},
                                 {.name = "a2", .lower = 1, .upper = 2, .size = 8, .pools = {"A", "B"}},
                                 {.name = "b1", .upper = 1, .size = 8, .pools = {"B", "A"}},
                                 {.name = "b2", .lower = 1, .upper = 2, .size = 8, .pools = {"B", "A"}}};
  EXPECT_TRUE(planned(buffers, {{"A", 8}, {"B", 8}}, Planner::naive).fits());
  // Neither fits, whatever goes where.
  for (Buffer& b : buffers) b.size = 9;
  for (int more = 0; more < 100; ++more) buffers.push_back({.name = str("c", more), .upper = 2, .size = 5});
  EXPECT_FALSE(planned(buffers, {{"A", 8}, {"B", 16}}).fits());
}

TEST(Pools, OfFewTheCheapestChoiceIsFound) {
  const auto places_of = [](const std::vector<Buffer>& buffers, const std::vector<Pool>& pools) {
    const Plan plan = planned(buffers, pools);
    EXPECT_TRUE(plan.fits());
    std::string out;
    for (const Placement& p : plan.buffers) out += plan.pools[p.pool].pool.name;
    return out;
  };
  EXPECT_EQ(places_of({{.name = "b0", .upper = 2, .size = 12, .alignment = 2, .cost = 6},
                       {.name = "b1", .upper = 3, .size = 7},
                       {.name = "b2", .lower = 2, .upper = 3, .size = 9}},
                      {{"A", 9}, {"B", 14}}),
            "BAB");
  EXPECT_EQ(places_of({{.name = "b0", .upper = 3, .size = 9, .pools = {"C", "B", "A"}},
                       {.name = "b1", .lower = 1, .upper = 5, .size = 10, .pools = {"C", "A"}},
                       {.name = "b2", .upper = 1, .size = 10, .pools = {"A"}, .cost = 10}},
                      {{"A", 15}, {"B", 0}, {"C", 16}}),
            "CAA");
}

/// Against every choice, where nothing lives with what is not needed all the time: then bytes are sums.
TEST(Pools, NoChoiceOfFewIsCheaper) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Buffer> buffers;
    for (int n = 0; n < 6; ++n)
      buffers.push_back({.name = str("b", n),
                         .upper = 2,
                         .size = static_cast<int64_t>(1 + random() % 20),
                         .cost = static_cast<int64_t>(random() % 50)});
    const std::vector<Pool> pools = {{"fast", 24}, {"mid", 20}, {"slow", static_cast<int64_t>(random() % 40)}};
    std::optional<int64_t> minimum;
    for (int choice = 0; choice < 729; ++choice) {
      std::array<int64_t, 3> bytes{};
      int64_t cost = 0, rest = choice;
      for (const Buffer& b : buffers) {
        bytes[static_cast<std::size_t>(rest % 3)] += b.size;
        cost += rest % 3 == 0 ? 0 : *b.cost;
        rest /= 3;
      }
      if (bytes[0] <= 24 && bytes[1] <= 20 && bytes[2] <= pools[2].capacity_bytes)
        minimum = std::min(cost, minimum.value_or(cost));
    }
    const Plan plan = planned(buffers, pools);
    EXPECT_EQ(plan.fits(), minimum.has_value()) << seed;
    int64_t cost = 0;
    for (std::size_t b = 0; b < buffers.size(); ++b) cost += plan.buffers[b].is_spilled ? *buffers[b].cost : 0;
    EXPECT_EQ(cost, minimum.value_or(cost)) << seed;
  }
}

TEST(Pools, WhatMustStayMakesNothingElseGo) {
  // The two that must lie there are too much together, whatever gives way.
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 40, .pools = {"fast"}},
                             {.name = "b", .upper = 2, .size = 40, .pools = {"fast"}},
                             {.name = "c", .lower = 2, .upper = 4, .size = 60}},
                            {{"fast", 64}, {"slow"}});
  EXPECT_FALSE(plan.fits());
  EXPECT_FALSE(plan.buffers[2].is_spilled);
}

TEST(Pools, WithoutPoolsGivenABufferMayLieInAnyThatAnotherOneNames) {
  const Plan plan =
      planned({{.name = "a", .upper = 2, .size = 8, .pools = {"p", "q"}}, {.name = "b", .upper = 2, .size = 8}});
  EXPECT_EQ(plan.pools.size(), 2U);
  EXPECT_THAT(places(plan), ElementsAre("p+0", "p+8"));
}

TEST(Pools, ManyThatAreSpilledTakeFewPlans) {
  std::vector<Buffer> buffers;
  std::mt19937_64 random(5);
  for (int b = 0; b < 1000; ++b) {
    const auto lower = static_cast<int64_t>(random() % 500), size = static_cast<int64_t>(1 + random() % 1000);
    buffers.push_back({.name = str("b", b),
                       .lower = lower,
                       .upper = lower + 1 + static_cast<int64_t>(random() % 100),
                       .size = size,
                       .alignment = int64_t{1} << (random() % 8)});
  }
  for (bool may_fill_gaps : {true, false}) {
    int num_plans = 0, num_full = 0;
    PoolPlanner counted = planner_of({.planner = Planner::greedy});
    counted = {.plan =
                   [&, plan_one = counted.plan](const OnePool& pool) {
                     ++num_plans;
                     num_full += pool.is_trial ? 0 : 1;
                     return plan_one(pool);
                   },
               .may_fill_gaps = may_fill_gaps};
    const Plan found = plan(buffers, {{"fast", 5000}, {"slow"}}, counted);
    EXPECT_TRUE(found.fits());
    EXPECT_GT(std::ranges::count_if(found.buffers, &Placement::is_spilled), 500);
    EXPECT_LE(num_plans, 100);
    EXPECT_LE(num_full, 2);  // one for each pool
  }
}

TEST(Pools, LongChainsOfBasesAndManyEntries) {
  std::vector<Buffer> buffers = {{.name = "b0", .upper = 2, .size = 8}};
  for (int b = 1; b < 20000; ++b)
    buffers.push_back({.name = str("b", b), .upper = 2, .size = 8, .base = str("b", b - 1)});
  EXPECT_EQ(planned(buffers).peak_bytes(), 8);
  std::ranges::reverse(buffers);
  EXPECT_EQ(planned(buffers).peak_bytes(), 8);
  for (std::size_t b = 0; b < buffers.size(); ++b) buffers[b].base = "", buffers[b].entry = str("e", b);
  EXPECT_EQ(planned(buffers, {}, Planner::naive).buffers.back().live.begin, 39998);
}

TEST(Pools, APlanThatDoesNotFitSaysSo) {
  const std::vector<Buffer> buffers = {{.name = "a", .upper = 2, .size = 32, .pools = {"fast"}},
                                       {.name = "b", .upper = 2, .size = 40, .pools = {"fast"}}};
  const Plan plan = planned(buffers, {{"fast", 64}, {"slow"}});
  EXPECT_FALSE(plan.fits());
  EXPECT_EQ(plan.pools[0].peak_bytes, 72);
}

TEST(Pools, WhatIsPinnedStays) {
  const Plan plan = planned({{.name = "a", .upper = 2, .size = 32, .offset = 32, .cost = 0},
                             {.name = "b", .upper = 2, .size = 40, .cost = 1000}},
                            {{"fast", 64}, {"slow"}});
  EXPECT_THAT(places(plan), ElementsAre("fast+32", "slow+0"));
}

TEST(Pools, MistakesOfWhatIsPinned) {
  const Buffer pinned{.name = "a", .upper = 2, .size = 32, .offset = 4};
  EXPECT_EQ(mistake({pinned, {.name = "b", .upper = 2, .size = 8, .alignment = 8, .base = "a"}}),
            "1: b begins at 4, since a is pinned to 4: no multiple of its alignment, 8");
  Buffer other = pinned;
  other.name = "b", other.pools = {"fast"};
  EXPECT_EQ(mistake({pinned, other}), "1: b is pinned to [4, 36), where a lies at the same time");
  EXPECT_EQ(mistake({pinned, other}, {{"slow"}, {"fast"}}), "");
  // What lies in it makes it live longer.
  EXPECT_EQ(mistake({{.name = "x", .upper = 1, .size = 8, .offset = 0},
                     {.name = "v", .lower = 1, .upper = 3, .size = 8, .base = "x"},
                     {.name = "y", .lower = 2, .upper = 4, .size = 8, .offset = 0}}),
            "2: y is pinned to [0, 8), where x lies at the same time");
  // It needs no bytes, and lies where it was pinned all the same.
  EXPECT_THAT(places(planned({{.name = "x", .lower = 2, .upper = 2, .size = 16, .offset = 100}})), ElementsAre("+100"));
  EXPECT_EQ(mistake({{.name = "a", .base = "b"}, {.name = "b", .base = "c"}, {.name = "c", .base = "b"}}),
            "1: b lies in itself");
}

TEST(Pools, MistakesNameTheirBuffer) {
  const Buffer a{.name = "a", .upper = 2, .size = 8, .pools = {"p"}};
  EXPECT_EQ(mistake({a, a}), "1: there are two buffers a");
  EXPECT_EQ(mistake({{.name = "b", .upper = 2, .size = 8, .pools = {"p", ""}}}), "0: a pool of b has no name");
  EXPECT_EQ(mistake({{.name = "b", .upper = 2, .size = 8, .pools = {"p", "p"}}}), "0: pool p of b is named twice");
  EXPECT_EQ(mistake({a}, {{"q"}, {""}}), "0: pool p of a is not among the pools: q, one without a name");
  EXPECT_EQ(mistake({a, {.name = "b", .upper = 2, .size = 8, .base = "a", .pools = {"q"}}}),
            "1: b lies in a, whose pools it has");
  EXPECT_EQ(mistake({{.name = "b", .upper = 2, .cost = -7}}), "0: cost -7 of b is negative");
}

/// What holds for every plan.
void judge(const std::vector<Buffer>& buffers, const Plan& plan) {
  std::map<std::string, std::size_t> at;
  for (std::size_t b = 0; b < buffers.size(); ++b) at[buffers[b].name] = b;
  const auto root_of = [&](std::size_t b) {
    while (!buffers[b].base.empty()) b = at[buffers[b].base];
    return b;
  };
  std::vector<int64_t> end(plan.pools.size(), 0);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Placement& mine = plan.buffers[i];
    ASSERT_GE(mine.offset_bytes, 0);
    ASSERT_EQ(mine.offset_bytes % buffers[i].alignment, 0);
    if (!buffers[i].base.empty()) {
      const Placement& in = plan.buffers[at[buffers[i].base]];
      ASSERT_EQ(mine.pool, in.pool);
      ASSERT_EQ(mine.offset_bytes, in.offset_bytes + buffers[i].offset.value_or(0));
    }
    const bool is_pinned = buffers[i].base.empty() && buffers[i].offset;
    ASSERT_EQ(mine.offset_bytes, is_pinned ? *buffers[i].offset : mine.offset_bytes);
    if (buffers[i].lower == buffers[i].upper) continue;  // it needs no bytes
    end[mine.pool] = std::max(end[mine.pool], mine.offset_bytes + buffers[i].size);
    for (std::size_t k = 0; k < i; ++k) {
      const Placement& other = plan.buffers[k];
      if (mine.pool != other.pool || root_of(i) == root_of(k)) continue;
      const bool same_entry =
          buffers[i].entry == buffers[k].entry || buffers[i].entry.empty() || buffers[k].entry.empty();
      const bool any = buffers[i].entry.empty() != buffers[k].entry.empty();
      if (!same_entry || (!any && (buffers[i].upper <= buffers[k].lower || buffers[k].upper <= buffers[i].lower)))
        continue;
      if (buffers[i].lower == buffers[i].upper || buffers[k].lower == buffers[k].upper) continue;
      ASSERT_TRUE(mine.offset_bytes + buffers[i].size <= other.offset_bytes ||
                  other.offset_bytes + buffers[k].size <= mine.offset_bytes)
          << buffers[i].name << " and " << buffers[k].name;
    }
  }
  for (std::size_t p = 0; p < plan.pools.size(); ++p) {
    ASSERT_LE(end[p], plan.pools[p].peak_bytes);
    ASSERT_LE(plan.pools[p].lower_bound_bytes, plan.pools[p].peak_bytes);
  }
}

TEST(Pools, RandomProblemsGetRightPlans) {
  int num_spilled = 0, num_fit = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&](int64_t minimum, int64_t most) {
      return std::uniform_int_distribution<int64_t>(minimum, most)(random);
    };
    const bool has_entries = any(0, 1) == 1;
    std::vector<Buffer> buffers;
    for (int64_t n = any(0, 30); n > 0; --n) {
      Buffer b{.name = str("b", n), .lower = any(0, 20), .size = any(0, 64), .alignment = int64_t{1} << any(0, 4)};
      b.upper = b.lower + any(0, 8);
      if (has_entries) b.entry = std::array{"", "f", "g"}[static_cast<std::size_t>(any(0, 2))];
      const std::vector<std::string> lists[] = {{"fast"}, {"slow"}, {"fast", "slow"}, {"slow", "fast"}};
      if (any(0, 1) == 0) b.pools = lists[any(0, 3)];
      if (any(0, 2) == 0) b.cost = any(0, 100);
      if (!buffers.empty() && any(0, 3) == 0) {
        const Buffer& base = buffers[static_cast<std::size_t>(any(0, static_cast<int64_t>(buffers.size()) - 1))];
        b.base = base.name, b.entry = base.entry, b.pools = {}, b.alignment = 1;
        b.offset = any(0, base.size), b.size = any(0, base.size - *b.offset);
      }
      buffers.push_back(b);
    }
    const std::vector<Pool> pools = {{"fast", any(64, 400)}, {"slow", any(0, 1) == 0 ? -1 : any(100, 800)}};
    const Plan plan = planned(buffers, pools, Planner::greedy);
    judge(buffers, plan);
    num_spilled += std::ranges::any_of(plan.buffers, &Placement::is_spilled) ? 1 : 0;
    num_fit += plan.fits() ? 1 : 0;
  }
  EXPECT_GT(num_spilled, 50);
  EXPECT_GT(num_fit, 100);
}

}  // namespace
}  // namespace inlay::memory::pools
