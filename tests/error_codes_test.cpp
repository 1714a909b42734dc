// Every error that a caller can meet is explained in docs/errors.md, and its whole text is compared in some test.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/error.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

/// All tests in one text.
std::string all_tests() {
  std::string out;
  for (const char* folder : {"src", "tests", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(INLAY_SOURCE_DIR) / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with("_test.cpp") || name.ends_with(".inlay") ||
          (name.starts_with("test_") && name.ends_with(".py"))) {
        out += read(entry.path());
      }
    }
  }
  return out;
}

TEST(ErrorCodes, HaveAParagraphAndATest) {
  const std::string docs = read(fs::path(INLAY_SOURCE_DIR) / "docs" / "errors.md");
  const std::string tests = all_tests();
  for (int i = 0; i < kNumErrorCodes; ++i) {
    const std::string name(code_name(static_cast<ErrorCode>(i)));
    EXPECT_NE(docs.find("\n## " + name + "\n" + std::string(python_class(static_cast<ErrorCode>(i))) + ". "),
              std::string::npos)
        << "docs/errors.md has no paragraph for " << name;
    const bool compared = tests.find("#! " + name + ": ") != std::string::npos ||
                          tests.find("error[" + name + "]: ") != std::string::npos ||
                          tests.find(": " + name + ": ") != std::string::npos;
    EXPECT_TRUE(compared) << "no test compares the text of " << name;
  }
}

}  // namespace
}  // namespace inlay
