// Calls upon calls of every program in tests/programs and tests/errors, those that fail too: none may leave anything
// behind. A call that leaves one word a thousand times is seen at once, for what malloc has given out is counted.
#include <algorithm>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>
#include <malloc.h>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "host_functions.h"
#include "ir/text.h"
#include "native_run.h"
#include "npy.h"
#include "test_file.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kCalls = 1000, kCallsBefore = 20;
// malloc counts a few free blocks that it keeps for a thread as given out, and which they are may change once. What a
// call leaves behind it leaves in each round.
constexpr int kRounds = 3;
constexpr int64_t kMostBytes = 1 << 16;  // of the arguments: what is longer takes its time and shows nothing more

int64_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

/// Does malloc count? Not where a sanitizer has taken its place, which looks for leaks itself.
bool malloc_counts() {
  const int64_t before = bytes_in_use();
  const std::vector<char> block(1 << 12);
  return bytes_in_use() - before >= static_cast<int64_t>(block.size());
}

std::vector<std::string> program_files() {
  std::vector<std::string> paths;
  for (const char* folder : {"programs", "errors"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(INLAY_SOURCE_DIR) / "tests" / folder)) {
      if (entry.path().extension() == ".inlay") paths.push_back(entry.path().string());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

/// What a call left behind, and how many of the calls failed.
struct Soaked {
  int64_t bytes = 0;
  int failed = 0;
};

Soaked soak(const Graph& graph, const Given& given, const runtime::Executable& executable, int calls) {
  Random random(1);
  const std::vector<Tensor> inputs = random_inputs(graph, given, random);
  const auto functions = host_functions_of(graph);
  Soaked out;
  const auto call = [&](int times) {
    for (int i = 0; i < times; ++i) {
      try {
        run_native(executable, inputs, functions);
      } catch (const Error&) {
        ++out.failed;
      }
    }
  };
  call(kCallsBefore);  // memory that a thread keeps
  for (int round = 0; round < kRounds; ++round) {
    const int64_t before = bytes_in_use();
    out.failed = 0;
    call(calls);
    out.bytes = bytes_in_use() - before;
    if (out.bytes == 0) break;
  }
  return out;
}

bool is_short(const Graph& graph, const Given& given) {
  Random random(1);
  int64_t bytes = 0;
  for (const Tensor& input : random_inputs(graph, given, random)) bytes += static_cast<int64_t>(input.data.size());
  return bytes <= kMostBytes;
}

TEST(Soak, ThousandCallsOfEveryProgramLeaveNothing) {
  if (!backend_of({}).is_available()) GTEST_SKIP() << "nothing to call";
  const bool counts = malloc_counts();
  int programs = 0, runs = 0, failed = 0;
  for (const std::string& path : program_files()) {
    const TestFile file = parse_test_file(read_file(path), path);
    const ParseResult parsed = parse_all(file.graph_text, path);
    if (!parsed.graph) continue;  // its error is found while it is read
    std::optional<Program> program;
    for (const Directive& directive : file.directives) {
      if (directive.name != "run" && directive.name != "fails") continue;
      for (const Given& given : runs_of(*parsed.graph, directive)) {
        if (!is_short(*parsed.graph, given)) continue;
        if (!program) program.emplace(compile_program(*parsed.graph, Options()));
        const int calls = counts ? kCalls : kCallsBefore;
        const Soaked soaked = soak(*parsed.graph, given, program->executable, calls);
        if (counts) {
          EXPECT_EQ(soaked.bytes, 0) << path << ":" << directive.line << ": after " << calls << " calls";
        }
        EXPECT_EQ(soaked.failed, directive.name == "fails" ? calls : 0) << path << ":" << directive.line;
        ++runs;
        failed += soaked.failed > 0;
        break;  // one of each directive: the others differ in sizes only
      }
    }
    programs += program.has_value();
  }
  std::cout << programs << " programs, " << runs << " runs, " << failed << " of which fail\n";
  EXPECT_GT(programs, 100);
  EXPECT_GT(failed, 20);
}

}  // namespace
}  // namespace inlay::tool
