#include "ops/element_types.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace inlay {
namespace {

TEST(Half, EveryNumberComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Half x{static_cast<uint16_t>(bits)};
    const BFloat16 y{static_cast<uint16_t>(bits)};
    EXPECT_TRUE(std::isnan(widen(x)) || half_of(static_cast<double>(widen(x))).bits == bits) << bits;
    EXPECT_TRUE(std::isnan(widen(y)) || bfloat16_of(widen(y)).bits == bits) << bits;
  }
  EXPECT_TRUE(std::isnan(widen(half_of(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(widen(bfloat16_of(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, RoundsToTheNearestAndToEvenInTheMiddle) {
  for (uint16_t bits : {0, 1, 2, 0x3ff, 0x400, 0x3c00, 0x3c01, 0x7bfe}) {
    const auto low = static_cast<double>(widen(Half{bits})),
               high = static_cast<double>(widen(Half{uint16_t(bits + 1)}));
    const double middle = (low + high) / 2;
    EXPECT_EQ(half_of(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(half_of(std::nextafter(middle, 0)).bits, bits);
    EXPECT_EQ(half_of(std::nextafter(middle, 1e9)).bits, bits + 1);
    EXPECT_EQ(half_of(-middle).bits, half_of(middle).bits | 0x8000);
  }
  EXPECT_EQ(half_of(65519.99).bits, 0x7bff);
  EXPECT_EQ(half_of(65520).bits, 0x7c00);
  EXPECT_EQ(half_of(1e-320).bits, 0);
  EXPECT_EQ(bfloat16_of(1 + 0x1p-8F).bits, 0x3f80);
  EXPECT_EQ(bfloat16_of(1 + 3 * 0x1p-8F).bits, 0x3f82);
}

}  // namespace
}  // namespace inlay
