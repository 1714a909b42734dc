#include "runtime/bytes.h"

#include <vector>

#include <gtest/gtest.h>

namespace inlay::runtime {
namespace {

using Sizes = std::vector<int64_t>;

double memory[64];

Bytes bytes(int first, const Sizes& dims, const Sizes& strides) {
  return Elements{memory + first, dims, strides}.bytes();
}
bool apart(const Sizes& dims, const Sizes& strides) { return Elements{memory, dims, strides}.are_apart(); }

TEST(Bytes, FromTheFirstToTheLastElement) {
  const Bytes back = bytes(10, {3, 2}, {-16, 8});
  EXPECT_EQ(back.begin, reinterpret_cast<char*>(memory + 6));
  EXPECT_EQ(back.end, reinterpret_cast<char*>(memory + 12));
  EXPECT_TRUE(back.meet(bytes(11, {}, {})));
  EXPECT_FALSE(back.meet(bytes(12, {4}, {8})));
  EXPECT_FALSE(back.meet(bytes(2, {4}, {8})));
  EXPECT_FALSE(back.meet(bytes(8, {4, 0}, {8, 8})));  // nothing meets nothing
}

TEST(Bytes, ElementsThatShareBytes) {
  EXPECT_TRUE(apart({2, 3}, {24, 8}));
  EXPECT_TRUE(apart({2, 3}, {-8, 16}));
  EXPECT_TRUE(apart({2, 3, 1}, {24, 8, 0}));
  EXPECT_TRUE(apart({2, 0}, {0, 0}));
  EXPECT_FALSE(apart({2, 3}, {0, 8}));
  EXPECT_FALSE(apart({2, 3}, {16, 8}));
  EXPECT_FALSE(apart({2}, {4}));
}

}  // namespace
}  // namespace inlay::runtime
