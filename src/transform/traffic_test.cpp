#include "transform/traffic.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::transform {
namespace {

using kernel::KernelProgram;

constexpr double kRow = 128 * 8, kPlane = 128 * kRow, kCube = 128 * kPlane;  // bytes, of sizes that nobody knows

/// Of the program's only kernel.
Traffic traffic_of_kernel(const std::string& buffers, const std::string& kernel) {
  const KernelProgram program =
      kernel::parse("program @main(" + buffers + ") symbols n = x.0, m = x.1, k = x.2 { kernel {" + kernel + "} }");
  return traffic_of(program).at(0);
}

const std::string kCopied = "x: f64[n, m, k] param 0, r: f64[n, m, k] output 0";

TEST(Traffic, IsWhatIsReadAndWritten) {
  const Traffic traffic = traffic_of_kernel(kCopied, R"(stage (i < n, j < m, k_2 < k) {
      %0 = load x[i, j, k_2] : f64
      %1 = load x[i, j, k_2] : f64
      %2 = mul %0, %1 : f64
      store r[i, j, k_2] set %2
    })");
  EXPECT_EQ(traffic.kernels, 1);
  EXPECT_EQ(traffic.moved, kCube + kCube);
  EXPECT_EQ(traffic.held, 0);
}

TEST(Traffic, OfWhatVectorsGoAcrossIsMore) {
  const Traffic beside = traffic_of_kernel(kCopied, R"(stage (i < n, k_2 < k, j < m) {
      %0 = load x[i, j, k_2] : f64
      store r[i, j, k_2] set %0
    })");
  EXPECT_EQ(beside.moved, 1.5 * kCube + 3 * kCube);  // the axis beside the vectors uses up the lines
  const Traffic apart = traffic_of_kernel("x: f64[n, m, k] param 0, r: f64[k, m, n] output 0",
                                          R"(stage (k_2 < k, j < m, i < n) {
      %0 = load x[i, j, k_2] : f64
      store r[k_2, j, i] set %0
    })");
  EXPECT_EQ(apart.moved, 4 * kCube + kCube);  // other lines come between its elements
}

TEST(Traffic, OfARowThatIsGoneOverAgainIsNone) {
  const std::string buffers = "x: f64[n, m, k] param 0, s: f64[n] temporary, r: f64[n, m, k] output 0";
  const std::string stages = R"(
    stage (j < m, k_2 < k) {
      %0 = load x[i, j, k_2] : f64
      fold max s[i] %0 : f64
    }
    stage (j < m, k_2 < k) {
      %0 = load x[i, j, k_2] : f64
      %1 = load s[i] : f64
      %2 = sub %0, %1 : f64
      store r[i, j, k_2] set %2
    })";
  const Traffic traffic = traffic_of_kernel(buffers, "outer (i < n) out s start fill -inf" + stages);
  EXPECT_EQ(traffic.moved, kCube + kCube);
  EXPECT_EQ(traffic.held, 8);
}

TEST(Traffic, OfARowThatDoesNotStayInTheCacheCounts) {
  const std::string buffers =
      "x: f64[n, m, k, 64] param 0, t: f64[n, m, k, 64] temporary, r: f64[n, m, k, 64] output 0";
  const Traffic traffic = traffic_of_kernel(buffers, R"(
    outer (i < n)
    stage (j < m, k_2 < k, l < 64) {
      %0 = load x[i, j, k_2, l] : f64
      %1 = exp %0 : f64
      store t[i, j, k_2, l] set %1
    }
    stage (j < m, k_2 < k, l < 64) {
      %0 = load t[i, j, k_2, l] : f64
      store r[i, j, k_2, l] set %0
    })");
  const double row = 38 * 38 * 64 * 8;  // four axes: three of which nobody knows
  EXPECT_EQ(traffic.moved, 4 * 38 * row);
  EXPECT_EQ(traffic.held, row);
}

TEST(Traffic, HoldsWholeTemporariesThatLieInNothingElse) {
  const auto held = [](const std::string& read) {
    const KernelProgram program = kernel::parse(R"(program @main(x: f64[n, n] param 0, t: f64[n, n] temporary,
        r: f64[n, n] output 0) symbols n = x.0 {
      kernel { stage (i < n, j < n) { %0 = load x[i, j] : f64 %1 = exp %0 : f64 store t[i, j] set %1 } }
      kernel { stage (i < n, j < n) { %0 = load )" +
                                                read + R"( : f64 %1 = exp %0 : f64 store r[i, j] set %1 } } })");
    const std::vector<Traffic> traffic = traffic_of(program);
    EXPECT_EQ(traffic[1].held, 0);  // the first kernel has it
    return traffic[0].held;
  };
  EXPECT_EQ(held("t[j, i]"), kPlane);
  EXPECT_EQ(held("t[i, j]"), 0);  // in the bytes of the result
}

TEST(Traffic, IsMostlyWhatIsMoved) {
  const Traffic some = {.kernels = 2, .moved = 100, .held = 10};
  EXPECT_TRUE((Traffic{.kernels = 3, .moved = 85, .held = 50}).is_less_than(some));
  EXPECT_FALSE((Traffic{.kernels = 1, .moved = 120, .held = 1}).is_less_than(some));
  EXPECT_TRUE((Traffic{.kernels = 1, .moved = 105, .held = 50}).is_less_than(some));
  EXPECT_TRUE((Traffic{.kernels = 2, .moved = 101, .held = 9}).is_less_than(some));
  EXPECT_FALSE((Traffic{.kernels = 2, .moved = 99, .held = 10}).is_less_than(some));
}

/// Two sums and what is left without them, of each argument in one kernel or in two.
KernelProgram centered(bool x_in_rows, bool y_in_rows) {
  const auto loops = [](const std::string& of, bool in_rows) {
    const std::string rows = "j < m, k_2 < k", all = "i < n, " + rows;
    const std::string fold = "{ %0 = load " + of + "[i, j, k_2] : f64 fold max " + of + "s[i] %0 : f64 }";
    const std::string map = "{ %0 = load " + of + "[i, j, k_2] : f64 %1 = load " + of +
                            "s[i] : f64 %2 = sub %0, %1 : f64 store " + of + "r[i, j, k_2] set %2 }";
    const std::string begin = " out " + of + "s start fill -inf ";
    if (in_rows)
      return "kernel { outer (i < n)" + begin + "stage (" + rows + ")" + fold + "stage (" + rows + ")" + map + "}";
    return "kernel {" + begin + "stage (" + all + ")" + fold + "} kernel { stage (" + all + ")" + map + "}";
  };
  return kernel::parse(R"(program @main(x: f64[n, m, k] param 0, y: f64[n, m, k] param 1, xs: f64[n] temporary,
      ys: f64[n] temporary, xr: f64[n, m, k] output 0, yr: f64[n, m, k] output 1)
      symbols n = x.0, m = x.1, k = x.2 {)" +
                       loops("x", x_in_rows) + loops("y", y_in_rows) + "}");
}

TEST(Traffic, IsComparedPartByPart) {
  const std::array versions = {centered(true, false), centered(false, true)};
  const std::vector<TrafficByBuffer> traffic = traffic_by_part(versions);
  for (kernel::BufferId b : ids<kernel::BufferId>(versions[0].buffers.size())) {
    const std::string& name = versions[0].buffers[b].name;
    const bool is_written = name.size() == 2;
    EXPECT_EQ(traffic[0][b].kernels, !is_written ? 0 : name[0] == 'x' ? 1 : 2) << name;
    EXPECT_EQ(traffic[1][b].kernels, !is_written ? 0 : name[0] == 'x' ? 2 : 1) << name;
    EXPECT_EQ(traffic[0][b].is_less_than(traffic[1][b]), is_written && name[0] == 'x') << name;
    EXPECT_EQ(traffic[1][b].is_less_than(traffic[0][b]), is_written && name[0] == 'y') << name;
  }
}

}  // namespace
}  // namespace inlay::transform
