#include "test_program.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare.h"
#include "ir/text.h"
#include "oracle/reference/evaluate.h"

namespace inlay::tool {
namespace {

using reference::f64;
using reference::i64;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> failures(std::string_view text) { return run_program_test(text, "t.inlay", {}).failures; }

TEST(TestFile, SplitsAFileIntoGraphAndDirectives) {
  const std::string text = "# why\ngraph @main() {   #! syntax: what\n}\n#= run n=1\n#= fuse\nkernel {\n}\n#= count\n";
  const TestFile file = parse_test_file(text, "t");
  EXPECT_EQ(file.graph_text, "# why\ngraph @main() {   #! syntax: what\n}\n");
  ASSERT_EQ(file.errors.size(), 1U);
  EXPECT_EQ(file.errors[0].line, 2);
  EXPECT_EQ(file.errors[0].text, "syntax: what");
  ASSERT_EQ(file.directives.size(), 3U);
  EXPECT_EQ(file.directives[1].name, "fuse");
  EXPECT_EQ(file.directives[1].body, "kernel {\n}\n");
  EXPECT_EQ(file.directives[2].line, 8);
  EXPECT_EQ(file.to_text(), text);
}

TEST(TestFile, ReadsRuns) {
  const Graph graph = parse("graph @main(%x: f64[n], %i: i64[a, b]) { \nreturn }");
  const auto runs = runs_of(graph, {"run", "n=0 n=1,a=2 x=[1, nan] i=[[1, 2], [3, 4]]", "", 1});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].sizes.at("n"), 0);
  EXPECT_EQ(runs[1].sizes.at("a"), 2);
  EXPECT_EQ(runs[1].values.at("i"), i64({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(runs[1].values.at("x").dims, (std::vector<int64_t>{2}));
  EXPECT_EQ(runs_of(graph, {"run", "i=[[9007199254740993, -9223372036854775808]]", "", 1})[0].values.at("i"),
            i64({1, 2}, {9007199254740993, std::numeric_limits<int64_t>::min()}));
  EXPECT_THROW(runs_of(graph, {"run", "i=[[1.5]]", "", 1}), Error);
  EXPECT_THROW(runs_of(graph, {"run", "n", "", 1}), Error);
  EXPECT_THROW(runs_of(graph, {"run", "i=[[1], 2]", "", 1}), Error);
  EXPECT_THROW(runs_of(graph, {"run", "n=many", "", 1}), Error);
}

TEST(ProgramTest, OfNothingFails) {
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  return %x\n}\n"),
              ElementsAre("t.inlay: nothing to test: no directive, such as `#= run`, and no error that is expected"));
}

TEST(ProgramTest, SaysWhatAPassMakesOfAGraph) {
  const std::string source = "graph @main(%x: f64[n]) {\n  %a = neg %x\n  %b = neg %a\n  return %b\n}\n";
  const std::string wanted = "graph @main(%x: f64[n]) {\n  %a = neg %x : f64[n]\n  return %x\n}\n";
  EXPECT_THAT(failures(source + "#= pass simplify\n" + wanted + "#= run n=3\n#= count kernels 0, copies 1\n"),
              IsEmpty());
  EXPECT_THAT(failures(source + "#= pass simplify\n"), ElementsAre("t.inlay:6: the graph is\n" + wanted));
  const std::string without = "graph @main(%x: f64[n]) {\n  return %x\n}\n";
  EXPECT_THAT(failures(source + "#= pass simplify\n" + wanted + "#= pass dead-values\n" + without), IsEmpty());
  EXPECT_THAT(failures(source + "#= pass order-axes\n"),
              ElementsAre(HasSubstr("t.inlay:6: error[unsupported]: the pass order-axes is none of graphs")));
}

TEST(ProgramTest, SizesThatContradictAnArrayFail) {
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  return %x\n}\n#= run n=0 x=[1, nan]\n"),
              ElementsAre("t.inlay:4: error[shape-mismatch]: n=0 is given, but dim 0 of %x is 2"));
}

TEST(RandomInputs, KeepToAssumptionsAndFactsAndWhatIsIndexed) {
  const Graph graph = parse(
      R"(graph @main(%x: f64[n], %y: f64[m], %i: i64[k], %g: i64[k] bound {min 3, max 5, sorted}) assume n == m + 1 {
    %r = gather %x[%i]
    return %r
  })");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const auto inputs = random_inputs(graph, {{{"m", 4}}, {}}, random);
    EXPECT_EQ(inputs[0].dims[0], 5);
    for (int64_t i = 0; i < inputs[2].num_elements(); ++i) {
      EXPECT_LE(std::abs(inputs[2].get<int64_t>(i) * 2 + 1), 9);
      EXPECT_GE(inputs[3].get<int64_t>(i), i == 0 ? 3 : inputs[3].get<int64_t>(i - 1));
      EXPECT_LE(inputs[3].get<int64_t>(i), 5);
    }
    reference::evaluate(graph, inputs);
  }
  Random random(1);
  EXPECT_THROW(random_inputs(graph, {{{"z", 4}}, {}}, random), Error);
  EXPECT_THROW(random_inputs(graph, {{}, {{"z", f64({}, {1})}}}, random), Error);
}

TEST(RunProgramTest, PassesWhatIsRight) {
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  %r = exp %x\n  return %r\n}\n#= run n=0 n=3\n"), IsEmpty());
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  %r = exo %x #! unknown-op: there is no op exo\n  return %r\n}\n"),
              IsEmpty());
  EXPECT_THAT(failures("graph @main(%x: f64[n], %i: i64[k]) {\n  %r = gather %x[%i] #! index-out-of-bounds: gather: "
                       "index 7 is out of bounds for axis 0 with size 2\n"
                       "  return %r\n}\n#= run i=[0, 1] x=[1, 2]\n#= fails i=[0, 7] x=[1, 2]\n"),
              IsEmpty());
}

TEST(RunProgramTest, FailsWhatIsWrong) {
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  %r = exo %x\n  return %r\n}\n"),
              ElementsAre(HasSubstr("t.inlay:2: not expected: error[unknown-op]")));
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {   #! syntax: x\n  return %x\n}\n"),
              ElementsAre("t.inlay:1: expected, but nothing is wrong here: syntax: x"));
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  return %x\n}\n#= dance\n"),
              ElementsAre("t.inlay:4: there is no directive dance"));
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  return %x\n}\n#= fails n=3\n"),
              testing::Contains("t.inlay:4: reference: it does not fail\n"
                                "  no line says what is expected: `#! code: message`"));
  EXPECT_THAT(
      failures("graph @main(%x: f64[n]) {\n  return %x\n}\n#= run z=3\n"),
      ElementsAre(HasSubstr("t.inlay:4: error[unknown-name]: the program has no size and no parameter called z\n"
                            "  help: its sizes are n")));
  EXPECT_THAT(failures("graph @main(%x: f64[n]) {\n  %r = exp %x\n  return %r\n}\n#= count kernels 7\n"),
              ElementsAre("t.inlay:5: count kernels 7\n  found kernels 1"));
}

TEST(RunProgramTest, SaysWhatWasExpectedAndWhatCame) {
  const auto failure = [](const std::string& expected, const std::string& directive) {
    return failures("graph @main(%x: f64[n], %i: i64[k]) {\n  %r = gather %x[%i]  #! " + expected +
                    "\n  return %r\n}\n#= fails " + directive + "\n")
        .at(0);
  };
  const std::string message = "index-out-of-bounds: gather: index 7 is out of bounds for axis 0 with size ";
  EXPECT_EQ(failure(message + "3", "i=[0, 7] x=[1, 2]"), "t.inlay:5: reference: it fails on line 2 with\n    " +
                                                             message + "2\n  expected on line 2\n    " + message + "3");
  EXPECT_EQ(failure(message + "2", "i=[0, 1] x=[1, 2]"),
            "t.inlay:5: reference: it does not fail\n  expected on line 2\n    " + message + "2");
}

TEST(RunProgramTest, UpdateRewritesWhatFollowsADirective) {
  const std::string text = "graph @main(%x: f64[n]) {\n  %r = exp %x\n  return %r\n}\n#= count kernels 7\n";
  const auto result = run_program_test(text, "t.inlay", {.update = Update::yes});
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_THAT(result.updated, HasSubstr("#= count kernels 1\n"));
}

TEST(Compare, SaysWhereTwoArraysPart) {
  EXPECT_EQ(difference(f64({2}, {1, 2}), f64({2}, {1, 2})), std::nullopt);
  EXPECT_EQ(difference(f64({2}, {1, 2 + 1e-12}), f64({2}, {1, 2})), std::nullopt);
  EXPECT_EQ(difference(f64({2}, {1, 3}), f64({2}, {1, 2})), "element 1 is 3.0, the reference says 2.0");
  EXPECT_EQ(difference(f64({2}, {1, 3}), f64({1}, {1})), "the type is f64[2], the reference says f64[1]");
  EXPECT_EQ(difference(i64({1}, {1}), i64({1}, {2})), "element 0 is 1, the reference says 2");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(difference(f64({1}, {nan}), f64({1}, {nan})), std::nullopt);
  EXPECT_NE(difference(f64({1}, {0}), f64({1}, {nan})), std::nullopt);
  EXPECT_TRUE(are_same_but_for_nan(f64({3}, {1, nan, -0.0}), f64({3}, {1, -nan, -0.0})));
  EXPECT_FALSE(are_same_but_for_nan(f64({2}, {nan, 0.0}), f64({2}, {nan, -0.0})));
  EXPECT_FALSE(are_same_but_for_nan(f64({1}, {1}), f64({1}, {nan})));
  EXPECT_FALSE(are_same_but_for_nan(i64({1}, {1}), i64({1}, {2})));
  EXPECT_EQ(tensor_text(f64({2, 1}, {1, 2})), "f64[2, 1] [1.0, 2.0]");
  EXPECT_EQ(tensor_text(f64({}, {1})), "f64 1.0");
}

}  // namespace
}  // namespace inlay::tool
