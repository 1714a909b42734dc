#include "support/small_vector.h"

#include <numeric>

#include <gtest/gtest.h>

namespace inlay {
namespace {

using Numbers = SmallVector<int, 2>;

std::vector<int> list(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

TEST(SmallVector, HoldsFewAndMany) {
  Numbers numbers;
  std::vector<int> wanted;
  EXPECT_TRUE(numbers.empty());
  for (int i = 0; i < 5; ++i) {
    numbers.push_back(i);
    wanted.push_back(i);
    EXPECT_EQ(list(numbers), wanted);
    EXPECT_EQ(numbers.back(), i);
    EXPECT_EQ(numbers.front(), 0);
  }
}

TEST(SmallVector, TakesOneOfItsOwnElements) {
  Numbers numbers = {7, 8};
  numbers.push_back(numbers[0]);  // moves to where there is room
  EXPECT_EQ(list(numbers), (std::vector<int>{7, 8, 7}));
}

TEST(SmallVector, CopiesAreTheirOwn) {
  Numbers few = {1}, many = {1, 2, 3};
  Numbers a = few, b = many;
  a[0] = 5;
  b[2] = 5;
  EXPECT_EQ(few, Numbers{1});
  EXPECT_EQ(many, (Numbers{1, 2, 3}));
  EXPECT_FALSE(few == a);
}

TEST(SmallVector, IsEmptyOnceItWasMoved) {
  for (const Numbers& numbers : {Numbers{}, Numbers{1}, Numbers{1, 2, 3}}) {
    Numbers from = numbers, to = std::move(from);
    EXPECT_EQ(to, numbers);
    EXPECT_TRUE(from.empty());  // NOLINT: that is the promise
    from = {4, 5};
    from = std::move(to);
    EXPECT_EQ(from, numbers);
    EXPECT_TRUE(to.empty());  // NOLINT
    to.push_back(6);
    EXPECT_EQ(list(to), (std::vector<int>{6}));
  }
}

TEST(SmallVector, ErasesWithinFewAndMany) {
  for (int size : {0, 1, 2, 3, 6}) {
    std::vector<int> all(size);
    std::iota(all.begin(), all.end(), 0);
    Numbers numbers(all);
    erase_if(numbers, [](int n) { return n % 2 == 0; });
    std::erase_if(all, [](int n) { return n % 2 == 0; });
    EXPECT_EQ(list(numbers), all) << size;
    numbers.push_back(9);
    all.push_back(9);
    EXPECT_EQ(list(numbers), all) << size;
    numbers.clear();
    EXPECT_TRUE(numbers.empty());
  }
}

}  // namespace
}  // namespace inlay
