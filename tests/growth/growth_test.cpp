// Ten times the nodes take at most kMostGrowth times the instructions, in each stage of compiling and for each family
// of graphs, and no more for each node than measured.txt says, with headroom. Instructions do not depend on what else
// the machine does. INLAY_UPDATE_GROWTH=1 writes measured.txt anew: say in the commit why a number has grown.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/str.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;

constexpr double kMostGrowth = 13;    // n log n is legitimate
constexpr double kNotLookedAt = 200;  // instructions for each node

/// What is counted of graphs of so many nodes.
struct Counted {
  const char* what;  // growth_stages knows it
  const char* end;   // the function before which callgrind writes what was counted so far
  int small, large;
  double headroom;  // over what was measured
};
// A search that looks at no more than some hundred kernels looks at all of a small graph: below 1000 nodes its cost is
// quadratic.
constexpr Counted kStages = {"stages", "inlay::Instrument::add_seconds*", 1000, 10000, 1.3};
// Where graphs have bodies, whose stages end too, all stages are counted as one.
constexpr Counted kLowering = {"lower", "inlay::*::ended*", 1000, 10000, 1.3};
// A node takes some thousand times as many. Most of it is LLVM's own code, which each distribution builds in its way.
constexpr Counted kEmitting = {"emit", "inlay::*::ended*", 20, 200, 1.5};

// What is made of a program besides, and of what a program is made.
constexpr Counted kParts[] = {
    {"single-precision", "inlay::*::ended*", 1000, 10000, 1.3},
    {"emit-c", "inlay::*::ended*", 50, 500, 1.3},
    {"max", "inlay::*::ended*", 100, 1000, 1.3},
    {"explain", "inlay::*::ended*", 300, 3000, 1.3},  // pairs are asked up to 32 loops, which fewer nodes do not fill
    {"export", "inlay::*::ended*", 50, 500, 1.3},
    {"import-onnx", "inlay::*::ended*", 200, 2000, 1.3},
};

struct Counts {
  double small = 0, large = 0;
  double growth() const { return large / small; }
};
using Stages = std::vector<std::pair<std::string, Counts>>;
using Measured = std::map<std::pair<std::string, std::string>, double>;  // instructions for each node

fs::path measured_file() { return fs::path(INLAY_SOURCE_DIR) / "tests/growth/measured.txt"; }

Measured read_measured() {
  Measured out;
  std::ifstream file(measured_file());
  std::string family, stage;
  for (double per_node = 0; file >> family >> stage >> per_node;) out[{family, stage}] = per_node;
  return out;
}

double count_in(const fs::path& profile) {
  std::ifstream file(profile);
  for (std::string word; file >> word;) {
    if (word == "summary:") {
      double count = 0;
      file >> count;
      return count;
    }
  }
  ADD_FAILURE() << profile << " has no count: the function before which it is written is no longer called";
  return 0;
}

/// The small graph twice: the first time makes what is made once in a process. What is emitted is for a CPU with AVX2
/// and without AVX-512, whatever this one has.
Stages count_stages(const std::string& family, const Counted& of, const fs::path& folder) {
  const std::string command =
      str("INLAY_CPU_FEATURES=avx2 valgrind -q --tool=callgrind --dump-before='", of.end,
          "' --callgrind-out-file=", (folder / "count").string(), " '", INLAY_GROWTH_STAGES, "' ", family, " ", of.what,
          " ", of.small, " ", of.small, " ", of.large, " > ", (folder / "stages").string());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  Stages out;
  std::ifstream names(folder / "stages");
  int nodes = 0, number = 0;
  for (std::string stage; names >> nodes >> stage;) {
    const double count = count_in(folder / str("count.", ++number));
    if (stage == "before") continue;
    auto found = std::ranges::find(out, stage, &Stages::value_type::first);
    if (found == out.end()) found = out.insert(found, {stage, {}});
    (nodes == of.small ? found->second.small : found->second.large) = count;
  }
  return out;
}

bool can_count() { return std::system("valgrind --version > /dev/null 2>&1") == 0; }

void expect_linear(const std::string& family, const Counted& of) {
  const fs::path folder = fs::temp_directory_path() / str("inlay-growth-", getpid(), "-", family, "-", of.what);
  fs::create_directories(folder);
  const Stages stages = count_stages(family, of, folder);
  fs::remove_all(folder);
  ASSERT_FALSE(stages.empty());

  Measured measured = read_measured();
  const bool update = std::getenv("INLAY_UPDATE_GROWTH") != nullptr;
  for (const auto& [stage, counts] : stages) {
    const std::string what =
        str(family, ", ", stage, ": ", static_cast<int64_t>(counts.small), " instructions for ", of.small, " nodes, ",
            static_cast<int64_t>(counts.large), " for ", of.large, ", ", counts.growth(), " times as many");
    const double per_node = counts.large / of.large;
    EXPECT_LE(per_node, kMostGrowth * counts.small / of.large + kNotLookedAt) << what;
    if (update) {
      measured[{family, stage}] = per_node;
      continue;
    }
    const auto was = measured.find({family, stage});
    ASSERT_NE(was, measured.end()) << what << "; measured.txt does not have it";
    EXPECT_LE(per_node, of.headroom * was->second + kNotLookedAt) << what;
  }
  if (!update) return;
  std::ofstream file(measured_file());
  file << std::fixed << std::setprecision(0);
  for (const auto& [key, per_node] : measured) file << key.first << ' ' << key.second << ' ' << per_node << '\n';
}

void skip_where_nothing_is_counted() {
#ifndef NDEBUG
  GTEST_SKIP() << "counts are those of an optimized build";
#endif
  if (!can_count()) GTEST_SKIP() << "valgrind counts, and is not installed";
}

class Growth : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { skip_where_nothing_is_counted(); }
};

using GrowthOfStages = Growth;
TEST_P(GrowthOfStages, IsLinear) { expect_linear(GetParam(), kStages); }

using GrowthOfLowering = Growth;
TEST_P(GrowthOfLowering, IsLinear) { expect_linear(GetParam(), kLowering); }

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

using GrowthOfEmitting = Growth;
TEST_P(GrowthOfEmitting, IsLinear) {
  if (!INLAY_HAS_LLVM) GTEST_SKIP() << "LLVM emits, and is not in this build";
  if (!has_avx2()) GTEST_SKIP() << "counted is what is emitted for AVX2, which this CPU lacks";
  expect_linear(GetParam(), kEmitting);
}

using PartOfFamily = std::tuple<const char*, const char*>;

class GrowthOfParts : public testing::TestWithParam<PartOfFamily> {
 protected:
  void SetUp() override { skip_where_nothing_is_counted(); }
};

TEST_P(GrowthOfParts, IsLinear) {
  const auto& [what, family] = GetParam();
  expect_linear(family, *std::ranges::find(kParts, std::string_view(what), &Counted::what));
}

std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }
std::string name_of_part(const testing::TestParamInfo<PartOfFamily>& info) {
  std::string out = str(std::get<0>(info.param), "_", std::get<1>(info.param));
  std::ranges::replace(out, '-', '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Families, GrowthOfStages,
                         testing::Values("model", "chain", "shared", "wide_sum", "reductions", "groupings", "parts",
                                         "updates", "softmaxes", "calls", "placed"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Families, GrowthOfLowering, testing::Values("loops"), name_of);
// The kernels of the other families are like some of these.
INSTANTIATE_TEST_SUITE_P(Families, GrowthOfEmitting,
                         testing::Values("model", "chain", "reductions", "groupings", "softmaxes", "calls", "loops"),
                         name_of);

// Families that differ for the part: a bound parameter would need an array to be exported, and ONNX knows the length.
INSTANTIATE_TEST_SUITE_P(Families, GrowthOfParts,
                         testing::Values(PartOfFamily("single-precision", "model"), PartOfFamily("emit-c", "model"),
                                         PartOfFamily("emit-c", "softmaxes"), PartOfFamily("max", "softmaxes"),
                                         PartOfFamily("explain", "model"), PartOfFamily("explain", "softmaxes"),
                                         PartOfFamily("export", "softmaxes"), PartOfFamily("import-onnx", "chain")),
                         name_of_part);

}  // namespace
}  // namespace inlay
