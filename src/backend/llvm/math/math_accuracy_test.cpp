// Every vector function against an 80-bit reference: special values exactly, random arguments within a stated error.
//
// A random sample is no bound; the ranges are chosen where the error peaks. INLAY_MATH_ARGUMENTS says how many
// arguments a function gets; with INLAY_MATH_EXACT=1 MPFR says what is right: `scripts/check math`. `vector_math_test`
// prints the table of docs/math.md: error in units of the last place and nanoseconds per element (wall time, minimum of
// many short runs).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <time.h>

#include "backend/llvm/math/exact_values_test.h"
#include "backend/llvm/math/math_functions_test.h"
#include "backend/llvm/math/vector_loops_test.h"

namespace inlay::llvm_backend {
namespace {

const InlayVectorFunction* find_in(const InlayVectorLoops& loops, const std::string& name) {
  const InlayVectorFunction* function = loops.functions;
  while (function->name && function->name != name) ++function;
  return function->name ? function : nullptr;
}

const InlayVectorFunction* find(const std::string& name, const VectorWidth& width) {
  return find_in(*width.loops, name);
}

/// f over x (and y, as long), whose length need not be a multiple of 8.
std::vector<double> apply(const InlayVectorFunction& f, std::vector<double> x, std::vector<double> y = {}) {
  const size_t count = x.size();
  x.resize((count + 7) / 8 * 8, 1.0);
  y.resize(x.size(), 1.0);
  std::vector<double> out(x.size());
  if (f.loop) {
    f.loop(x.data(), out.data(), static_cast<long>(x.size()));
  } else {
    f.loop2(x.data(), y.data(), out.data(), static_cast<long>(x.size()));
  }
  out.resize(count);
  return out;
}

bool in_domain(const InlayVectorFunction& f, double x, double y = 1) {
  const std::vector<double> x8(8, x);
  const std::vector<double> y8(8, y);
  if (!f.domain) return true;
  const int lanes = f.domain(x8.data(), y8.data());
  EXPECT_TRUE(lanes == 0 || lanes == 255) << lanes;
  return lanes != 0;
}

/// Arguments for each of `ranges`, of the number that a function gets in all.
int arguments_in_each(size_t ranges, int usual) {
  const char* given = std::getenv("INLAY_MATH_ARGUMENTS");
  return given ? static_cast<int>(std::strtoul(given, nullptr, 10) / ranges) + 1 : usual;
}

/// Whether MPFR is asked. Where it is missing, that is an error.
bool against_mpfr() {
  const char* given = std::getenv("INLAY_MATH_EXACT");
  if (!given || std::string(given) != "1") return false;
  EXPECT_TRUE(has_exact_values()) << "built without MPFR: install libmpfr-dev and configure again";
  return has_exact_values();
}

/// The distance of two neighbouring doubles at |y|.
double spacing(long double y) {
  const double magnitude = std::fabs(static_cast<double>(y));
  if (std::isinf(magnitude)) return std::ldexp(1.0, 971);
  return magnitude < kSmallest ? kTiny : std::ldexp(1.0, std::ilogb(magnitude) - 52);
}

/// Error in units of the last place; infinite where one of both is nan, infinite or of the other sign and the other
/// not.
double ulp_error(double got, long double want) {
  const double rounded = static_cast<double>(want);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got) ? 0 : kInf;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // At the border of overflow, one rounding more or less.
    return std::fabs(static_cast<double>(want / kLargest)) > 0.999 && std::fabs(got) > 0.999 * kLargest ? 0.5 : kInf;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : kInf;
  return static_cast<double>(fabsl(got - want) / spacing(want));
}

std::vector<double> sample(const Range& range, int count, std::mt19937_64& random) {
  std::vector<double> x(count);
  std::uniform_real_distribution<double> even(range.low, range.high);
  const double low = range.low > 0 ? range.low : 1e-308, high = std::max(range.high, low);
  std::uniform_real_distribution<double> exponent(std::log2(low), std::log2(high));  // not of an even range
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (double& v : x) {
    if (range.spread == Range::even) {
      v = even(random);
    } else {
      v = std::ldexp(mantissa(random), static_cast<int>(std::floor(exponent(random))));
      if (range.low < 0 && random() % 2 == 0 && -v >= range.low) v = -v;
      if (v > range.high) v = range.high;
    }
  }
  return x;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double ns_per_element(const InlayVectorFunction& f) {
  constexpr int kCount = 2048;
  std::vector<double> x(kCount);
  std::vector<double> out(kCount);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1 + static_cast<double>(i) * 1e-3;
  double best = kInf;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const double start = seconds();
    for (int i = 0; i < 10; ++i) {
      f.loop ? f.loop(x.data(), out.data(), kCount) : f.loop2(x.data(), x.data(), out.data(), kCount);
    }
    best = std::min(best, (seconds() - start) / (10 * kCount));
  }
  return best * 1e9;
}

void print_row(const std::string& name, int lanes, double ns, double ulp) {
  std::printf("| %-8s | %d | %5.2f | %5.2f |\n", name.c_str(), lanes, ns, ulp);
}

class VectorMath : public testing::TestWithParam<std::tuple<Function, VectorWidth>> {
 protected:
  void SetUp() override {
    if (!width().can_run) GTEST_SKIP() << kCannotRun;
    function = find_in(*width().loops, asked().name);
    ASSERT_NE(function, nullptr);
  }
  static const Function& asked() { return std::get<0>(GetParam()); }
  static const VectorWidth& width() { return std::get<1>(GetParam()); }
  static double max_ulp() { return width().is_fused ? asked().max_ulp : asked().unfused_ulp; }
  const InlayVectorFunction* function = nullptr;
};

TEST_P(VectorMath, SpecialValuesAreThoseOfTheFunction) {
  const std::vector<double> x = {0.0,
                                 -0.0,
                                 kInf,
                                 -kInf,
                                 kNan,
                                 -kNan,
                                 kTiny,
                                 -kTiny,
                                 1e-310,
                                 -1e-310,
                                 kSmallest,
                                 -kSmallest,
                                 kLargest,
                                 -kLargest,
                                 1.0,
                                 -1.0,
                                 2.0,
                                 -2.0,
                                 0.5,
                                 -0.5,
                                 1e300,
                                 -1e300,
                                 709.78,
                                 709.79,
                                 -708.0,
                                 -708.5,
                                 -745.1,
                                 -745.2,
                                 -746.0,
                                 1e-17,
                                 -1e-17,
                                 1e17,
                                 -1e17,
                                 5e15,
                                 1e22,
                                 -1e22,
                                 800.0,
                                 -800.0,
                                 1024.5,
                                 -1075.0,
                                 std::nextafter(1.0, 0.0),
                                 std::nextafter(1.0, 2.0),
                                 std::nextafter(-1.0, 0.0),
                                 std::nextafter(-1.0, -2.0),
                                 709.782712893384,
                                 709.7827128933841,
                                 -37.0,
                                 37.0,
                                 20.0,
                                 -20.0};
  const std::vector<double> got = apply(*function, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const bool inside = in_domain(*function, x[i]);
    EXPECT_EQ(inside, !asked().domain || asked().domain(x[i])) << asked().name << "(" << x[i] << ")";
    if (!inside) continue;
    EXPECT_LE(ulp_error(got[i], asked().reference(x[i])), max_ulp())
        << asked().name << "(" << x[i] << ") is " << got[i] << ", not " << static_cast<double>(asked().reference(x[i]));
  }
}

TEST_P(VectorMath, RandomArgumentsStayWithinTheBound) {
  std::mt19937_64 random(20240607);
  double worst = 0;
  double worst_x = 0;
  const bool exact = against_mpfr();
  for (const Range& range : asked().ranges) {
    double range_worst = 0, range_x = 0;
    const std::vector<double> x = sample(range, arguments_in_each(asked().ranges.size(), 100'000), random);
    const std::vector<double> got = apply(*function, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulp_error(got[i], exact ? exact_value(asked().name, x[i]) : asked().reference(x[i]));
      if (error > range_worst) {
        range_worst = error, range_x = x[i];
      }
    }
    if (getenv("INLAY_MATH_VERBOSE")) printf("   [%g, %g] %.3f at %a\n", range.low, range.high, range_worst, range_x);
    if (range_worst > worst) worst = range_worst, worst_x = range_x;
  }
  print_row(asked().name, width().lanes, ns_per_element(*function), worst);
  EXPECT_LE(worst, max_ulp()) << asked().name << "(" << worst_x << ")";
}

/// All doubles in [1, 4) whose root is nearest to the middle between two doubles: with k / 2^53 in the middle, k^2 is
/// 1, 9, -7 or -15 from what 2^54 or 2^55 divides.
std::vector<double> roots_near_a_middle() {
  std::vector<double> x;
  for (const int bits : {54, 55}) {
    for (int64_t rest = -255; rest < 256; rest += 8) {  // a square of an odd number is 1 modulo 8
      std::vector<uint64_t> roots = {1, 3, 5, 7};
      for (int b = 4; b <= bits; ++b) {  // from a root of the lower bits those of one bit more
        std::vector<uint64_t> longer;
        for (const uint64_t root : roots) {
          for (const uint64_t k : {root, root + (uint64_t{1} << (b - 1))}) {
            const uint64_t wrong = (k * k - static_cast<uint64_t>(rest)) & ((uint64_t{1} << b) - 1);
            if (wrong == 0) longer.push_back(k & ((uint64_t{1} << b) - 1));
          }
        }
        std::sort(longer.begin(), longer.end());
        longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
        roots = longer;
      }
      for (const uint64_t root : roots) {
        if (root < uint64_t{1} << 53 || root >= uint64_t{1} << 54) continue;
        const long double middle = static_cast<long double>(root) / 0x1p53L;
        const double near = static_cast<double>(middle * middle);
        if ((near < 2) == (bits == 54)) x.push_back(near);
      }
    }
  }
  return x;
}

/// Of functions that have a test of their own.
class VectorLanes : public testing::TestWithParam<VectorWidth> {
 protected:
  void SetUp() override {
    if (!GetParam().can_run) GTEST_SKIP() << kCannotRun;
  }
  static const InlayVectorFunction* find(const char* name) { return llvm_backend::find(name, GetParam()); }
};

TEST_P(VectorLanes, SqrtIsTheInstructionToTheLastBit) {
  std::vector<double> x = roots_near_a_middle();
  EXPECT_GE(x.size(), 60u);
  std::mt19937_64 random(11);
  for (int i = 0; i < 400'000; ++i) {
    const uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    x.push_back(any);
  }
  const std::vector<double> got = apply(*find("sqrt"), x);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] >= 0) {
      EXPECT_EQ(got[i], std::sqrt(x[i])) << x[i];
    }
  }
}

TEST_P(VectorLanes, SinIsRightWhereThreeQuartersOfTheDigitsCancel) {
  std::vector<double> x;
  for (int n = 1; n < 333'000; ++n) x.push_back(static_cast<double>(n * 1.570796326794896619231321691639751442L));
  const std::vector<double> sin = apply(*find("sin"), x);
  const std::vector<double> cos = apply(*find("cos"), x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(ulp_error(sin[i], sinl(x[i])), 0.95) << x[i];
    EXPECT_LE(ulp_error(cos[i], cosl(x[i])), 0.95) << x[i];
  }
}

TEST_P(VectorLanes, FunctionsOfTwoStayWithinTheBound) {
  const bool exact = against_mpfr();
  for (const FunctionOfTwo& asked : functions_of_two()) {
    const InlayVectorFunction* function = find(asked.name);
    ASSERT_NE(function, nullptr) << asked.name;
    std::mt19937_64 random(7);
    double worst = 0, worst_x = 0, worst_y = 0;
    for (const auto& [of_x, of_y] : asked.boxes) {
      const int count = arguments_in_each(asked.boxes.size(), 80'000);
      const std::vector<double> x = sample(of_x, count, random);
      std::vector<double> y = sample(of_y, count, random);
      if (std::string(asked.name) == "pow") y[0] = 0, y[1] = 1, y[2] = -1, y[3] = 0.5, y[4] = 2;
      const std::vector<double> got = apply(*function, x, y);
      for (size_t i = 0; i < x.size(); ++i) {
        if (!in_domain(*function, x[i], y[i])) continue;
        const long double want = exact ? exact_value(asked.name, x[i], y[i]) : asked.reference(x[i], y[i]);
        double error = ulp_error(got[i], want);
        if (fabsl(want) < asked.floor) error *= spacing(want) / spacing(asked.floor);
        if (error > worst) worst = error, worst_x = x[i], worst_y = y[i];
      }
    }
    print_row(asked.name, GetParam().lanes, ns_per_element(*function), worst);
    EXPECT_LE(worst, asked.max_ulp) << asked.name << "(" << worst_x << ", " << worst_y << ")";
  }
}

TEST_P(VectorLanes, PowLeavesTheCornersToTheScalarFunction) {
  const InlayVectorFunction* function = find("pow");
  for (double x : {0.0, -0.0, -1.0, kInf, -kInf, kNan}) EXPECT_FALSE(in_domain(*function, x, 2)) << x;
  for (double y : {kInf, -kInf, kNan, 1e301}) EXPECT_FALSE(in_domain(*function, 2, y)) << y;
  for (double x : {kTiny, 1.0, kLargest}) EXPECT_TRUE(in_domain(*function, x, -1e299)) << x;
}

TEST_P(VectorLanes, IveIsForTheOrders0And1AndMinus1) {
  const InlayVectorFunction* function = find("ive");
  for (double v : {2.0, -2.0, 0.5, kTiny, 1.0000000000000002, kInf, kNan})
    EXPECT_FALSE(in_domain(*function, v, 2)) << v;
  for (double v : {0.0, -0.0, 1.0, -1.0}) {
    for (double x : {0.0, -3.0, kInf, kNan}) EXPECT_TRUE(in_domain(*function, v, x)) << v << ", " << x;
  }
  const std::vector<double> v = {0, 1, -1, 0, 1, 1}, x = {-0.0, -0.0, 0, kInf, -kInf, kInf};
  const std::vector<double> found = apply(*function, v, x), wanted = {1, 0, 0, 0, -0.0, 0};
  for (std::size_t i = 0; i < v.size(); ++i) {
    EXPECT_EQ(found[i], wanted[i]) << i;
    EXPECT_EQ(std::signbit(found[i]), std::signbit(wanted[i])) << i;
  }
  EXPECT_TRUE(std::isnan(apply(*function, {0}, {kNan})[0]));
}

TEST_P(VectorLanes, InversesHaveTheirRootsAndI0Its1) {
  EXPECT_EQ(apply(*find("erfcinv"), {1}), std::vector<double>{0});
  EXPECT_EQ(apply(*find("ndtri"), {0.5}), std::vector<double>{0});
  EXPECT_EQ(apply(*find("i0"), {0}), std::vector<double>{1});
  for (const char* name : {"erfinv", "i1"}) {
    for (const double zero : {0.0, -0.0}) {
      EXPECT_EQ(std::signbit(apply(*find(name), {zero})[0]), std::signbit(zero)) << name << " " << zero;
    }
  }
}

/// A million arguments, or as many as are asked for, of all ranges and of any bits.
std::vector<double> a_million(const std::vector<Range>& ranges, std::mt19937_64& random) {
  const std::size_t count = static_cast<std::size_t>(arguments_in_each(1, 1'000'000));
  const int each = static_cast<int>(count / (ranges.size() + 1));
  std::vector<double> x;
  for (const Range& range : ranges) std::ranges::copy(sample(range, each, random), std::back_inserter(x));
  while (x.size() < count) x.push_back(std::bit_cast<double>(random()));
  return x;
}

/// The same bits from both, but for what kind of nan.
void expect_same_bits(const std::string& name, const InlayVectorFunction* a, const InlayVectorFunction* b,
                      const std::vector<double>& x, const std::vector<double>& y = {}) {
  ASSERT_TRUE(a && b) << name;
  const std::vector<double> of_a = apply(*a, x, y), of_b = apply(*b, x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(of_a[i]) && std::isnan(of_b[i])) continue;
    if (std::bit_cast<uint64_t>(of_a[i]) == std::bit_cast<uint64_t>(of_b[i])) continue;
    ASSERT_FALSE(in_domain(*a, x[i], y.empty() ? 1 : y[i]))
        << name << "(" << x[i] << ") is " << of_a[i] << ", " << of_b[i];
  }
}

/// Of one process; same_bits_test.cpp compares with others.
TEST(VectorMathOfAllWidths, GivesTheSameBits) {
  const auto of_lanes = [](int lanes) { return std::ranges::find(kVectorWidths, lanes, &VectorWidth::lanes); };
  const VectorWidth *eight = of_lanes(8), *four = of_lanes(4);
  if (eight == std::end(kVectorWidths) || !eight->can_run) GTEST_SKIP() << kCannotRun;
  std::mt19937_64 random(3);
  for (const Function& asked : functions()) {
    expect_same_bits(asked.name, find_in(*eight->loops, asked.name), find_in(*four->loops, asked.name),
                     a_million(asked.ranges, random));
  }
}

TEST_P(VectorLanes, AreAsOneLane) {
  if (GetParam().lanes == 8) GTEST_SKIP() << "compared with four";
  const InlayVectorLoops& one = *GetParam().one_lane;
  std::mt19937_64 random(5);
  for (const Function& asked : functions()) {
    expect_same_bits(asked.name, find(asked.name.c_str()), find_in(one, asked.name), a_million(asked.ranges, random));
  }
  for (const FunctionOfTwo& asked : functions_of_two()) {
    std::vector<Range> of_x, of_y;
    for (const auto& [x, y] : asked.boxes) of_x.push_back(x), of_y.push_back(y);
    const std::vector<double> x = a_million(of_x, random);
    expect_same_bits(asked.name, find(asked.name), find_in(one, asked.name), x, a_million(of_y, random));
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMath,
                         testing::Combine(testing::ValuesIn(functions()), testing::ValuesIn(kVectorWidths)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });
INSTANTIATE_TEST_SUITE_P(All, VectorLanes, testing::ValuesIn(kVectorWidths),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace inlay::llvm_backend
