// Every function of sixteen floats against doubles, over the bit patterns of all floats in steps.
//
// INLAY_MATH_STEP=1 takes every float (some 70 s a function). `vector_math_test` prints the table of docs/math.md:
// error in units of the last place and nanoseconds per element (wall time, minimum of many short runs).
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/llvm/math/vector_loops_test.h"

namespace inlay::llvm_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();

struct FloatFunction {
  std::string name;
  double (*reference)(double) = nullptr;
  double max_ulp = 0;
  bool (*domain)(float) = nullptr;  // where it must be right; everywhere if null
};

bool small_angle(float x) { return std::fabs(x) < 524288; }

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

const std::vector<FloatFunction>& functions() {
  static const std::vector<FloatFunction> all = {
      {"exp", std::exp, 0.95},
      {"exp2", std::exp2, 0.9},
      {"expm1", std::expm1, 0.8},
      {"log", std::log, 1},
      {"log2", std::log2, 1.1},
      {"log1p", std::log1p, 0.8},
      {"sigmoid", sigmoid, 0.95},
      {"softplus", softplus, 0.95},
      {"tanh", std::tanh, 1},
      {"erf", std::erf, 0.85},
      {"sin", std::sin, 0.9, small_angle},
      {"cos", std::cos, 0.9, small_angle},
  };
  return all;
}

/// Infinite where one of both is nan, infinite or of the other sign and the other not.
double ulp_error(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got) ? 0 : kInf;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    return std::fabs(want) > 0.99999 * kLargest && std::fabs(got) > 0.99999 * kLargest ? 0.5 : kInf;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : kInf;
  const double spacing = std::fabs(want) < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(want) - 23);
  return std::fabs(got - want) / spacing;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double ns_per_element(const InlayFloatFunction& f) {
  constexpr int kCount = 2048;
  std::vector<float> x(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) x[static_cast<size_t>(i)] = 0.1F + static_cast<float>(i) * 1e-3F;
  double best = kInf;
  for (int repeat = 0; repeat < 300; ++repeat) {
    const double start = seconds();
    for (int i = 0; i < 10; ++i) f.loop(x.data(), out.data(), kCount);
    best = std::min(best, (seconds() - start) / (10 * kCount));
  }
  return best * 1e9;
}

class VectorMathOfFloats : public testing::TestWithParam<std::tuple<FloatFunction, VectorWidth>> {
 protected:
  void SetUp() override {
    if (!width().can_run) GTEST_SKIP() << kCannotRun;
    function = width().loops->float_functions;
    while (function->name && function->name != asked().name) ++function;
    ASSERT_NE(function->name, nullptr);
  }

  static const FloatFunction& asked() { return std::get<0>(GetParam()); }
  static const VectorWidth& width() { return std::get<1>(GetParam()); }

  /// The largest error over `x`, whose length must be a multiple of 16.
  void check(const std::vector<float>& x) {
    std::vector<float> got(x.size());
    function->loop(x.data(), got.data(), static_cast<long>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const bool inside = !function->domain || function->domain(x[i]) != 0;
      EXPECT_EQ(inside, !asked().domain || asked().domain(x[i])) << asked().name << "(" << x[i] << ")";
      if (!inside) continue;
      const double error = ulp_error(got[i], asked().reference(x[i]));
      if (error > worst) worst = error, worst_x = x[i];
      if (error == kInf) {
        ADD_FAILURE() << asked().name << "(" << x[i] << ") is " << got[i] << ", not " << asked().reference(x[i]);
      }
    }
  }

  const InlayFloatFunction* function = nullptr;
  double worst = 0;
  float worst_x = 0;
};

TEST_P(VectorMathOfFloats, StaysWithinTheBoundAtSpecialValues) {
  std::vector<float> x;
  for (const uint32_t magnitude :
       {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x33800000u, 0x3f000000u, 0x3f7fffffu, 0x3f800000u,
        0x3f800001u, 0x40000000u, 0x42aeac50u, 0x42b17217u, 0x42b17218u, 0x42b40000u, 0x42cff1b4u, 0x42cff1b5u,
        0x43000000u, 0x43160000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0x41800000u}) {
    x.push_back(std::bit_cast<float>(magnitude));
    x.push_back(std::bit_cast<float>(magnitude | 0x80000000u));
  }
  ASSERT_EQ(x.size() % 16, 0u);
  check(x);
  EXPECT_LE(worst, asked().max_ulp) << asked().name << "(" << worst_x << ")";
}

/// Between two floats of a sample, as whole numbers.
uint64_t step_of_sample() {
  const char* given = std::getenv("INLAY_MATH_STEP");
  return given ? std::strtoull(given, nullptr, 10) : 2003;
}

TEST_P(VectorMathOfFloats, StaysWithinTheBoundEverywhere) {
  const uint64_t step = step_of_sample();
  std::vector<float> x(4096);
  for (uint64_t bits = 0; bits <= UINT32_MAX;) {
    for (float& v : x) v = std::bit_cast<float>(static_cast<uint32_t>(bits)), bits += step;
    check(x);
  }
  std::printf("| %-8s | %d | %5.2f | %5.2f |\n", asked().name.c_str(), 2 * width().lanes, ns_per_element(*function),
              worst);
  EXPECT_LE(worst, asked().max_ulp) << asked().name << "(" << worst_x << ")";
}

TEST_P(VectorMathOfFloats, IsAsOneLane) {
  const InlayFloatFunction* one = width().one_lane->float_functions;
  while (one->name && one->name != asked().name) ++one;
  ASSERT_NE(one->name, nullptr);
  const uint64_t step = step_of_sample();
  std::vector<float> x(4096), got(x.size()), alone(x.size());
  for (uint64_t bits = 0; bits <= UINT32_MAX;) {
    for (float& v : x) v = std::bit_cast<float>(static_cast<uint32_t>(bits)), bits += step;
    function->loop(x.data(), got.data(), static_cast<long>(x.size()));
    one->loop(x.data(), alone.data(), static_cast<long>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(got[i]) && std::isnan(alone[i])) continue;
      if (std::bit_cast<uint32_t>(got[i]) == std::bit_cast<uint32_t>(alone[i])) continue;
      ASSERT_TRUE(function->domain && !function->domain(x[i])) << x[i] << ": " << got[i] << ", " << alone[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMathOfFloats,
                         testing::Combine(testing::ValuesIn(functions()), testing::ValuesIn(kVectorWidths)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace inlay::llvm_backend
