#include "memory/layout.h"

#include <cstdlib>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> messages(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : diagnostics) out.push_back(diagnostic.message);
  return out;
}

std::vector<std::string> problems(const Layout& layout, const std::vector<Storage>& storages) {
  return messages(verify(layout, storages));
}

Storage storage(int32_t begin, int32_t end, int64_t size, int64_t alignment = 1) {
  return {.live = {begin, end}, .size_bytes = size, .alignment_bytes = alignment};
}

TEST(VerifyLayout, NamesBothStoragesThatOverlapWhileLive) {
  const std::vector<Storage> storages = {storage(0, 4, 64, 32), storage(3, 6, 64, 32)};
  const Layout layout = {.offset_bytes = {0, 32}, .arena_bytes = 96};
  EXPECT_THAT(problems(layout, storages),
              ElementsAre("storage 0 [0, 64) and storage 1 [32, 96) are both live at tick 3"));
}

TEST(VerifyLayout, TakesTheSameBytesOneAfterTheOther) {
  EXPECT_THAT(problems({.offset_bytes = {0, 0}, .arena_bytes = 64}, {storage(0, 3, 64), storage(3, 6, 64)}), IsEmpty());
}

TEST(VerifyLayout, NamesEachThingThatIsWrong) {
  EXPECT_THAT(problems({.offset_bytes = {0}, .arena_bytes = 63}, {storage(0, 1, 64)}),
              ElementsAre("storage 0 [0, 64) ends after the arena's 63 bytes"));
  EXPECT_THAT(problems({.offset_bytes = {-8}, .arena_bytes = 64}, {storage(0, 1, 64)}),
              ElementsAre("storage 0 [-8, 56) begins before the arena"));
  EXPECT_THAT(problems({.offset_bytes = {8}, .arena_bytes = 72}, {storage(0, 1, 64, 16)}),
              ElementsAre("storage 0 [8, 72) is not aligned to 16"));
  EXPECT_THAT(problems({.offset_bytes = {}, .arena_bytes = 0}, {storage(0, 1, 64)}),
              ElementsAre("offsets of 0 storages, but there are 1"));
  EXPECT_THAT(problems({.offset_bytes = {0}, .arena_bytes = 0}, {storage(0, 1, -1)}),
              ElementsAre("storage 0 has -1 bytes"));
}

// Intervals: enclosing, enclosed, left, right, disjoint, touching. Naive reuses nothing, greedy what is dead.
TEST(Planners, ReuseWhatIsDead) {
  const struct {
    const char* what;
    std::vector<Storage> storages;
    int64_t naive, greedy;
  } cases[] = {
      {"nothing", {}, 0, 0},
      {"one", {storage(0, 2, 12)}, 12, 12},
      {"enclosing", {storage(0, 9, 12), storage(2, 4, 8)}, 20, 20},
      {"enclosed", {storage(2, 4, 12), storage(0, 9, 8)}, 20, 20},
      {"left", {storage(0, 4, 12), storage(3, 9, 8)}, 20, 20},
      {"right", {storage(3, 9, 12), storage(0, 4, 8)}, 20, 20},
      {"disjoint", {storage(0, 4, 12), storage(5, 9, 8)}, 20, 12},
      {"touching", {storage(0, 4, 12), storage(4, 9, 8)}, 20, 12},
      {"never live", {storage(0, 9, 12), storage(4, 4, 8)}, 20, 12},
      {"no bytes", {storage(0, 9, 12), storage(0, 9, 0), storage(0, 9, 4)}, 16, 16},
      {"a chain", {storage(0, 3, 8), storage(2, 5, 8), storage(4, 7, 8), storage(6, 9, 8)}, 32, 16},
      {"growing", {storage(0, 2, 2), storage(1, 4, 4), storage(3, 6, 8), storage(5, 8, 16)}, 30, 24},
      {"aligned", {storage(0, 9, 1, 64), storage(0, 9, 1, 64), storage(0, 9, 1, 64)}, 129, 129},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const Layout naive = plan_naive(c.storages), greedy = plan_greedy(c.storages);
    EXPECT_THAT(problems(naive, c.storages), IsEmpty());
    EXPECT_THAT(problems(greedy, c.storages), IsEmpty());
    EXPECT_EQ(naive.arena_bytes, c.naive);
    EXPECT_EQ(greedy.arena_bytes, c.greedy);
    EXPECT_EQ(greedy.lower_bound_bytes, c.greedy);
  }
}

TEST(Planners, LeaveOutputsToTheCaller) {
  std::vector<Storage> storages = {storage(0, 4, 64), storage(0, 4, 1000)};
  storages[1].owner = Owner::output;
  for (Planner planner : {Planner::naive, Planner::greedy}) {
    const Layout layout = plan(planner, storages);
    EXPECT_EQ(layout.arena_bytes, 64);
    EXPECT_EQ(layout.lower_bound_bytes, 64);
    EXPECT_THAT(layout.offset_bytes, ElementsAre(0, 0));
  }
}

// The example of the MiniMalloc paper: five buffers that fit in 12.
TEST(Planners, ReachTheBoundOnAPublishedExample) {
  const std::vector<Storage> storages = {storage(0, 3, 4), storage(3, 9, 4), storage(0, 9, 4), storage(9, 21, 4),
                                         storage(0, 21, 4)};
  const Layout layout = plan_greedy(storages);
  EXPECT_THAT(problems(layout, storages), IsEmpty());
  EXPECT_EQ(layout.arena_bytes, 12);
  EXPECT_EQ(layout.lower_bound_bytes, 12);
}

TEST(Planners, SayWhenSizesDoNotFit) {
  const std::vector<Storage> storages = {storage(0, 9, int64_t{1} << 62), storage(0, 9, int64_t{1} << 62)};
  EXPECT_THROW(plan_naive(storages), Error);
  EXPECT_THROW(plan_greedy(storages), Error);
}

TEST(Planners, AreSoundOnRandomStorages) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const auto seed = given ? static_cast<uint32_t>(std::atol(given)) : std::random_device()();
  SCOPED_TRACE("INLAY_FUZZ_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Storage> storages(static_cast<std::size_t>(below(40)));
    for (Storage& s : storages) {
      const int32_t begin = below(30);
      s = storage(begin, begin + below(10), below(4) ? below(300) : 0, int64_t{1} << below(7));
      if (below(8) == 0) s.owner = Owner::output;
    }
    const Layout naive = plan_naive(storages), greedy = plan_greedy(storages);
    ASSERT_THAT(problems(naive, storages), IsEmpty());
    ASSERT_THAT(problems(greedy, storages), IsEmpty());
    ASSERT_GE(greedy.arena_bytes, greedy.lower_bound_bytes);
    ASSERT_GE(naive.arena_bytes, greedy.lower_bound_bytes);
  }
}

// A layout that is shifted by a byte, or a life that is cut short, does not pass.
TEST(VerifyLayout, RejectsMutations) {
  const std::vector<Storage> storages = {storage(0, 4, 64), storage(1, 6, 32), storage(2, 8, 64), storage(4, 9, 64)};
  const Layout good = plan_greedy(storages);
  ASSERT_THAT(problems(good, storages), IsEmpty());
  for (std::size_t s = 0; s < storages.size(); ++s) {
    for (int64_t shift : {-1, 1}) {
      Layout bad = good;
      bad.offset_bytes[s] += shift;
      EXPECT_NE(problems(bad, storages).size(), 0u) << "storage " << s << " shifted by " << shift;
    }
  }
}

}  // namespace
}  // namespace inlay::memory
