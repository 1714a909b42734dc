// What the emitter relies on when it copies a vector function: one basic block, no calls but intrinsics, no globals.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/llvm/math/bitcode.h"

namespace inlay::llvm_backend {
namespace {

/// The text form of the bitcode, one string per line.
std::vector<std::string> lines() {
  std::ifstream in(INLAY_VECTOR_MATH_TEXT);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST(VectorMathText, EveryFunctionIsOneBlockWithoutGlobals) {
  const std::regex define("define .*@inlay_v(?:8|16)_([a-z0-9_]+)\\(.*\\{");
  const std::regex label("^[A-Za-z0-9._]+:.*");
  const std::regex terminator("^  (br|switch|unreachable|invoke|indirectbr) .*");
  int functions = 0;
  std::string inside;
  for (const std::string& line : lines()) {
    std::smatch match;
    EXPECT_NE(line.substr(0, 1), "@") << "a global: " << line;
    if (std::regex_match(line, match, define)) {
      inside = match[1];
      ++functions;
    } else if (line == "}") {
      inside.clear();
    } else if (!inside.empty()) {
      EXPECT_FALSE(std::regex_match(line, label)) << inside << " has a second block: " << line;
      EXPECT_FALSE(std::regex_match(line, terminator)) << inside << " branches: " << line;
      for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
        EXPECT_EQ(line.compare(at, 6, "@llvm."), 0) << inside << " refers to " << line;
      }
    }
  }
  EXPECT_GE(functions, 15);
}

TEST(VectorMathText, EveryFunctionCanBeCalled) {
  const std::set<std::string> callable = {
#define EIGHT(name) "inlay_v8_" #name,
#define SIXTEEN(name) "inlay_v16_" #name,
#include "backend/llvm/math/vector_code.def"
#undef EIGHT
#undef SIXTEEN
  };
  const std::regex define("define .*@(inlay_v(?:8|16)_[a-z0-9_]+)\\(.*\\{");
  std::set<std::string> functions;
  for (const std::string& line : lines()) {
    std::smatch match;
    if (std::regex_match(line, match, define) && !match[1].str().ends_with("_domain")) functions.insert(match[1]);
  }
  EXPECT_EQ(functions, callable);
}

TEST(VectorMathText, TheBytesAreBitcode) {
  const InlayBitcode bitcode = inlay_vector_math_bitcode();
  ASSERT_GT(bitcode.size, 1000u);
  EXPECT_EQ(bitcode.bytes[0], 'B');
  EXPECT_EQ(bitcode.bytes[1], 'C');
  EXPECT_EQ(bitcode.bytes[bitcode.size], 0);
}

}  // namespace
}  // namespace inlay::llvm_backend
