// inlay test
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "commands.h"
#include "npy.h"
#include "terminal.h"
#include "test_program.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

/// Files as they are; of folders every *.inlay below them, sorted.
std::vector<std::string> test_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".inlay") inside.push_back(entry.path().string());
    }
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace

int test(const TestCommand& command) {
  ProgramTestOptions options{.seed = command.seed, .update = command.update ? Update::yes : Update::no};
  options.compile = command.compile.options();
  std::size_t failed = 0;
  int runs = 0;
  const std::vector<std::string> files = test_files(command.paths);
  {
    Progress progress("");
    for (std::size_t i = 0; i < files.size(); ++i) {
      progress.now(str(i + 1, " of ", files.size(), ": ", files[i]));
      const std::string text = read_file(files[i]);
      const ProgramTestResult result = run_program_test(text, files[i], options);
      runs += result.runs;
      if (command.update && result.updated != text) {
        write_file(files[i], result.updated);
        progress.print(str("updated ", files[i], "\n"));
      }
      for (const std::string& failure : result.failures) progress.print(failure + "\n");
      if (!result.failures.empty()) ++failed;
    }
  }
  const bool passed = failed == 0 && !files.empty();
  const std::string summary = str(files.size() - failed, " of ", files.size(), " program tests passed");
  std::cout << coloured(summary, passed ? Colour::green : Colour::red, 1) << " (" << runs << " runs, seed "
            << command.seed << ")\n";
  if (files.empty()) std::cout << "no program test was found\n";
  return passed ? kDone : kFailed;
}

}  // namespace inlay::tool
