#include "compiler/profile.h"

#include <gmock/gmock.h>

#include "compiler/backends.h"
#include "ir/text.h"

namespace inlay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

explain::Profile of_calls(const Lowered& program, const runtime::StepTimes& times, int64_t calls) {
  return profile_of(program, times, "f", {.calls = calls, .seconds = 1, .least = 0.25});
}

TEST(Profile, IsTheMeanOfTheCalls) {
  const Lowered program = lower(parse(R"(graph @main(%x: f64[n], %b: f64[m]) {
  %s = reduce add %x [0] : f64
  %y = div %b, %s
  return %y
})",
                                      "f.inlay"));
  runtime::StepTimes times(program.kernels.steps.size());
  std::vector<runtime::StepTimes::Row> rows(program.kernels.steps.size(), {.seconds = 0.125, .passes = 1});
  rows[0].threads = 2;
  rows[0].busy_seconds = 0.1875;
  times.add(rows);
  rows[0].seconds = 0.0625;
  rows[0].busy_seconds = 0.09375;
  times.add(rows);
  times.set_sizes(std::vector<int64_t>{1000, 30});
  const explain::Profile profile = of_calls(program, times, 2);
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.total, 0.5);
  EXPECT_EQ(profile.least, 0.25);
  EXPECT_THAT(profile.sizes, ElementsAre(::testing::Pair("n", 1000), ::testing::Pair("m", 30)));
  const explain::ProfileRow &sum = profile.rows[0], &quotient = profile.rows[1];
  EXPECT_THAT(sum.summary.formulas, ElementsAre("s = sum(x)"));
  EXPECT_EQ(sum.lines, "f.inlay:2");
  EXPECT_EQ(sum.seconds, 0.09375);
  EXPECT_EQ(sum.least_seconds, 0.0625);
  EXPECT_EQ(sum.passes, 1);
  EXPECT_EQ(sum.threads, 2);
  EXPECT_EQ(sum.balance, 0.75);
  EXPECT_EQ(quotient.threads, 1);
  EXPECT_EQ(quotient.balance, 1);
  EXPECT_EQ(sum.read_bytes, explain::Amount(int64_t{8000}));
  EXPECT_EQ(quotient.read_bytes, explain::Amount(int64_t{240}));
  EXPECT_EQ(quotient.written_bytes, explain::Amount(int64_t{240}));
  EXPECT_EQ(sum.flops, explain::Amount(int64_t{1000}));
  EXPECT_EQ(quotient.flops, explain::Amount(int64_t{30}));
}

TEST(Profile, CountsThePassesOfALoop) {
  const Lowered program = lower(parse(R"(graph @main(%x: f64[n]) {
  %r = loop %i < 7 carry (%a = %x) {
    %e = exp %a
    return %e
  }
  return %r
})"));
  runtime::StepTimes times(program.kernels.steps.size());
  std::vector<runtime::StepTimes::Row> rows(program.kernels.steps.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::holds_alternative<kernel::Kernel>(program.kernels.steps[i])) rows[i] = {.seconds = 1, .passes = 7};
  }
  times.add(rows);
  times.set_sizes(std::vector<int64_t>{10});
  const explain::Profile profile = of_calls(program, times, 1);
  const auto row = std::ranges::find(profile.rows, std::vector<std::string>{"e = exp(r)"},
                                     [](const explain::ProfileRow& r) { return r.summary.formulas; });
  ASSERT_NE(row, profile.rows.end());
  EXPECT_EQ(row->passes, 7);
  EXPECT_EQ(row->read_bytes, explain::Amount(int64_t{7 * 80}));
  EXPECT_EQ(row->flops, explain::Amount(int64_t{7 * 10}));
}

TEST(Profile, NamesCopies) {
  const auto note = [](std::string_view text) {
    const Lowered program = lower(parse(text));
    const runtime::StepTimes times(program.kernels.steps.size());
    return of_calls(program, times, 1).rows[0].note;
  };
  EXPECT_EQ(note("graph @main(%x: f64[n, m]) {\n %t = transpose %x [1, 0]\n return %t\n}"), "a copy");
  EXPECT_EQ(note("graph @main(%x: f64[n, m]) {\n %t = exp %x\n return %t\n}"), "");
  EXPECT_EQ(note("graph @main(%x: f64[n], %i: i64[m], %y: f64[m]) {\n %r = scatter add %x[%i], %y\n return %r\n}"),
            "copies x: x belongs to the caller");
}

TEST(Profile, IsOfBackendsWithClocks) {
  require_clocks("f", "llvm");
  try {
    require_clocks("f", "c");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("f was compiled by the backend \"c\", whose code has no clocks"));
  }
}

TEST(MachineBandwidth, IsMeasuredOnce) {
  if (!backend_named("llvm").is_available()) GTEST_SKIP() << "no llvm";
  const double measured = machine_bandwidth();
  EXPECT_GT(measured, 0);
  EXPECT_EQ(machine_bandwidth(), measured);
}

}  // namespace
}  // namespace inlay
