// Every planner: what it must reach, what it must never do, and that it ends the same way wherever it runs.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/layout.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StrEq;

std::vector<std::string> problems(const Layout& layout, const std::vector<Storage>& storages) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : verify(layout, storages)) out.push_back(diagnostic.message);
  return out;
}

Storage storage(int32_t begin, int32_t end, int64_t size, int64_t alignment = 1, int64_t pinned = -1) {
  return {.live = {begin, end}, .size_bytes = size, .alignment_bytes = alignment, .pinned_bytes = pinned};
}

std::string text_of(const std::vector<Storage>& storages) {
  std::string out;
  for (const Storage& s : storages) {
    if (!is_placed(s)) continue;
    out += str("\n[", s.live.begin, ", ", s.live.end, ") ", s.size_bytes, " bytes aligned to ", s.alignment_bytes);
    if (s.is_pinned()) out += str(" pinned to ", s.pinned_bytes);
  }
  return out;
}

/// Each planner, as it is used where a test shall not take long.
constexpr Effort kPlanners[] = {{.planner = Planner::naive},
                                {.planner = Planner::greedy},
                                {.planner = Planner::search},
                                {.planner = Planner::max, .budget_ms = 20}};

/// A generator whose seed is printed with a failure, and may be given.
class Random {
 public:
  Random() {
    const char* given = std::getenv("INLAY_FUZZ_SEED");
    seed_ = given ? static_cast<uint32_t>(std::atol(given)) : std::random_device()();
    generator_.seed(seed_);
  }
  std::string seed() const { return "INLAY_FUZZ_SEED=" + std::to_string(seed_); }
  int32_t below(int32_t n) { return static_cast<int32_t>(generator_() % static_cast<uint32_t>(n)); }
  void shuffle(std::vector<Storage>& storages) { std::shuffle(storages.begin(), storages.end(), generator_); }

 private:
  uint32_t seed_ = 0;
  std::mt19937 generator_;
};

std::vector<Storage> random_storages(Random& random, int32_t most, int32_t ticks) {
  std::vector<Storage> out(static_cast<std::size_t>(random.below(most + 1)));
  for (Storage& s : out) {
    const int32_t begin = random.below(ticks);
    s = storage(begin, begin + random.below(ticks / 2 + 1), random.below(6) ? random.below(40) : 0,
                int64_t{1} << random.below(4));
    if (random.below(8) == 0) s.owner = Owner::output;
  }
  return out;
}

/// Pins some of them where a plan has put them, so that a plan exists.
void pin_some(Random& random, std::vector<Storage>& storages) {
  const Layout layout = plan(Planner::greedy, storages);
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (random.below(4) == 0) storages[s].pinned_bytes = layout.offset_bytes[s] + random.below(2) * 64;
  }
}

bool has_overlapping_pins(const std::vector<Storage>& storages) {
  try {
    plan(Planner::naive, storages);
    return false;
  } catch (const Error&) {
    return true;
  }
}

/// The smallest arena there is: any plan can be pushed down, so one that places in some order, each as low as it can,
/// is as good as the best.
int64_t minimum_arena_bytes(const std::vector<Storage>& storages) {
  std::vector<std::size_t> order;
  Layout layout{.offset_bytes = std::vector<int64_t>(storages.size(), 0)};
  int64_t minimum_bytes = 0;
  for (std::size_t s = 0; s < storages.size(); ++s) {
    if (!is_placed(storages[s])) continue;
    if (storages[s].is_pinned()) layout.offset_bytes[s] = storages[s].pinned_bytes;
    minimum_bytes = std::max(minimum_bytes, layout.offset_bytes[s] + storages[s].size_bytes);
    if (!storages[s].is_pinned()) order.push_back(s);
  }
  int64_t best = INT64_MAX;
  do {
    int64_t arena = minimum_bytes;
    for (auto s = order.begin(); s != order.end(); ++s) {
      int64_t& at = layout.offset_bytes[*s] = 0;
      const auto collides = [&](std::size_t other) {
        const bool is_there = storages[other].is_pinned() || std::find(order.begin(), s, other) != s;
        return other != *s && is_placed(storages[other]) && is_there && meet(storages[other].live, storages[*s].live) &&
               at < layout.offset_bytes[other] + storages[other].size_bytes &&
               layout.offset_bytes[other] < at + storages[*s].size_bytes;
      };
      for (std::size_t other = 0; other < storages.size(); ++other) {
        if (!collides(other)) continue;
        at = round_up(layout.offset_bytes[other] + storages[other].size_bytes, storages[*s].alignment_bytes);
        other = static_cast<std::size_t>(-1);  // once more from the first
      }
      arena = std::max(arena, at + storages[*s].size_bytes);
    }
    best = std::min(best, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// A full rectangle, cut into pieces again and again: a plan without any gap exists.
std::vector<Storage> full_rectangle(Random& random, int32_t ticks, int64_t bytes, int pieces) {
  struct Piece {
    int32_t begin, end;
    int64_t bytes;
  };
  std::vector<Piece> out = {{0, ticks, bytes}};
  for (int tries = 0; static_cast<int>(out.size()) < pieces && tries < 20 * pieces; ++tries) {
    Piece& piece = out[static_cast<std::size_t>(random.below(static_cast<int32_t>(out.size())))];
    Piece rest = piece;
    if (random.below(2) && piece.end - piece.begin > 1) {
      piece.end = rest.begin = piece.begin + 1 + random.below(piece.end - piece.begin - 1);
    } else if (piece.bytes > 1) {
      rest.bytes = 1 + random.below(static_cast<int32_t>(piece.bytes) - 1);
      piece.bytes -= rest.bytes;
    } else {
      continue;
    }
    out.push_back(rest);
  }
  std::vector<Storage> storages;
  for (const Piece& piece : out) storages.push_back(storage(piece.begin, piece.end, piece.bytes));
  random.shuffle(storages);
  return storages;
}

// Intervals: enclosing, enclosed, left, right, disjoint, touching. Naive reuses nothing, the others what is dead.
TEST(Planners, ReuseWhatIsDead) {
  const struct {
    const char* what;
    std::vector<Storage> storages;
    int64_t naive, others;
  } cases[] = {
      {"nothing", {}, 0, 0},
      {"one", {storage(0, 2, 12)}, 12, 12},
      {"enclosing", {storage(0, 9, 12), storage(2, 4, 8)}, 20, 20},
      {"enclosed", {storage(2, 4, 12), storage(0, 9, 8)}, 20, 20},
      {"left", {storage(0, 4, 12), storage(3, 9, 8)}, 20, 20},
      {"right", {storage(3, 9, 12), storage(0, 4, 8)}, 20, 20},
      {"disjoint before", {storage(0, 4, 12), storage(5, 9, 8)}, 20, 12},
      {"disjoint behind", {storage(5, 9, 12), storage(0, 4, 8)}, 20, 12},
      {"touching", {storage(0, 4, 12), storage(4, 9, 8)}, 20, 12},
      {"one tick in common", {storage(0, 5, 12), storage(4, 9, 8)}, 20, 20},
      {"never live", {storage(0, 9, 12), storage(4, 4, 8)}, 20, 12},
      {"never live and larger", {storage(0, 9, 12), storage(4, 4, 32)}, 44, 32},
      {"no bytes", {storage(0, 9, 12), storage(0, 9, 0), storage(0, 9, 4)}, 16, 16},
      {"a chain", {storage(0, 3, 8), storage(2, 5, 8), storage(4, 7, 8), storage(6, 9, 8)}, 32, 16},
      {"growing", {storage(0, 2, 2), storage(1, 4, 4), storage(3, 6, 8), storage(5, 8, 16)}, 30, 24},
      {"growing to 256",
       {storage(0, 4, 2), storage(2, 6, 4), storage(4, 8, 8), storage(6, 10, 16), storage(8, 12, 32),
        storage(10, 14, 64), storage(12, 16, 128), storage(14, 18, 256)},
       510,
       384},
      {"aligned to 1", {storage(0, 9, 1), storage(0, 9, 1), storage(0, 9, 1)}, 3, 3},
      {"aligned to 16", {storage(0, 9, 1, 16), storage(0, 9, 1, 16), storage(0, 9, 1, 16)}, 33, 33},
      {"aligned to 64", {storage(0, 9, 1, 64), storage(0, 9, 1, 64), storage(0, 9, 1, 64)}, 129, 129},
      {"an alignment each", {storage(0, 9, 4, 4), storage(0, 9, 32, 32), storage(0, 9, 16, 16)}, 80, 52},
      {"pinned", {storage(0, 9, 8), storage(0, 9, 8, 1, 8), storage(0, 9, 8)}, 32, 24},
      {"pinned with a gap that nothing fits", {storage(0, 9, 8), storage(0, 9, 8, 1, 4)}, 20, 20},
      {"pinned one after the other", {storage(0, 4, 8, 1, 0), storage(4, 9, 8, 1, 4), storage(0, 9, 4)}, 16, 16},
      {"pinned, and lives later", {storage(0, 4, 8), storage(4, 9, 8, 1, 0)}, 16, 8},
  };
  for (const auto& c : cases) {
    for (const Effort& effort : kPlanners) {
      SCOPED_TRACE(str(c.what, ", ", planner_name(effort.planner)));
      const Layout layout = plan(effort, c.storages);
      EXPECT_THAT(problems(layout, c.storages), IsEmpty());
      EXPECT_EQ(layout.arena_bytes, effort.planner == Planner::naive ? c.naive : c.others);
    }
  }
}

TEST(Planners, LeaveOutputsToTheCaller) {
  std::vector<Storage> storages = {storage(0, 4, 64), storage(0, 4, 1000)};
  storages[1].owner = Owner::output;
  for (const Effort& effort : kPlanners) {
    const Layout layout = plan(effort, storages);
    EXPECT_EQ(layout.arena_bytes, 64);
    EXPECT_EQ(layout.lower_bound_bytes, 64);
    EXPECT_THAT(layout.offset_bytes, ElementsAre(0, 0));
  }
}

// The example of the MiniMalloc paper: five buffers that fit in 12.
TEST(Planners, ReachTheBoundOnAPublishedExample) {
  const std::vector<Storage> storages = {storage(0, 3, 4), storage(3, 9, 4), storage(0, 9, 4), storage(9, 21, 4),
                                         storage(0, 21, 4)};
  for (Planner planner : {Planner::greedy, Planner::search, Planner::max}) {
    const Layout layout = plan(planner, storages);
    EXPECT_THAT(problems(layout, storages), IsEmpty());
    EXPECT_EQ(layout.arena_bytes, 12);
    EXPECT_TRUE(layout.is_proved());
  }
}

// What lies above all others needs no room for the alignment of a next one.
TEST(Planners, PutOnTopWhatLeavesMost) {
  const std::vector<Storage> storages = {storage(0, 9, 1, 64), storage(0, 9, 64, 64)};
  EXPECT_EQ(plan(Planner::greedy, storages).arena_bytes, 128);
  EXPECT_EQ(plan(Planner::search, storages).arena_bytes, 65);
}

TEST(Planners, SayWhenSizesDoNotFit) {
  const std::vector<Storage> storages = {storage(0, 9, int64_t{1} << 62), storage(0, 9, int64_t{1} << 62)};
  const std::vector<Storage> pinned = {storage(0, 9, 16, 1, INT64_MAX - 8)};
  for (const Effort& effort : kPlanners) {
    EXPECT_THROW(plan(effort, storages), Error);
    EXPECT_THROW(plan(effort, pinned), Error);
  }
  // Large, but not all at once.
  const std::vector<Storage> in_turn = {storage(0, 4, int64_t{1} << 62), storage(4, 9, int64_t{1} << 62)};
  EXPECT_EQ(plan(Planner::search, in_turn).arena_bytes, int64_t{1} << 62);
}

TEST(Planners, SayWhichPinsAreWrong) {
  const auto message = [](const std::vector<Storage>& storages) -> std::string {
    try {
      plan(Planner::search, storages);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message({storage(0, 4, 8), storage(0, 9, 8, 1, 0), storage(3, 5, 8, 1, 4)}),
              StrEq("error[wrong-plan]: storages 1 and 2 are pinned to bytes that overlap\n"
                    "  storage 1 [0, 8) from tick 0 to 9\n"
                    "  storage 2 [4, 12) from tick 3 to 5"));
  EXPECT_THAT(message({storage(0, 4, 8, 16, 8)}),
              StrEq("error[wrong-plan]: storage 0 is pinned to 8, which is not aligned to 16"));
}

TEST(Planners, AreNamed) {
  for (const Effort& effort : kPlanners)
    EXPECT_EQ(planner_named(planner_name(effort.planner), "--planner"), effort.planner);
  EXPECT_THROW(planner_named("best", "--planner"), Error);
}

// Fixed offsets, or a function of a user's: proved as any other plan.
TEST(Planners, ProveACustomPlan) {
  const std::vector<Storage> storages = {storage(0, 4, 8), storage(2, 6, 8), storage(5, 9, 4)};
  const auto fixed = [&](std::vector<int64_t> offsets) {
    return plan_custom([offsets](std::span<const StorageToPlace>) { return offsets; }, storages);
  };
  EXPECT_EQ(fixed({0, 8, 0}).arena_bytes, 16);
  EXPECT_TRUE(fixed({0, 8, 0}).is_proved());
  EXPECT_FALSE(fixed({0, 8, 20}).is_proved());
  const auto message = [&](std::vector<int64_t> offsets) -> std::string {
    try {
      fixed(std::move(offsets));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(
      message({0, 7, 0}),
      "error[wrong-plan]: the custom plan is wrong: storage 0 [0, 8) and storage 1 [7, 15) are both live at tick 2");
  EXPECT_EQ(message({0, -8, 0}), "error[wrong-plan]: storage 1 begins before the arena, at -8");
  EXPECT_EQ(message({0, 8}), "error[wrong-plan]: the custom plan is wrong: offsets of 2 storages, but there are 3");
}

TEST(Planners, AreSoundOnRandomStorages) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 300; ++round) {
    std::vector<Storage> storages = random_storages(random, 40, 30);
    if (round % 2) pin_some(random, storages);
    if (has_overlapping_pins(storages)) continue;
    int64_t before = INT64_MAX;
    for (const Effort& effort : kPlanners) {
      SCOPED_TRACE(str(planner_name(effort.planner), text_of(storages)));
      const Layout layout = plan({.planner = effort.planner, .budget_ms = 2}, storages);
      ASSERT_THAT(problems(layout, storages), IsEmpty());
      ASSERT_GE(layout.lower_bound_bytes, lower_bound_bytes(storages));
      ASSERT_GE(layout.arena_bytes, layout.lower_bound_bytes);
      ASSERT_LE(layout.arena_bytes, before);
      before = layout.arena_bytes;
    }
  }
}

// What a search calls proved is the best of all plans, and small problems are always proved.
TEST(Planners, ProveWhatIsBest) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 400; ++round) {
    std::vector<Storage> storages = random_storages(random, 7, 8);
    if (round % 2) pin_some(random, storages);
    if (has_overlapping_pins(storages)) continue;
    SCOPED_TRACE(text_of(storages));
    const Layout layout = plan(Planner::search, storages);
    ASSERT_THAT(problems(layout, storages), IsEmpty());
    EXPECT_TRUE(layout.is_proved());
    ASSERT_EQ(layout.arena_bytes, minimum_arena_bytes(storages));
  }
}

TEST(Planners, FillARectangle) {
  Random random;
  SCOPED_TRACE(random.seed());
  int full = 0;
  for (int round = 0; round < 20; ++round) {
    const std::vector<Storage> storages = full_rectangle(random, 40, 1000, 40);
    const Layout layout = plan(Effort{.planner = Planner::max, .budget_ms = 200}, storages);
    ASSERT_THAT(problems(layout, storages), IsEmpty());
    full += layout.arena_bytes == 1000;
  }
  EXPECT_GE(full, 16);  // one in hundreds is hard
}

// The order of rows says nothing; a budget counts placements, so a clock decides nothing either.
TEST(Planners, EndTheSameWay) {
  Random random;
  SCOPED_TRACE(random.seed());
  for (int round = 0; round < 20; ++round) {
    std::vector<Storage> storages = full_rectangle(random, 60, 5000, 150);
    for (const Effort& effort : kPlanners) {
      const Effort little{.planner = effort.planner, .budget_ms = 1};
      const Layout first = plan(little, storages), second = plan(little, storages);
      EXPECT_EQ(first.offset_bytes, second.offset_bytes);
      EXPECT_EQ(first.placements, second.placements);
      random.shuffle(storages);
      const Layout shuffled = plan(little, storages);
      EXPECT_EQ(first.arena_bytes, shuffled.arena_bytes);
      EXPECT_EQ(first.placements, shuffled.placements);
    }
  }
}

TEST(Planners, StopWhereTheBudgetEnds) {
  Random random;
  SCOPED_TRACE(random.seed());
  const std::vector<Storage> storages = full_rectangle(random, 300, 100'000, 400);
  const Layout none = plan(Effort{.budget_ms = 0}, storages), some = plan(Effort{.budget_ms = 4}, storages);
  EXPECT_LE(none.placements, 1);
  EXPECT_LE(some.placements, 4 * 1000);
  EXPECT_LE(some.arena_bytes, none.arena_bytes);
  EXPECT_THAT(problems(none, storages), IsEmpty());
  EXPECT_THAT(problems(some, storages), IsEmpty());
}

}  // namespace
}  // namespace inlay::memory
