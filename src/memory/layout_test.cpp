#include "memory/layout.h"

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
  std::vector<Storage> pinned = {storage(0, 1, 64)};
  pinned[0].pinned_bytes = 32;
  EXPECT_THAT(problems({.offset_bytes = {0}, .arena_bytes = 96}, pinned),
              ElementsAre("storage 0 [0, 64) is pinned to 32"));
}

// A layout that is shifted by a byte, or a life that is cut short, does not pass.
TEST(VerifyLayout, RejectsMutations) {
  const std::vector<Storage> storages = {storage(0, 4, 64), storage(1, 6, 32), storage(2, 8, 64), storage(4, 9, 64)};
  const Layout good = plan(Planner::greedy, storages);
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
