#include "ops/scalar_value.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

/// Every pair of i8, against the same op in a type where nothing overflows.
TEST(ScalarValue, I8AgreesWithWideArithmeticEverywhere) {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const auto x = static_cast<int8_t>(a), y = static_cast<int8_t>(b);
      EXPECT_EQ(wrap_add(x, y), static_cast<int8_t>(a + b));
      EXPECT_EQ(wrap_sub(x, y), static_cast<int8_t>(a - b));
      EXPECT_EQ(wrap_mul(x, y), static_cast<int8_t>(a * b));
      const int quotient = b == 0 ? 0 : static_cast<int>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(scalar_floor_div(x, y), static_cast<int8_t>(quotient)) << a << " // " << b;
      EXPECT_EQ(scalar_mod(x, y), b == 0 ? 0 : a - quotient * b) << a << " % " << b;
    }
  }
}

TEST(ScalarValue, ShiftsMoveEveryBitOutWhereTheCountIsLargeOrNegative) {
  EXPECT_EQ((scalar_left_shift<int8_t>(1, 7)), -128);
  EXPECT_EQ((scalar_left_shift<int8_t>(1, 8)), 0);
  EXPECT_EQ((scalar_left_shift<int8_t>(-1, 1)), -2);
  EXPECT_EQ((scalar_left_shift<int64_t>(1, -1)), 0);
  EXPECT_EQ((scalar_right_shift<int8_t>(-7, 1)), -4);
  EXPECT_EQ((scalar_right_shift<int8_t>(-7, 8)), -1);
  EXPECT_EQ((scalar_right_shift<int8_t>(-7, -1)), -1);
  EXPECT_EQ((scalar_right_shift<int8_t>(7, -1)), 0);
  EXPECT_EQ((scalar_right_shift<uint8_t>(200, 3)), 25);
  EXPECT_EQ((scalar_right_shift<uint64_t>(UINT64_MAX, 63)), 1);
}

TEST(ScalarValue, UnsignedDivision) {
  EXPECT_EQ(scalar_floor_div<uint8_t>(200, 255), 0);
  EXPECT_EQ(scalar_mod<uint8_t>(200, 255), 200);
  EXPECT_EQ((wrap_mul<uint16_t>(65535, 65535)), 1);
  EXPECT_EQ(scalar_sign<uint8_t>(7), 1);
  EXPECT_EQ(scalar_sign<int8_t>(-7), -1);
}

}  // namespace
}  // namespace inlay
