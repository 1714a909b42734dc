#include "ir/positions.h"

#include <gmock/gmock.h>

namespace inlay {
namespace {

using testing::ElementsAre;
using testing::Optional;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Positions, CountsElements) {
  EXPECT_EQ(num_elements({}), 1);
  EXPECT_EQ(num_elements(std::vector<int64_t>{2, 3}), 6);
  EXPECT_EQ(num_elements(std::vector<int64_t>{2, 0, 3}), 0);
}

// 3 * 6148914691236517206 is 2^64 + 2.
TEST(Positions, OfMoreElementsThanAnI64HoldsCountsTheLargest) {
  const int64_t wraps_to_2[] = {6148914691236517206, 3}, with_0[] = {6148914691236517206, 3, 0};
  EXPECT_EQ(num_elements(wraps_to_2), kMost);
  EXPECT_EQ(num_elements(with_0), 0);
}

TEST(Positions, KnowsSmallDims) {
  const auto of = [](std::vector<Dim> dims) { return constant_dims(dims, 16); };
  EXPECT_THAT(of({}), Optional(ElementsAre()));
  EXPECT_THAT(of({4, 4}), Optional(ElementsAre(4, 4)));
  EXPECT_THAT(of({100, 0}), Optional(ElementsAre(100, 0)));
  EXPECT_EQ(of({4, 5}), std::nullopt);
  EXPECT_EQ(of({Dim::symbol(SymbolId(0))}), std::nullopt);
  EXPECT_EQ(of({6148914691236517206, 3}), std::nullopt);
}

TEST(Positions, AreVisitedInRowMajorOrder) {
  std::vector<Position> seen;
  for_each_position(std::vector<int64_t>{2, 2}, [&](const Position& at) { seen.push_back(at); });
  EXPECT_THAT(seen, ElementsAre(Position{0, 0}, Position{0, 1}, Position{1, 0}, Position{1, 1}));
  for_each_position(std::vector<int64_t>{2, 0}, [&](const Position&) { FAIL(); });
}

TEST(Positions, AxesOfOneElementBroadcast) {
  const int64_t dims[] = {1, 3};
  EXPECT_EQ(broadcast_index(dims, {1, 2}), 2u);
  EXPECT_EQ(broadcast_index(dims, {7, 5, 1}), 1u);
  EXPECT_EQ(broadcast_index({}, {7, 5}), 0u);
}

}  // namespace
}  // namespace inlay
