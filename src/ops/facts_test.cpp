#include "ops/facts.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay {
namespace {

/// What is wrong with the claim; "" when nothing is.
template <class T>
std::string complaint(DType dtype, const std::vector<T>& elements, const Facts& facts) {
  try {
    check_facts(facts, dtype, elements.data(), static_cast<int64_t>(elements.size()), "%g");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr Facts range(int64_t min, int64_t max) { return {.has_range = true, .min = min, .max = max}; }
constexpr Facts kSorted = {.sorted = true};

TEST(Facts, FalseOnesNameTheArrayTheFactAndTheElement) {
  EXPECT_EQ(complaint<int64_t>(DType::i64, {0, 84, 90}, range(0, 84)),
            "error[false-fact]: %g: bound with max 84, but element 2 is 90");
  EXPECT_EQ(complaint<int8_t>(DType::i8, {0, -5}, range(0, 84)),
            "error[false-fact]: %g: bound with min 0, but element 1 is -5");
  EXPECT_EQ(complaint<uint64_t>(DType::u64, {UINT64_MAX}, range(0, INT64_MAX)),
            "error[false-fact]: %g: bound with max 9223372036854775807, but element 0 is 18446744073709551615");
  EXPECT_EQ(complaint<int32_t>(DType::i32, {3, 7, 2}, kSorted),
            "error[false-fact]: %g: bound as sorted, but element 2 is 2, after 7");
}

TEST(Facts, TrueOnesPass) {
  EXPECT_EQ(complaint<int64_t>(DType::i64, {0, 84, 84}, range(0, 84)), "");
  EXPECT_EQ(complaint<int64_t>(DType::i64, {}, range(0, 84)), "");
  EXPECT_EQ(complaint<uint8_t>(DType::u8, {3, 3, 200}, kSorted), "");
  EXPECT_EQ(complaint<double>(DType::f64, {2, 1}, Facts()), "");
}

TEST(Facts, ThatAreFoundHold) {
  const std::vector<int16_t> elements = {-3, -3, 12};
  const Facts found = facts_of(DType::i16, elements.data(), 3);
  EXPECT_EQ(found, (Facts{.has_range = true, .min = -3, .max = 12, .sorted = true}));
  EXPECT_EQ(complaint<int16_t>(DType::i16, elements, found), "");
  EXPECT_FALSE(facts_of(DType::i16, std::vector<int16_t>{2, 1}.data(), 2).sorted);
  EXPECT_EQ(facts_of(DType::i16, nullptr, 0), Facts());
  EXPECT_EQ(facts_of(DType::u64, std::vector<uint64_t>{UINT64_MAX}.data(), 1), Facts());
  EXPECT_EQ(facts_of(DType::f64, std::vector<double>{1}.data(), 1), Facts());
}

}  // namespace
}  // namespace inlay
