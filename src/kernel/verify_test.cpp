#include "kernel/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "support/error.h"

namespace inlay::kernel {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> messages(const KernelProgram& program) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : verify(program)) out.push_back(diagnostic.message);
  return out;
}

constexpr std::string_view kBuffers =
    "program @main(x: f64[n] param 0, g: i64[n] param 1, a: f64[n, m] param 2, b: f64[m, n] param 3, "
    "y: f64[n] output 0, t: f64[n] temporary, s: f64 scalar, c: f64[2] literal [1.0, 2.0]) "
    "symbols n = x.0, m = a.1, k {\n";
constexpr std::string_view kSites = "sites { #0 internal \"\" } }";

/// A program with these steps, and what else it takes to be sound: output y is written at the end.
KernelProgram with_steps(std::string_view steps) {
  return parse(str(kBuffers, steps, "\n copy x -> y \"\"\n", kSites));
}

std::vector<std::string> messages_of(std::string_view steps) { return messages(with_steps(steps)); }

TEST(VerifyKernelProgram, SoundProgramsPass) {
  EXPECT_THAT(messages_of(""), IsEmpty());
  EXPECT_THAT(messages_of(R"(
    check n <= m #0
    scalar { %0 = literal 0.5 : f64  store s[] set %0 }
    kernel @k0 {
      out t start fill 0.0
      out s start fill 0.0
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load c[wrap(%0, 2) checked #0] : f64
        store y[i] set %1
        store t[wrap(%0, n) checked #0] add %1
        fold add s[] %1 : f64
      }
    })"),
              IsEmpty());
  // A running sum, and what counts moved to where it stands.
  EXPECT_THAT(messages_of(R"(
    kernel @k0 {
      out s start fill 0.0
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = fold add s[] %0 : f64
        %2 = isnan %1 : bool
        %3 = cast %1 : i64
        store t[wrap(%3, n) proved] set %0 if %2
      }
    })"),
              IsEmpty());
  // Two regions of one buffer in one kernel; a later stage reads what an earlier one folded; rows.
  EXPECT_THAT(messages_of(R"(
    kernel @k0 {
      stage (i < 1) { %0 = load x[i] : f64  store t[i] set %0 }
      stage (i < n - 1) { %0 = load x[i] : f64  store t[1 + i] set %0 }
    }
    kernel @k1 {
      outer (r < n)
      out t start fill 0.0
      stage (j < m) { %0 = load a[r, j] : f64  fold add t[r] %0 : f64 }
      stage (j < m) { %0 = load t[r] : f64  %1 = load a[r, j] : f64  %2 = sub %1, %0 : f64  fold max y[r] %2 : f64 }
    })"),
              // y is folded into and keeps what it held: nothing.
              ElementsAre("y is read before anything is written to it"));
}

TEST(VerifyKernelProgram, RegistersAreAssignedOnceAndBeforeUse) {
  const auto in_stage = [](std::string_view statements) {
    return messages_of(str("kernel @k0 { stage (i < n) { %9 = axis i : i64 ", statements, "} }"));
  };
  EXPECT_THAT(in_stage("%0 = literal 1.0 : f64 %0 = literal 2.0 : f64"),
              ElementsAre("kernel @k0, stage 0, `%0 = literal 2.0 : f64`: %0 is assigned twice"));
  EXPECT_THAT(in_stage("store y[i] set %1"),
              ElementsAre("kernel @k0, stage 0, `store y[i] set %1`: %1 is not assigned before"));
  EXPECT_THAT(in_stage("%0 = load c[wrap(%1, 2) proved] : f64"),
              ElementsAre("kernel @k0, stage 0, `%0 = load c[wrap(%1, 2) proved] : f64`: %1 is not assigned before"));
}

TEST(VerifyKernelProgram, DTypesFit) {
  const auto in_stage = [](std::string_view statements) {
    std::vector<std::string> out =
        messages_of(str("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = load g[i] : i64 ", statements, "} }"));
    for (std::string& message : out) message.erase(0, message.find("`: ") + 3);
    return out;
  };
  EXPECT_THAT(in_stage("%2 = load x[i] : f32"), ElementsAre("x holds f64"));
  EXPECT_THAT(in_stage("%2 = add %0, %1 : f64"), ElementsAre("operands of f64 and i64"));
  EXPECT_THAT(in_stage("%2 = exp %1 : i64"), ElementsAre("`exp` does not take i64"));
  EXPECT_THAT(in_stage("%2 = lt %0, %0 : f64"), ElementsAre("the result is bool"));
  EXPECT_THAT(in_stage("%2 = add %0 : f64"), ElementsAre("has 1 operands, not 2"));
  EXPECT_THAT(in_stage("%2 = select %0, %0, %0 : f64"), ElementsAre("the condition is f64"));
  EXPECT_THAT(in_stage("check %0 #0"), ElementsAre("the condition is f64"));
  EXPECT_THAT(in_stage("%2 = lt %0, %0 : bool check %2 #1"), ElementsAre("there is no such site"));
  EXPECT_THAT(in_stage("store y[i] set %1"), ElementsAre("a i64 is written to f64[n]"));
  EXPECT_THAT(in_stage("store y[i] and %0"), ElementsAre("and cannot be f64"));
  EXPECT_THAT(in_stage("fold xor y[i] %0 : f64"), ElementsAre("xor cannot be f64"));
  EXPECT_THROW(in_stage("fold set y[i] %0 : f64"), Error);
  EXPECT_THAT(in_stage("%2 = load c[wrap(%0, 2) proved] : f64"), ElementsAre("an index is f64"));
  EXPECT_THAT(in_stage("%2 = load c[wrap(%1, 2) checked #7] : f64"), ElementsAre("a checked index has no site"));
}

TEST(VerifyKernelProgram, StepsMayBeSizes) {
  const auto in_stage = [](std::string_view statements) {
    return messages_of(str("kernel @k0 { stage (i < n) { %0 = load x[0] : f64 ", statements, "} }"));
  };
  EXPECT_THAT(in_stage("%1 = load x[min(1, m)*i] : f64"), IsEmpty());
  EXPECT_THAT(in_stage("%1 = load x[0*i] : f64"),
              ElementsAre("kernel @k0, stage 0, `%1 = load x[0*i] : f64`: a step is 0"));
  EXPECT_THAT(in_stage("store y[(m + 1)*i] set %0"), IsEmpty());
  EXPECT_THAT(in_stage("store y[min(1, m)*i] set %0"),
              ElementsAre("kernel @k0, stage 0, `store y[min(1, m)*i] set %0`: a step of what is written may be 0"));
  // Where there are points, n is at least 1.
  EXPECT_THAT(in_stage("store t[n*i] set %0"), IsEmpty());
  EXPECT_THAT(in_stage("%1 = load x[k*i] : f64"), ElementsAre("kernel @k0 uses k before it is known"));
}

TEST(VerifyKernelProgram, TheStatesOfAnArgmaxFollowEachOther) {
  const auto in_stage = [](std::string_view statements) {
    std::vector<std::string> out = messages(parse(
        str("program @main(x: f64[n] param 0, k: i64 output 0, m: f64 scalar, w: f64[1] temporary) symbols n = x.0 {\n",
            "kernel @k0 { out k start fill 9223372036854775807 out m start fill -inf out w start fill 0.0 ",
            "stage (i < n) { %0 = load x[i] : f64 %1 = axis i : i64 ", statements, "} } }")));
    for (std::string& message : out) message.erase(0, message.find("`: ") + 3);
    return out;
  };
  EXPECT_THAT(in_stage("fold argmax place k[] %1 : i64 fold argmax max m[] %0 : f64"), IsEmpty());
  EXPECT_THAT(in_stage("fold argmin place k[] %1 : i64 fold argmin min m[] %0 : f64"), IsEmpty());
  EXPECT_THAT(in_stage("fold argmax max m[] %0 : f64 fold argmax place k[] %1 : i64"),
              ElementsAre("argmax max must follow argmax place", "argmax max must follow"));
  EXPECT_THAT(in_stage("fold argmax place k[] %1 : i64 fold argmin min m[] %0 : f64"),
              ElementsAre("argmax max must follow", "argmin min must follow argmin place"));
  EXPECT_THAT(in_stage("fold argmax place k[] %1 : i64 fold argmax max w[0] %0 : f64"),
              ElementsAre("the state that follows is folded at another place"));
  EXPECT_THAT(in_stage("fold argmax place m[] %0 : f64 fold argmax max m[] %0 : f64"),
              ElementsAre("argmax place cannot be f64"));
  EXPECT_THROW(in_stage("fold argmax squares k[] %1 : i64"), Error);
  EXPECT_THROW(in_stage("fold moments count k[] %1 : i64"), Error);
}

TEST(VerifyKernelProgram, TheStatesOfALogSumExpFoldTheSame) {
  const auto in_stage = [](std::string_view statements) {
    std::vector<std::string> out = messages(parse(
        str("program @main(x: f32[n] param 0, s: f64 output 0, m: f32 scalar, w: f32[1] temporary, k: i64 scalar) ",
            "symbols n = x.0 { kernel @k0 { out s start fill 0.0 out m start fill -inf out w start fill 0.0 out k ",
            "start fill 0 stage (i < n) { %0 = load x[i] : f32 %1 = exp %0 : f32 %2 = axis i : i64 ", statements,
            "} } }")));
    for (std::string& message : out) message.erase(0, message.find("`: ") + 3);
    return out;
  };
  EXPECT_THAT(in_stage("fold log_sum_exp sum s[] %0 : f64 fold log_sum_exp max m[] %0 : f32"), IsEmpty());
  EXPECT_THAT(in_stage("fold log_sum_exp sum s[] %0 : f64 fold max m[] %0 : f32"),
              ElementsAre("log_sum_exp max must follow"));
  EXPECT_THAT(in_stage("fold log_sum_exp sum s[] %0 : f64 fold log_sum_exp max m[] %1 : f32"),
              ElementsAre("both states fold the same"));
  EXPECT_THAT(in_stage("fold log_sum_exp sum k[] %2 : i64 fold log_sum_exp max m[] %0 : f32"),
              Contains("log_sum_exp sum cannot be i64"));
}

TEST(VerifyKernelProgram, HiddenStatesGoOverAllPoints) {
  const auto in_kernel = [](std::string_view outer, std::string_view axes, std::string_view statements) {
    std::vector<std::string> out = messages(parse(
        str("program @main(x: f64[n] param 0, s: f64 output 0, w: f64[n] temporary, k: i64 scalar) ",
            "symbols n = x.0 { kernel @k0 { ", outer, " out s start fill 0.0 out w start fill 0.0 ",
            "out k start fill 0 stage (", axes, ") { %0 = load x[i] : f64 %1 = axis i : i64 ", statements, "} } }")));
    for (std::string& message : out) message.erase(0, message.find("`: ") + 3);
    return out;
  };
  const auto in_stage = [&](std::string_view statements) { return in_kernel("", "i < n", statements); };
  EXPECT_THAT(in_stage("fold moments squares s[] %0 : f64"), IsEmpty());
  EXPECT_THAT(in_stage("fold moments squares k[] %1 : i64"), ElementsAre("moments squares cannot be i64"));
  const char* const over_all = "moments squares is folded over all points of a kernel without outer axes";
  EXPECT_THAT(in_stage("fold moments squares w[i] %0 : f64"), ElementsAre(over_all));
  EXPECT_THAT(in_kernel("outer (i < n)", "j < n", "fold moments squares s[] %0 : f64"), ElementsAre(over_all));
}

TEST(VerifyKernelProgram, ASlotIsOneBuffers) {
  EXPECT_THAT(messages(parse("program @main(x: f64[2] param 0, y: f64[2] output 0, z: f64[2] output 0) { "
                             "copy x -> y \"\" copy x -> z \"\" }")),
              ElementsAre("y is output 0, and so is another buffer"));
}

TEST(VerifyKernelProgram, HostCallsHaveFunctionsAndSites) {
  EXPECT_THAT(messages(parse("program @main(x: f64[2] param 0, h: f64[2] host) { host_call \"f\" -1 (x) -> h #3 }")),
              ElementsAre("host call \"f\" has no function", "host call \"f\" has no site"));
}

TEST(VerifyKernelProgram, SymbolsAreBound) {
  EXPECT_THAT(
      messages(parse("program @main(x: f64[n] param 0, y: f64[n] output 0) symbols n = x.1 { copy x -> y \"\" }")),
      ElementsAre("symbol n is dim 1 of x, which has 1"));
  EXPECT_THAT(messages(parse("program @main(x: f64[n] param 0, y: f64[n] output 0) symbols n { copy x -> y \"\" }")),
              testing::Contains("x uses n before it is known"));
}

TEST(VerifyKernelProgram, MapsFitTheirBuffers) {
  const auto in_stage = [](std::string_view statements) {
    std::vector<std::string> out = messages_of(str("kernel @k0 { stage (i < n) { ", statements, "} }"));
    for (std::string& message : out) message.erase(0, message.find("`: ") + 3);
    return out;
  };
  EXPECT_THAT(in_stage("%0 = load a[i] : f64"), ElementsAre("a has rank 2, not 1"));
  EXPECT_THAT(in_stage("%0 = load c[2] : f64"), ElementsAre("subscript 0 leaves its dim"));
  EXPECT_THAT(in_stage("%0 = load x[i + 100000000] : f64"), ElementsAre("subscript 0 leaves its dim"));
  EXPECT_THAT(in_stage("%0 = load x[100000000] : f64"), IsEmpty());  // x may be as long
  EXPECT_THAT(messages_of("check n == 0 #0 kernel @k0 { stage (i < n) { %0 = load c[2] : f64 } }"), IsEmpty());
  EXPECT_THAT(messages_of("kernel @k0 { stage (i < 3) { %0 = load c[i] : f64 } }"),
              ElementsAre("kernel @k0, stage 0, `%0 = load c[i] : f64`: subscript 0 leaves its dim"));
  EXPECT_THAT(messages_of("kernel @k0 { stage (i < 2) { %0 = load x[-1] : f64 } }"),
              ElementsAre("kernel @k0, stage 0, `%0 = load x[-1] : f64`: subscript 0 leaves its dim"));

  KernelProgram program = with_steps("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 } }");
  std::get<Kernel>(program.steps[0]).stages[0].statements[0].map.subscripts[0].axes[0].axis = 3;
  EXPECT_THAT(messages(program), ElementsAre("kernel @k0, stage 0, `%0 = load x[axis3] : f64`: there is no axis 3"));
}

TEST(VerifyKernelProgram, NoPointLoadsWhatAnotherStores) {
  const auto in_stage = [](std::string_view statements) {
    return messages_of(str("copy x -> t \"\" kernel @k0 { stage (i < n - 1) {", statements, "} }"));
  };
  EXPECT_THAT(in_stage("%0 = load t[i] : f64 store t[i] set %0"), IsEmpty());
  EXPECT_THAT(
      in_stage("%0 = load t[1 + i] : f64 store t[i] set %0"),
      ElementsAre("kernel @k0, stage 0, `store t[i] set %0` and `%0 = load t[1 + i] : f64` may meet in one element "
                  "at different points"));
  EXPECT_THAT(in_stage("%0 = load t[0] : f64 store t[1 + i] set %0"), IsEmpty());
  EXPECT_THAT(
      in_stage("%0 = load t[0] : f64 fold add t[0] %0 : f64"),
      ElementsAre("kernel @k0, stage 0, `fold add t[0] %0 : f64` and `%0 = load t[0] : f64` may meet in one element "
                  "at different points"));
  EXPECT_THAT(in_stage("%0 = load g[i] : i64 %1 = load t[i] : f64 store t[wrap(%0, n) checked #0] add %1"),
              ElementsAre(testing::HasSubstr("may meet in one element")));
}

TEST(VerifyKernelProgram, WritesHaveAnOrder) {
  const auto in_stage = [](std::string_view statements) {
    return messages_of(
        str("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = load g[i] : i64 ", statements, "} }"));
  };
  EXPECT_THAT(in_stage("store s[] set %0"),
              ElementsAre("kernel @k0, stage 0, `store s[] set %0`: several points set one element"));
  EXPECT_THAT(in_stage("store t[wrap(%1, n) checked #0] set %0"), IsEmpty());  // the last wins
  EXPECT_THAT(in_stage("store t[wrap(%1, n) checked #0] set %0 store t[wrap(%1, n) checked #0] set %0"),
              ElementsAre(testing::HasSubstr("may write one element at different points")));
  EXPECT_THAT(messages_of(R"(copy x -> t ""
      kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = load g[i] : i64
        store t[wrap(%1, n) checked #0] add %0  store t[i] add %0 } })"),
              IsEmpty());
}

// What lies between two parts of a concat has a length of m - 1: not negative, so they do not meet.
TEST(VerifyKernelProgram, PartsOfAConcatAreApart) {
  EXPECT_THAT(messages(parse(R"(program @p(x: f64[n] param 0, z: f64[m] param 1, y: f64[2*n + m - 1] output 0)
        symbols n = x.0, m = z.0 { kernel @k0 {
          stage (i < n) { %0 = load x[i] : f64 store y[i] set %0 store y[n + m - 1 + i] set %0 }
          stage (i < m - 1) { %0 = load z[1 + i] : f64 store y[n + i] set %0 } } })")),
              IsEmpty());
  // Where a call makes it there.
  EXPECT_THAT(messages(parse(R"(program @p(x: f64[n] param 0, z: f64[m] param 1, w: f64[1] param 2,
          y: f64[2*n + m - 1] output 0) symbols n = x.0, m = z.0 {
        call matmul y at n strides (m - 1, 1, 1) = z, w (1, m - 1, 1, 1) #0
        kernel @k0 { stage (i < n) { %0 = load x[i] : f64 store y[i] set %0 store y[n + m - 1 + i] set %0 } }
        sites { #0 size-overflow "" } })")),
              IsEmpty());
  // Where only a size check says so.
  const auto program = [](std::string_view check) {
    return messages(
        parse(str("program @p(x: f64[n] param 0, z: f64[m] param 1, y: f64[2*m] output 0) "
                  "symbols n = x.0, m = z.0 {",
                  check, R"( kernel @k0 { out y start fill 0.0
          stage (i < n) { %0 = load x[i] : f64 store y[i] set %0 store y[m + i] set %0 } }
        sites { #0 internal "" } })")));
  };
  EXPECT_THAT(program("check n <= m #0"), IsEmpty());
  EXPECT_THAT(program("check m <= n #0"), ElementsAre(testing::HasSubstr("may write one element")));
}

TEST(VerifyKernelProgram, StagesMeetAtTheSameOuterPointOnly) {
  const auto rows = [](std::string_view later) {
    return messages_of(
        str("kernel @k0 { outer (r < n) out t start fill 0.0 out s start fill 0.0 stage (j < m) { "
            "%0 = load a[r, j] : f64 fold add t[r] %0 : f64 fold add s[] %0 : f64 } stage (j < m) {",
            later, "} }"));
  };
  EXPECT_THAT(rows("%0 = load t[r] : f64"), IsEmpty());
  EXPECT_THAT(
      rows("%0 = load t[0] : f64"),
      ElementsAre("kernel @k0, stage 1, `%0 = load t[0] : f64` and `fold add t[r] %0 : f64` may meet in one element "
                  "at different outer points"));
  EXPECT_THAT(rows("%0 = load s[] : f64"), ElementsAre(testing::HasSubstr("may meet in one element")));
}

TEST(VerifyKernelProgram, WhatRunsOnceComesFirst) {
  const auto kernel = [](std::string_view stages) {
    return messages_of(str("kernel @k0 { outer (r < n) out t start fill 0.0 ", stages, " }"));
  };
  constexpr std::string_view kOnce = "once stage (j < n) { %0 = load x[j] : f64 store t[j] set %0 }";
  constexpr std::string_view kRows = "stage () { %0 = load t[0] : f64 %1 = load x[r] : f64 store y[r] set %0 }";
  EXPECT_THAT(kernel(str(kOnce, " ", kRows)), IsEmpty());
  EXPECT_THAT(kernel(str(kRows, " ", kOnce)), Contains("kernel @k0, stage 1: runs once, but not before all others"));
  EXPECT_THAT(messages_of(str("kernel @k0 { out t start fill 0.0 ", kOnce, " }")),
              Contains("kernel @k0, stage 0: runs once, but there are no outer axes"));
  EXPECT_THAT(kernel(str("once stage () { %0 = load x[r] : f64 store t[0] set %0 } ", kRows)),
              Contains(testing::HasSubstr("runs once, and uses an outer axis")));
}

TEST(VerifyKernelProgram, ALocalIsMadeAtEachOuterPointAndSeenByNobodyElse) {
  const auto of = [](std::string_view head, std::string_view stages, std::string_view later = "") {
    return messages_of(str("kernel @k0 { ", head, stages, " }", later));
  };
  constexpr std::string_view kSum = "stage (j < m) { %0 = load a[r, j] : f64 fold add t[0] %0 : f64 } ";
  constexpr std::string_view kUse = "stage (j < m) { %0 = load t[0] : f64 }";
  constexpr std::string_view kLocal = "outer (r < n) local t start fill 0.0 ";
  EXPECT_THAT(of(kLocal, str(kSum, kUse)), IsEmpty());
  EXPECT_THAT(of("outer (r < n) out t start fill 0.0 ", str(kSum, kUse)),
              ElementsAre(testing::HasSubstr("may meet in one element at different outer points")));
  EXPECT_THAT(of("outer (r < n) local t ", str(kSum, kUse)),
              ElementsAre("kernel @k0: local t is read before it is written"));
  EXPECT_THAT(of("local t start fill 0.0 ",
                 "stage (r < n, j < m) { %0 = load a[r, j] : f64 fold add t[0] %0 : f64 } "
                 "stage (j < m) { %0 = load t[0] : f64 }"),
              IsEmpty());
  EXPECT_THAT(
      of("outer (r < n) local y start fill 0.0 ", "stage (j < m) { %0 = load a[r, j] : f64 fold add y[0] %0 : f64 }"),
      testing::Contains("kernel @k0: local y is no temporary"));
  EXPECT_THAT(of("outer (r < n) by 1 local t start fill 0.0 ", str(kSum, kUse)), IsEmpty());
  EXPECT_THAT(of("outer (r < n) by 0 ", ""), ElementsAre("kernel @k0: tiles of 0 points: no power of 2 up to 65536"));
  EXPECT_THAT(of("outer (r < n) by 12 ", ""), ElementsAre("kernel @k0: tiles of 12 points: no power of 2 up to 65536"));
  EXPECT_THAT(of(kLocal, str(kSum, kUse), "kernel @k1 { stage (i < n) { %0 = load t[i] : f64 } }"),
              ElementsAre("kernel @k0: local t is used outside of its kernel"));
}

TEST(VerifyKernelProgram, OutputsAreListedAndWritten) {
  KernelProgram program =
      with_steps("kernel @k0 { out t start fill 0.0 stage (i < n) { %0 = load x[i] : f64 store t[i] set %0 } }");
  Kernel& kernel = std::get<Kernel>(program.steps[0]);
  kernel.outputs.push_back({BufferId(4), {}});
  EXPECT_THAT(messages(program), ElementsAre("kernel @k0: output y is listed and never written"));
  kernel.outputs = {kernel.outputs[0], kernel.outputs[0]};
  EXPECT_THAT(messages(program), testing::Contains("kernel @k0: output t is listed twice"));
  kernel.outputs.clear();
  EXPECT_THAT(messages(program),
              ElementsAre("kernel @k0, stage 0, `store t[i] set %0`: t is not an output of the kernel"));

  EXPECT_THAT(messages(parse(str(kBuffers, kSites))), ElementsAre("output y is never written"));
  EXPECT_THAT(messages_of("kernel @k0 { out t start copy g }"),
              ElementsAre("kernel @k0: output t starts as a copy of g: f64[n] of i64[n]"));
}

TEST(VerifyKernelProgram, BytesStartOnce) {
  EXPECT_THAT(messages(parse("program @p(x: f64[n] param 0, t: f64[n] temporary, v: f64[n, 1] temporary view of t) "
                             "symbols n = x.0 { kernel @k0 { out t start fill 0.0 out v start fill 1.0\n"
                             "stage (i < n) { %0 = load x[i] : f64 store t[i] set %0 } } }")),
              ElementsAre("kernel @k0: outputs t and v are the same bytes, and both start"));
}

TEST(VerifyKernelProgram, OnlyWhatSetsIsElided) {
  const std::string_view steps = "kernel @k0 { out t start fill 0.0 stage (i < n) { %0 = load x[i] : f64 ";
  EXPECT_THAT(messages_of(str(steps, "store t[i] set %0 elided } }")), IsEmpty());
  EXPECT_THAT(messages_of(str(steps, "store t[i] add %0 elided } }")),
              ElementsAre("kernel @k0, stage 0, `store t[i] add %0 elided`: only a store that sets is elided"));
  KernelProgram program = with_steps(str(steps, "store t[i] set %0 } }"));
  std::get<Kernel>(program.steps[0]).outputs[0].start.elided = true;
  EXPECT_THAT(messages(program), ElementsAre("kernel @k0: output t has no copy that could be elided"));
}

TEST(VerifyKernelProgram, BytesAreWrittenBeforeTheyAreRead) {
  EXPECT_THAT(messages_of("copy t -> y \"\""), ElementsAre("t is read before anything is written to it"));
  EXPECT_THAT(messages_of("kernel @k0 { stage (i < n) { %0 = load t[i] : f64 } }"),
              ElementsAre("t is read before anything is written to it"));
  EXPECT_THAT(messages_of("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 store t[i] add %0 } }"),
              ElementsAre("t is read before anything is written to it"));
  EXPECT_THAT(messages_of("copy y -> x \"\""),
              ElementsAre("y is read before anything is written to it", "param x is written"));
}

TEST(VerifyKernelProgram, SizesAreKnownBeforeTheyAreUsed) {
  const auto messages_with_host = [](std::string_view steps) {
    return messages(
        parse(str("program @p(x: f64 param 0, h: f64[k] host, y: f64[k] output 0) symbols k = h.0 {", steps, "}")));
  };
  EXPECT_THAT(messages_with_host("host_call \"f\" 0 (x) -> h bind k = h.0 copy h -> y \"\""), IsEmpty());
  EXPECT_THAT(
      messages_with_host("kernel @k0 { stage (i < k) { } } host_call \"f\" 0 (x) -> h bind k = h.0 copy h -> y \"\""),
      ElementsAre("kernel @k0 uses k before it is known"));
}

TEST(VerifyKernelProgram, StepsFitTheirBuffers) {
  EXPECT_THAT(messages_of("copy s -> c \"\""), ElementsAre("copy s -> c: f64 to f64[2]"));
  EXPECT_THAT(messages_of("call matmul s = a, b (1, n, m, n)"), IsEmpty());  // for n = 1 it fits
  EXPECT_THAT(messages_of("call matmul t = g, g (1, n, 1, 1)"), ElementsAre("matmul t: it does not take i64"));
  EXPECT_THAT(messages_of("call matmul t = x (1, n, 1, 1)"),
              ElementsAre("matmul takes 2 operands and 4 sizes, and has 1 results"));
  EXPECT_THAT(messages_of("check n == m #4"), ElementsAre("a size check has no site"));
  EXPECT_THAT(messages_of("host_call \"f\" 0 (x) -> t"),
              ElementsAre("host call \"f\": its result t is not the host's"));
}

TEST(VerifyKernelProgram, AFunctionHasTheScratchMemoryThatItWants) {
  const auto messages_with = [](std::string_view scratch, std::string_view call = " workspace w") {
    return messages(parse(str("program @p(a: f64[n, n] param 0, b: f64[n] param 1, x: f64[n] output 0, w: ", scratch,
                              ") symbols n = a.0 { call solve x = a, b (1, n, 1)", call, " }")));
  };
  EXPECT_THAT(messages_with("u8[8*n + 8*n*n] temporary"), IsEmpty());
  EXPECT_THAT(messages_with("u8[9 + 8*n + 8*n*n] temporary"), IsEmpty());
  EXPECT_THAT(messages_with("u8[8*n + 8 - n*n] temporary"),
              ElementsAre("solve x: its workspace w has 8*n - n*n + 8 bytes of 8*n + 8*n*n"));
  EXPECT_THAT(messages_with("f64[8*n + 8*n*n] temporary"),
              ElementsAre("solve x: its workspace w is no temporary of u8"));
  EXPECT_THAT(messages_with("u8[8*n + 8*n*n] param 2"),
              testing::Contains("solve x: its workspace w is no temporary of u8"));
  EXPECT_THAT(messages_with("u8[8*n + 8*n*n] temporary", ""), ElementsAre("solve x has no workspace"));
}

TEST(VerifyKernelProgram, AKernelHasItsWorkspaceForItself) {
  const auto messages_with = [](std::string_view workspace, std::string_view place = "r") {
    return messages(
        parse(str("program @p(a: u8[n] param 0, r: u8[n] output 0, w: ", workspace, ") symbols n = a.0 { ",
                  "kernel @k0 { workspace w stage (i < n) { %0 = load a[i] : u8 store ", place, "[i] set %0 } } }")));
  };
  EXPECT_THAT(messages_with("u8[64*n] temporary"), IsEmpty());
  EXPECT_THAT(messages_with("f64[64*n] temporary"), ElementsAre("k0: its workspace w is no temporary of u8"));
  EXPECT_THAT(messages_with("u8[64*n] param 1"), testing::Contains("k0: its workspace w is no temporary of u8"));
  EXPECT_THAT(messages_with("u8[64*n] temporary", "w"), testing::Contains("k0: a statement names its workspace w"));
}

TEST(VerifyKernelProgram, BuffersAreSound) {
  EXPECT_THAT(messages(parse("program @p(c: f64[2] literal [1.0]) { }")), ElementsAre("literal c has 1 elements"));
  EXPECT_THAT(messages(parse("program @p(s: f64[3] scalar) { }")), ElementsAre("scalar s has more than one element"));
  EXPECT_THAT(messages(parse("program @p(x: f64[n] param 0, s: f64[1] scalar) symbols n = x.0 { kernel @k {\n"
                             "  out s start fill 0.0\n"
                             "  stage (i < n) { %0 = load x[i] : f64  fold add s[i] %0 : f64 } } }")),
              testing::Contains(testing::HasSubstr("s is one number, and touched at a place that an axis tells")));
  EXPECT_THAT(messages(parse("program @p(x: f64[3] param 0) { stored { x by-parts } }")),
              testing::Contains(testing::HasSubstr("x is no temporary, and has a reason to be one: by-parts: ")));
  EXPECT_THAT(messages(parse("program @p(t: f64[3] temporary, v: f64[4] view of t) { }")),
              ElementsAre("v is a view of t, which has other bytes"));
  EXPECT_THAT(messages(parse("program @p(v: f64[4] view of v) { }")), ElementsAre("v is a view of itself"));
  const auto copied = [](std::string_view check) {
    return messages(parse(str("program @p(x: f64[n, m + n] param 0, y: f64[n, m] output 0) symbols n = x.0, m = y.1 {",
                              check, " copy x -> y \"\" sites { #0 internal \"\" } }")));
  };
  EXPECT_THAT(copied(""), testing::Contains("copy x -> y: f64[n, n + m] to f64[n, m]"));
  EXPECT_THAT(copied("check n*n == 0 #0"), testing::Not(testing::Contains(testing::HasSubstr("copy x"))));
  EXPECT_THAT(copied("check n*n == 7*m #0 check 7*m == 0*m #0"),
              testing::Not(testing::Contains(testing::HasSubstr("copy x"))));
  // The one check says in which symbols the other one is to be read.
  const auto viewed = [](std::string_view checks) {
    return messages(
        parse(str("program @p(x: f64[n, m] param 0, t: f64[n, n] temporary, v: f64[3, floordiv(n*n, 3)]",
                  " temporary view of t) symbols n = x.0, m = x.1 {", checks, " sites { #0 internal \"\" } }")));
  };
  EXPECT_THAT(viewed("check m == n #0 check n*m == 3*floordiv(n*m, 3) #0"), IsEmpty());
  EXPECT_THAT(viewed("check 3*floordiv(n*m, 3) == n*m #0 check n == m #0"), IsEmpty());
  EXPECT_THAT(viewed("check n*m == 3*floordiv(n*m, 3) #0"), ElementsAre("v is a view of t, which has other bytes"));
  EXPECT_THAT(viewed("check m <= n #0 check n*m == 3*floordiv(n*m, 3) #0"),
              ElementsAre("v is a view of t, which has other bytes"));
}

// A program that is damaged anywhere is described, not followed into memory that is not there.
TEST(VerifyKernelProgram, NamesOfNothingDoNotCrash) {
  KernelProgram program = with_steps("kernel @k0 { stage (i < n) { %0 = load x[i] : f64 store t[i] set %0 } }");
  Kernel& kernel = std::get<Kernel>(program.steps[0]);
  kernel.stages[0].statements[0].buffer = BufferId(99);
  EXPECT_THAT(messages(program), testing::Contains(testing::HasSubstr("there is no such buffer")));
  kernel.outputs[0].buffer = BufferId();
  EXPECT_THAT(messages(program), testing::Contains("kernel @k0: an output is no buffer"));
  program.buffers[BufferId(0)].dims[0] = Dim::symbol(SymbolId(50));
  EXPECT_THAT(messages(program), ElementsAre("x has a size of a symbol that does not exist"));
}

TEST(VerifyKernelProgram, WhatARunningFoldAndAPredicateMayBe) {
  EXPECT_THAT(
      messages_of(R"(kernel @k0 { out t start fill 0.0
      stage (i < n) { %0 = load x[i] : f64  %1 = load g[i] : i64  %2 = fold add t[wrap(%1, n) checked #0] %0 : f64
                      store t[i] add %0 if %2 } })"),
      ElementsAre("kernel @k0, stage 0, `%2 = fold add t[wrap(%1, n) checked #0] %0 : f64`: a running fold goes "
                  "through no index",
                  "kernel @k0, stage 0, `store t[i] add %0 if %2`: only a store that sets has a predicate",
                  "kernel @k0, stage 0, `store t[i] add %0 if %2`: the predicate is f64"));
}

TEST(VerifyKernelProgram, ASizeIsBoundByAScalarBeforeItIsUsed) {
  constexpr std::string_view kHead =
      "program @main(n: i64 param 0, c: i64 scalar, f: f64 scalar, t: f64[k] temporary) symbols k {\n";
  constexpr std::string_view kScalars =
      "scalar { %0 = load n[] : i64  store c[] set %0  %1 = literal 0.0 : f64  store f[] set %1 }\n";
  constexpr std::string_view kFill = "kernel @k0 { out t start fill 0.0 }\n";
  const auto of = [&](std::string_view first, std::string_view then) {
    return messages(parse(str(kHead, kScalars, first, then, kSites)));
  };
  EXPECT_THAT(of("size k = c #0\n", kFill), IsEmpty());
  EXPECT_THAT(of(kFill, "size k = c #0\n"), ElementsAre("t uses k before it is known"));
  EXPECT_THAT(of("size k = f #0\n", ""), ElementsAre("f is bound as a size, and is no scalar of i64"));
}

TEST(VerifyKernelProgram, WhatABodyFindsIsKnownToItsEndAlone) {
  const auto of = [](std::string_view body, std::string_view behind) {
    return messages(
        parse(str("program @main(c: bool param 0, x: i64 param 1, t: f64[k] temporary, y: f64 output 0, "
                  "i: i64 scalar, s: i64 scalar) symbols k {\n"
                  "scalar { %0 = load x[] : i64 store s[] set %0 }\n",
                  body, R"(
  kernel @k1 { out y start fill 0.0 stage (i < 3) { %0 = literal 1.0 : f64 fold add y[] %0 : f64 } }
)",
                  behind, " sites { #0 negative-size \"{0}\" } }")));
  };
  constexpr std::string_view kFills = "kernel @k0 { out t start fill 0.0 }";
  EXPECT_THAT(of(str("loop i < 3 { size k = s #0 ", kFills, " }"), ""), IsEmpty());
  EXPECT_THAT(of(str("loop i < 3 { ", kFills, " size k = s #0 }"), ""), Contains("t uses k before it is known"));
  EXPECT_THAT(of("loop i < 3 { size k = s #0 }", kFills), Contains("t uses k before it is known"));
  EXPECT_THAT(of(str("cond c { size k = s #0 } else { ", kFills, " }"), ""), Contains("t uses k before it is known"));
  EXPECT_THAT(of(str("cond c { size k = s #0 } else { size k = s #0 }"), ""), Contains("symbol k is bound twice"));
}

}  // namespace
}  // namespace inlay::kernel
