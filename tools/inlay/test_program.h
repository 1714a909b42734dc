#pragma once
// Runs a program test: every judge against the reference, and the structure against what the file says.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judges.h"
#include "test_file.h"

namespace inlay::tool {

enum class Update : uint8_t { no, yes };

struct ProgramTestOptions {
  uint64_t seed = 1;
  /// Yes: what stands after `count`, `fuse` and `pass` is no failure, since it is about to be replaced.
  Update update = Update::no;
  Options compile;
};

struct ProgramTestResult {
  std::vector<std::string> failures;  // "x.inlay:7: llvm: output 0: element 3 is ..."; empty: passed
  std::string updated;                // the file with the words and bodies that would have passed
  int runs = 0;
};

ProgramTestResult run_program_test(std::string_view text, const std::string& path, const ProgramTestOptions& options);

}  // namespace inlay::tool
