// Every value that a program keeps in memory of its own has a reason, and so have any two kernels with data in common;
// every reason is explained in docs/fusion.md.
#include "kernel/stored.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/backends.h"
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

struct Found {
  std::set<std::string_view> stored, apart;
};

Found reasons_in(const Graph& graph, fuse::Mode mode, const std::string& path) {
  Options options;
  options.fuse = mode;
  const Lowered program = lower(graph, options);
  Found out;
  for (const kernel::Buffer& buffer : program.kernels.buffers) {
    if (buffer.role != kernel::Role::temporary || buffer.view_of.valid()) continue;
    EXPECT_NE(buffer.stored.why, kernel::StoredFor::unsaid)
        << path << " (" << fuse::mode_name(mode) << "): why is " << buffer.name << " stored?";
    out.stored.insert(kernel::stored_for_name(buffer.stored.why));
  }
  for (const explain::Apart& pair : program.apart()) {
    out.apart.insert(explain::apart_for_name(pair.why));
  }
  return out;
}

/// Programs with two kernels that a pass would make one by now: in a body, the trace of a loop is stored by a kernel
/// that comes after the passes of the body; of the others one kernel has taken in a third, and is not offered again.
constexpr std::string_view kMissed[] = {"slice_adds.inlay", "slice_writes_read_on.inlay", "loop_rows.inlay"};

TEST(Stored, EveryTemporaryOfEveryProgramHasAReasonAndNoTwoKernelsCouldStillBeOne) {
  for (const std::string& path : program_files()) {
    const ParseResult parsed = parse_all(parse_test_file(read_file(path), path).graph_text, path);
    if (!parsed.graph) continue;
    for (const fuse::Mode mode : {fuse::Mode::full, fuse::Mode::greedy, fuse::Mode::none}) {
      const Found found = reasons_in(*parsed.graph, mode, path);
      if (mode == fuse::Mode::greedy) continue;
      const bool is_missed = std::ranges::find(kMissed, fs::path(path).filename().string()) != std::end(kMissed);
      EXPECT_EQ(found.apart.contains("pass-off"), is_missed && mode == fuse::Mode::full) << path;
    }
  }
}

bool has_paragraph(const std::string& name) {
  static const std::string docs = read_file((fs::path(INLAY_SOURCE_DIR) / "docs" / "fusion.md").string());
  return docs.find("\n### " + name + "\n") != std::string::npos;
}

/// tests/programs/`folder`/`reason`.inlay
Found shown_in(const std::string& folder, const std::string& reason, fuse::Mode mode) {
  const fs::path path = fs::path(INLAY_SOURCE_DIR) / "tests" / "programs" / folder / (reason + ".inlay");
  return reasons_in(parse(parse_test_file(read_file(path.string()), path.string()).graph_text), mode, path.string());
}

TEST(Stored, EveryReasonHasAProgramAndAParagraph) {
  using kernel::StoredFor;
  for (int i = 1; i <= kernel::kNumStoredFor; ++i) {
    const auto why = static_cast<StoredFor>(i);
    const std::string name(kernel::stored_for_name(why));
    const fuse::Mode mode = why == StoredFor::several_readers ? fuse::Mode::greedy
                            : why == StoredFor::fusion_off    ? fuse::Mode::none
                                                              : fuse::Mode::full;
    EXPECT_TRUE(shown_in("reasons", name, mode).stored.contains(name)) << name;
    EXPECT_TRUE(has_paragraph(name)) << name;
  }
}

TEST(Apart, EveryReasonHasAProgramAndAParagraph) {
  using explain::ApartFor;
  for (int i = 0; i < transform::kNumApartFor; ++i) {
    const auto why = static_cast<ApartFor>(i);
    const std::string name(explain::apart_for_name(why));
    const fuse::Mode mode = why == ApartFor::pass_off     ? fuse::Mode::greedy
                            : why == ApartFor::fusion_off ? fuse::Mode::none
                                                          : fuse::Mode::full;
    // Not where the one backend of this build makes a variance in two passes.
    const bool occurs = why != ApartFor::one_pass || backend_of({}).caps().moments_in_one_pass;
    EXPECT_EQ(shown_in("apart", name, mode).apart.contains(name), occurs) << name;
    EXPECT_TRUE(has_paragraph(name)) << name;
  }
}

/// A fold that is complete only at the end keeps loops apart by nature; a limit or an estimate may not hide behind it.
TEST(Apart, ALimitAndAnEstimateAreNamedAsWhatDecides) {
  const auto reasons = [](const char* program) { return shown_in("fusion", program, fuse::Mode::full).apart; };
  EXPECT_THAT(reasons("many_rows"), testing::ElementsAre("many-loops"));
  EXPECT_THAT(reasons("softmaxes_of_two_axes"), testing::ElementsAre("moves-more"));
  EXPECT_THAT(reasons("transposed_rows"), testing::ElementsAre("whole-fold"));
}

TEST(Stored, HelpIsSaidWhereItHelps) {
  using kernel::stored_help;
  using kernel::StoredFor;
  EXPECT_NE(stored_help({.why = StoredFor::call_operand, .what = "matmul, which makes p,"}, false), "");
  EXPECT_EQ(stored_help({.why = StoredFor::call_operand, .what = "matmul, which makes p,"}, true), "");
  EXPECT_EQ(stored_help({.why = StoredFor::call_operand, .what = "sort"}, false), "");  // is a call, whatever its size
  EXPECT_NE(stored_help({.why = StoredFor::fusion_off}, true), "");
  EXPECT_EQ(stored_help({.why = StoredFor::fold}, false), "");
  EXPECT_EQ(stored_help({}, false), "");
}

/// Of the pairs that go over other axes, what helps.
std::set<std::string_view> helps_of_axes(const std::string& text) {
  std::set<std::string_view> out;
  for (const explain::Apart& pair : lower(parse(text)).apart()) {
    if (pair.why == explain::ApartFor::other_axes) out.insert(pair.help);
  }
  return out;
}

TEST(Apart, HelpIsSaidWhereItHelps) {
  const std::set<std::string_view> of_one = helps_of_axes(R"(graph @main(%x: f64[n], %y: f64[m]) assume n == m + 1 {
  %e = exp %x
  %s = slice %x[0:m]
  %r = mul %s, %y
  return %e, %r
})");
  ASSERT_EQ(of_one.size(), 1u);
  EXPECT_TRUE(of_one.begin()->starts_with("where the sizes are equal, say so")) << *of_one.begin();
  // Equal or not, they are sizes of another number of axes.
  const std::set<std::string_view> of_two = helps_of_axes(R"(graph @main(%x: f64[n], %y: f64[m]) {
  %e = exp %x
  %row = reshape %x : f64[n, 1]
  %r = mul %row, %y
  return %e, %r
})");
  EXPECT_EQ(of_two, std::set<std::string_view>{""});
}

TEST(Apart, WhatIsStoredCountsForTheLengthOfALoop) {
  const std::set<std::string_view> apart = shown_in("apart", "long-loop-stores", fuse::Mode::full).apart;
  EXPECT_EQ(apart, std::set<std::string_view>{"long-loop"});
}

}  // namespace
}  // namespace inlay::tool
