// Every value that a program keeps in memory of its own has a reason, and every reason is explained in docs/fusion.md.
#include "kernel/stored.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "ir/text.h"
#include "npy.h"
#include "program_file.h"
#include "test_file.h"

namespace inlay::tool {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> program_files() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(INLAY_SOURCE_DIR) / "tests" / "programs")) {
    if (entry.path().extension() == ".inlay") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::set<std::string_view> reasons_in(const Graph& graph, fuse::Mode mode, const std::string& path) {
  Options options;
  options.fuse = mode;
  const Lowered program = lower(graph, options);
  std::set<std::string_view> out;
  for (const kernel::Buffer& buffer : program.kernels.buffers) {
    if (buffer.role != kernel::Role::temporary || buffer.view_of.valid()) continue;
    EXPECT_NE(buffer.stored.why, kernel::StoredFor::unsaid)
        << path << " (" << fuse::mode_name(mode) << "): why is " << buffer.name << " stored?";
    out.insert(kernel::stored_for_name(buffer.stored.why));
  }
  return out;
}

TEST(Stored, EveryTemporaryOfEveryProgramHasAReason) {
  for (const std::string& path : program_files()) {
    const ParseResult parsed = parse_all(parse_test_file(read_file(path), path).graph_text, path);
    if (!parsed.graph) continue;
    for (const fuse::Mode mode : {fuse::Mode::full, fuse::Mode::greedy, fuse::Mode::none}) {
      reasons_in(*parsed.graph, mode, path);
    }
  }
}

TEST(Stored, EveryReasonHasAProgramAndAParagraph) {
  using kernel::StoredFor;
  std::ostringstream docs;
  docs << std::ifstream(fs::path(INLAY_SOURCE_DIR) / "docs" / "fusion.md").rdbuf();
  for (int i = 1; i <= kernel::kNumStoredFor; ++i) {
    const auto why = static_cast<StoredFor>(i);
    const std::string name(kernel::stored_for_name(why));
    const fuse::Mode mode = why == StoredFor::several_readers ? fuse::Mode::greedy
                            : why == StoredFor::fusion_off    ? fuse::Mode::none
                                                              : fuse::Mode::full;
    const fs::path path = fs::path(INLAY_SOURCE_DIR) / "tests" / "programs" / "reasons" / (name + ".inlay");
    const Graph graph = parse(parse_test_file(read_file(path.string()), path.string()).graph_text);
    EXPECT_TRUE(reasons_in(graph, mode, path.string()).contains(name)) << path << " does not show it";
    EXPECT_NE(docs.str().find("\n### " + name + "\n"), std::string::npos)
        << "docs/fusion.md has no paragraph for " << name;
  }
}

}  // namespace
}  // namespace inlay::tool
