// What the emitter relies on when it copies a vector function: one basic block, no calls but intrinsics, no globals.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/llvm/math/bitcode.h"
#include "backend/llvm/math/vector_loops_test.h"

namespace inlay::llvm_backend {
namespace {

/// The text form of the bitcode, one string per line.
std::vector<std::string> lines_of_text(int lanes) {
  std::ifstream in(INLAY_VECTOR_MATH_TEXT + std::to_string(lanes) + ".ll");
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

class VectorMathText : public testing::TestWithParam<VectorWidth> {
 protected:
  static int lanes() { return GetParam().lanes; }
};
INSTANTIATE_TEST_SUITE_P(All, VectorMathText, testing::ValuesIn(kVectorWidths),
                         [](const auto& info) { return std::to_string(info.param.lanes); });

TEST_P(VectorMathText, EveryFunctionIsOneBlockWithTablesOnly) {
  const std::regex define("define .*@inlay_[df][0-9]+_([a-z0-9_]+)\\(.*\\{");
  const std::regex label("^[A-Za-z0-9._]+:.*");
  const std::regex terminator("^  (br|switch|unreachable|invoke|indirectbr) .*");
  int functions = 0;
  std::string inside;
  for (const std::string& line : lines_of_text(lanes())) {
    std::smatch match;
    if (line.starts_with("@")) {
      EXPECT_NE(lanes(), 8) << "a table in memory: " << line.substr(0, 40);
      EXPECT_NE(line.find(" constant ["), std::string::npos) << line.substr(0, 40);
    }
    if (std::regex_match(line, match, define)) {
      inside = match[1];
      ++functions;
    } else if (line == "}") {
      inside.clear();
    } else if (!inside.empty()) {
      EXPECT_FALSE(std::regex_match(line, label)) << inside << " has a second block: " << line;
      EXPECT_FALSE(std::regex_match(line, terminator)) << inside << " branches: " << line;
      for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
        const bool is_table = line.compare(at, 2, "@k") == 0;
        EXPECT_TRUE(is_table || line.compare(at, 6, "@llvm.") == 0) << inside << " refers to " << line;
      }
    }
  }
  EXPECT_GE(functions, 15);
}

TEST_P(VectorMathText, EveryFunctionCanBeCalled) {
  std::set<std::string> callable;
  const std::string doubles = "inlay_d" + std::to_string(lanes()) + "_",
                    floats = "inlay_f" + std::to_string(2 * lanes()) + "_";
#define OF_DOUBLES(name) callable.insert(doubles + #name);
#define OF_FLOATS(name) callable.insert(floats + #name);
#include "ops/vector_functions.def"
#undef OF_DOUBLES
#undef OF_FLOATS
  const std::regex define("define .*@(inlay_[df][0-9]+_[a-z0-9_]+)\\(.*\\{");
  std::set<std::string> functions;
  for (const std::string& line : lines_of_text(lanes())) {
    std::smatch match;
    if (std::regex_match(line, match, define) && !match[1].str().ends_with("_domain")) functions.insert(match[1]);
  }
  EXPECT_EQ(functions, callable);
}

TEST_P(VectorMathText, TheBytesAreBitcode) {
  const InlayBitcode bitcode = inlay_vector_math_bitcode(lanes());
  ASSERT_GT(bitcode.size, 1000u);
  EXPECT_EQ(bitcode.bytes[0], 'B');
  EXPECT_EQ(bitcode.bytes[1], 'C');
  EXPECT_EQ(bitcode.bytes[bitcode.size], 0);
}

}  // namespace
}  // namespace inlay::llvm_backend
