#include "support/number_text.h"

#include <cmath>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "support/float_environment.h"
#include "support/str.h"

namespace inlay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberOf, TakesTheWholeText) {
  EXPECT_EQ(number_of("0.5"), 0.5);
  EXPECT_EQ(number_of("-1e-3"), -1e-3);
  EXPECT_EQ(number_of("inf"), kInfinity);
  EXPECT_EQ(number_of("-inf"), -kInfinity);
  EXPECT_TRUE(std::isnan(number_of("nan").value()));
  for (const char* text : {"", "0,5", "1.5x", "x", "+1", " 1", "--1", "1e", "0x10"}) {
    EXPECT_EQ(number_of(text), std::nullopt) << text;
  }
}

TEST(NumberOf, IsInfiniteOrZeroBeyondTheRange) {
  const std::string zeros(400, '0');
  EXPECT_EQ(number_of("1e400"), kInfinity);
  EXPECT_EQ(number_of("-1e400"), -kInfinity);
  EXPECT_EQ(number_of("1" + zeros), kInfinity);
  EXPECT_EQ(number_of("0.0001e400"), kInfinity);
  EXPECT_EQ(number_of("1e99999999999999999999"), kInfinity);
  EXPECT_EQ(number_of("1e-400"), 0);
  EXPECT_EQ(number_of("1e-99999999999999999999"), 0);
  EXPECT_EQ(number_of("0." + zeros + "1"), 0);
  EXPECT_TRUE(std::signbit(number_of("-1e-400").value()));
  EXPECT_EQ(number_of("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number_of("1" + zeros + "e-400"), 1);
  EXPECT_EQ(number_of("0e400"), 0);
}

TEST(NumberOf, RoundsToNearestWhateverTheHostDoes) {
  const double expected = 0.1, large = 1.7976931348623157e308;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto tenth = number_of("0.1"), largest = number_of("1.7976931348623157e308");
    const std::string text = number_text(expected), fixed = fixed_text(0.125, 2);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(tenth, expected);
    EXPECT_EQ(largest, large);
    EXPECT_EQ(text, "0.1");
    EXPECT_EQ(fixed, "0.12");
  }
}

TEST(NumberText, IsShortAndReadsBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(fixed_text(-2.5, 3), "-2.500");
  EXPECT_EQ(fixed_text(1e308, 0).size(), 309U);
}

TEST(Str, WritesNumbersAsAStreamDoes) {
  for (const double number : {0.1, -2.5, 100.0 / 3, 1234567.5, 1e300, 5e-324, 0.0, -0.0, kInfinity}) {
    std::ostringstream stream;
    stream << number;
    EXPECT_EQ(str(number), stream.str());
    EXPECT_EQ(str(number, ' ', 0.1f), stream.str() + " 0.1");
  }
}

TEST(FloatEnvironment, IsTheCallersAgainAfterwards) {
  std::fesetround(FE_UPWARD);
  {
    const DefaultFloatEnvironment environment;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_TRUE(is_default_float_environment());
  }
  const int afterwards = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(afterwards, FE_UPWARD);
}

}  // namespace
}  // namespace inlay
