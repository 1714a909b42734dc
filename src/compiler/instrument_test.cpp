#include "compiler/instrument.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "compiler/sample_sizes.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "rewrite/dead_values.h"
#include "rewrite/simplify.h"

namespace inlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

const char kSource[] = R"(graph @main(%x: f64[n]) {
  %a = neg %x
  %b = neg %a
  %c = exp %b
  return %c
})";

Graph broken(const Graph& graph, PassContext&) {
  Graph out = graph;
  out.values[out.outputs[0].value].type.dtype = DType::i64;
  return out;
}

Graph throwing(const Graph&, PassContext&) {
  INLAY_CHECK(1 + 1 == 3, "arithmetic");
  return {};
}

Graph nothing(const Graph& graph, PassContext&) { return graph; }

constexpr GraphPass kPasses[] = {
    {"nothing", "leaves all as it is", anew<nothing>},
    {"simplify", "fold, cancel, stabilize", anew<rewrite::simplify>},
    {"dead-values", "drop what nothing needs", anew<rewrite::drop_dead_values>},
};

/// A directory that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "inlay-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  /// The files of the one program that was dumped, wherever it was put.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) out.push_back(entry.path().filename().string());
    }
    std::ranges::sort(out);
    return out;
  }
  /// The file whose name ends so: the number before it is other in another list of passes.
  std::string read(const std::string& end_of_name) const {
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (!entry.path().filename().string().ends_with(end_of_name)) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      return text.str();
    }
    return "";
  }

 private:
  fs::path path_;
};

Options quiet() {
  Options options;
  options.dump_directory.clear();
  options.verify = false;
  return options;
}

TEST(Instrument, TimesAndCountsEachPassUnderItsName) {
  const Graph source = parse(kSource);
  const Options options = quiet();
  Instrument run(options);
  const Graph graph = run.passes(kPasses, source);
  EXPECT_EQ(run.stage("double", [] { return 2.0; }), 2.0);
  EXPECT_EQ(graph.nodes.size(), 1u);
  std::vector<std::string> stages;
  for (const auto& [name, seconds] : run.seconds()) {
    stages.push_back(name);
    EXPECT_GE(seconds, 0);
  }
  EXPECT_THAT(stages, ElementsAre("nothing", "simplify", "dead-values", "double"));
  ASSERT_EQ(run.counts().size(), 3u);
  EXPECT_EQ(run.counts()[1].counts, (std::vector<std::pair<std::string, int64_t>>{{"neg-neg", 1}}));
}

TEST(Instrument, DumpsWhatEachStepChanged) {
  Folder folder;
  Options options = quiet();
  options.dump_directory = folder.path();
  const Graph source = parse(kSource);
  Instrument run(options);
  const Graph graph = run.passes(kPasses, source);
  struct Emitted {
    std::vector<std::pair<std::string, std::string>> texts = {{"ll", "; ir\n"}, {"s", "# assembly\n"}};
  };
  run.stage("emit", [] { return Emitted(); });
  EXPECT_THAT(folder.files(),
              ElementsAre("00-source.inlay", "02-simplify.inlay", "03-dead-values.inlay", "04-emit.ll", "05-emit.s"));
  EXPECT_EQ(folder.read("03-dead-values.inlay"), print(graph));
  EXPECT_EQ(print(parse(folder.read("00-source.inlay"))), print(source));
}

TEST(Instrument, DumpsWhatTheFuserDecidedInEachRoundAndOfBodiesToo) {
  const Folder folder;
  Options options;
  options.dump_directory = folder.path();
  const Graph graph = parse(R"(graph @main(%x: f64[n]) {
  %y = loop %i < 2 carry (%h = %x) {
    %e = exp %h
    %s = reduce add %e [0] : f64
    %next = div %e, %s
    return %next
  }
  return %y
})");
  lower(graph, options);
  const std::string text = folder.read("-fuse.decisions");
  EXPECT_THAT(text, HasSubstr("# @body, round 1\n  value  how     with  why\n  e      stored        several-places: "));
  EXPECT_THAT(text, HasSubstr("# @main, round 0\n"));
}

TEST(Instrument, DumpsHowUpdatesBeginAndWhichResultsAreCopied) {
  const Folder folder;
  Options options;
  options.dump_directory = folder.path();
  const Graph graph = parse(R"(graph @main(%x: f64[n], %y: f64[n]) {
  %zero = literal 0.0 : f64
  %one = literal 1.0 : f64
  %whole = update set %x[0:2], %zero
  %sum = add %x, %y
  %onto = update add %sum[0:2], %one
  %zeros = broadcast %zero : f64[n]
  %at = literal [0, 1] : i64[2]
  %filled = scatter add %zeros[%at], %one
  %moved = scatter add %y[%at], %one
  %computed = scatter add %sum[%at], %one
  return %whole, %onto, %filled, %moved, %computed, %x, %whole, %one
})");
  lower(graph, options);
  const std::string text = folder.read("-fuse.decisions");
  for (const char* row :
       {"whole +stored in out0, begins: left-over, 1 left ", "onto +stored in out1, begins: left-over, 1 left ",
        "filled +stored in out2, begins: fill ", "moved +stored in out3, begins: copy ",
        "computed +stored in out4, begins: computed ", "out5 +copied +x +an output never shares the bytes of an input",
        "out6 +copied +whole +returned more than once", "out7 +by points +one"}) {
    EXPECT_THAT(text, ::testing::ContainsRegex(row));
  }
}

TEST(Instrument, KernelsOfAFileAreNotOurs) {
  const kernel::KernelProgram half =
      kernel::parse(R"(program @main(x: f64[n] param 0, y: f64[2*n] output 0) symbols n = x.0 {
  kernel @k0 {
    stage (i < n) {
      %0 = load x[i] : f64
      store y[i] set %0
    }
  }
})");
  Options options = quiet();
  options.verify = true;
  try {
    lower(half, options);
    FAIL() << "the verifier said nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_program) << error.what();
  }
}

kernel::KernelProgram without_its_load(kernel::KernelProgram program, LoopPass::Context&) {
  auto& statements = std::get<kernel::Kernel>(program.steps.front()).stages.front().statements;
  statements.erase(statements.begin());
  return program;
}

TEST(Instrument, WhatAPassMakesOfKernelsOfAFileIsOurs) {
  const kernel::KernelProgram sound =
      kernel::parse(R"(program @main(x: f64[n] param 0, y: f64[n] output 0) symbols n = x.0 {
  kernel @k0 {
    stage (i < n) {
      %0 = load x[i] : f64
      store y[i] set %0
    }
  }
})");
  Options options = quiet();
  options.verify = true;
  const LoopPass table[] = {{"break", "leaves a load out", without_its_load}};
  Instrument run(options);
  try {
    run.passes(table, run.given(sound), LoopPass::Of::whole, {});
    FAIL() << "the verifier said nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("the verifier rejects what break made: "));
    EXPECT_THAT(error.what(), HasSubstr("please report it, with the file"));
  }
  PassContext counts;
  const kernel::BackendCaps caps;
  std::optional<memory::Sharing> sharing;
  LoopPass::Context context{{"", caps, counts}, options, sharing, ""};
  const kernel::KernelProgram wrong = without_its_load(sound, context);
  try {
    run_pass(wrong, "order-axes", options);
    FAIL() << "the verifier said nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_program) << error.what();
  }
}

TEST(Instrument, SaysWhichPassBrokeTheGraphAndWritesAReproducer) {
  Folder folder;
  Options options = quiet();
  options.dump_directory = folder.path();
  options.verify = true;
  const GraphPass table[] = {kPasses[1], {"break", "breaks the graph", anew<broken>}};
  const Graph source = parse(kSource);
  Instrument run(options);
  try {
    run.passes(table, source);
    FAIL() << "the verifier said nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_THAT(error.what(), HasSubstr("the verifier rejects what break made: %c"));
    EXPECT_THAT(error.what(), HasSubstr("pass   break"));
    EXPECT_THAT(error.what(), HasSubstr("reproducer "));
  }
  // What the failing pass was given: the result of the one before.
  const std::vector<std::string> files = folder.files();
  const auto reproducer =
      std::ranges::find_if(files, [](const auto& name) { return name.starts_with("inlay-reproducer"); });
  ASSERT_NE(reproducer, files.end());
  EXPECT_EQ(print(parse(folder.read(*reproducer))), folder.read("01-simplify.inlay"));
}

TEST(Instrument, NamesThePassThatBrokeItsOwnPromise) {
  Folder folder;
  Options options = quiet();
  options.dump_directory = folder.path();
  const GraphPass table[] = {{"throw", "throws", anew<throwing>}};
  const Graph source = parse(kSource);
  Instrument run(options);
  try {
    run.passes(table, source);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("arithmetic"));
    EXPECT_THAT(error.what(), HasSubstr("pass   throw"));
  }
}

TEST(Instrument, ReportsWhatFailedWhereNoReproducerCanBeWritten) {
  const char* before = std::getenv("TMPDIR");
  const std::string folder = before ? before : "";
  setenv("TMPDIR", "/proc", 1);
  const GraphPass table[] = {{"throw", "throws", anew<throwing>}};
  const Options options = quiet();
  Instrument run(options);
  try {
    run.passes(table, parse(kSource));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pass   throw"));
    EXPECT_THAT(error.what(), HasSubstr("reproducer cannot be written to /proc/inlay-reproducer-"));
  }
  before ? setenv("TMPDIR", folder.c_str(), 1) : unsetenv("TMPDIR");
}

TEST(Instrument, LeavesACallersMistakeAlone) {
  const Options options = quiet();
  Instrument run(options);
  const auto fail = []() -> int { throw Error(ErrorCode::unsupported, {}, "no"); };
  try {
    run.stage("emit", fail);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "error[unsupported]: no");
  }
}

TEST(Instrument, BisectsOverAllPasses) {
  Options options = quiet();
  options.rewrite.max_rewrites = 0;
  const Graph source = parse(kSource);
  Instrument run(options);
  EXPECT_EQ(run.passes(kPasses, source).nodes.size(), 3u);
}

TEST(SampleSizes, ObeyTheSizeChecks) {
  kernel::KernelProgram program;
  const Dim n = Dim::symbol(program.symbols.push_back({"n", {}, 0}));
  const Dim m = Dim::symbol(program.symbols.push_back({"m", {}, 0}));
  program.steps.emplace_back(kernel::SizeCheck{n, m + 1, DimCheck::Relation::equal, {}});
  const auto samples = sample_sizes(program);
  EXPECT_EQ(samples.size(), 3u);
  for (const auto& symbols : samples) EXPECT_EQ(symbols[0], symbols[1] + 1);
}

TEST(SampleSizes, ReachASecondTile) {
  const Lowered columns = lower(parse(R"(graph @main(%x: f64[n, m]) {
    %s = reduce add %x [0] : f64
    %e = sub %x, %s
    return %e
  })"));
  const auto* kernel = std::get_if<kernel::Kernel>(&columns.kernels.steps.front());
  ASSERT_TRUE(kernel && kernel->is_tiled());
  const auto samples = sample_sizes(columns.kernels);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_GT(kernel->outer.back().extent.evaluate(samples.back()), kernel->tile);
  EXPECT_LT(samples.back()[0], kernel->tile);
}

}  // namespace
}  // namespace inlay
