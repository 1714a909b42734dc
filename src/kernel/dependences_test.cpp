#include "kernel/dependences.h"

#include <gmock/gmock.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::UnorderedElementsAre;

constexpr StepId operator""_s(unsigned long long i) { return StepId(i); }

/// Returns the steps that the last step waits for.
std::vector<StepId> last_waits_for(const KernelProgram& program) {
  LastUses uses(program);
  std::vector<StepId> out;
  for (StepId step : ids<StepId>(program.steps.size())) {
    const StepAccess access = access_of(program, program.steps[step.index]);
    out.clear();
    uses.for_each_before(access, [&](StepId before) { out.push_back(before); });
    uses.add(step, access);
  }
  return out;
}

TEST(Dependences, AReaderWaitsForTheLastWriter) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, b: f64[n] output 0)
      symbols n = x.0 {
    copy x -> a "first"
    copy x -> a "second"
    copy a -> b "read" })");
  EXPECT_THAT(last_waits_for(program), ElementsAre(1_s));
}

TEST(Dependences, AWriterWaitsForWhoHasReadSince) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, v: f64[n, 1] view of a,
      b: f64[n] output 0, c: f64[n] output 1) symbols n = x.0 {
    copy a -> b "before the first write"
    copy x -> a "written"
    copy v -> b "read"
    copy a -> c "read"
    copy x -> v "written again" })");
  EXPECT_THAT(last_waits_for(program), UnorderedElementsAre(1_s, 2_s, 3_s));
}

TEST(Dependences, WhoTakesAnIndexForCheckedWaitsForWhoChecksIt) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, i: i64[n] param 1, a: f64[n] output 0,
      b: f64[n] output 1) symbols n = x.0 {
    kernel @k0 { stage (j < n) { %0 = load i[j] : i64  check wrap(%0, n) checked #0 } }
    kernel @k1 { stage (j < n) { %0 = load i[j] : i64  check wrap(%0, n) checked #1 } }
    kernel @k2 { stage (j < n) { %0 = load i[j] : i64  %1 = load x[wrap(%0, n) checked before #0] : f64
      store a[j] set %1 } }
    sites { #0 index-out-of-bounds ""  #1 index-out-of-bounds "" } })");
  EXPECT_THAT(last_waits_for(program), ElementsAre(0_s));
}

TEST(Dependences, BetweenTwoStandsWhatWaitsForOneAndIsWaitedFor) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, b: f64[n] temporary,
      c: f64[n] output 0, d: f64[n] output 1) symbols n = x.0 {
    copy x -> a "first"
    copy a -> b "between"
    copy a -> d "waits for the first, and nobody for it"
    copy b -> c "second" })");
  const Dependences dependences(program);
  EXPECT_THAT(dependences.between(0_s, 3_s), Optional(ElementsAre(1_s)));
  EXPECT_THAT(dependences.between(0_s, 1_s), Optional(IsEmpty()));
  EXPECT_THAT(dependences.between(1_s, 2_s), Optional(IsEmpty()));
}

TEST(Dependences, WhoNeedsASizeWaitsForTheStepThatFindsIt) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, a: i64 scalar, b: f64[k] output 0)
      symbols n = x.0, k = a.0 {
    kernel @k0 { stage (i < n) { %0 = literal 1 : i64  fold add a[] %0 : i64 } }
    size k = a #0
    kernel @k1 { stage (i < k) { %0 = load x[0] : f64  store b[i] set %0 } }
    sites { #0 internal "" } })");
  EXPECT_THAT(Dependences(program).between(0_s, 2_s), Optional(ElementsAre(1_s)));
}

TEST(Dependences, ALoopIsPassedAsAWhole) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, i: i64 scalar, a: f64[n] temporary,
      b: f64[n] temporary, c: f64[n] temporary, d: f64[n] output 0) symbols n = x.0 {
    copy x -> a "first"
    loop i < n {
      copy a -> b "waits for the first"
      copy x -> c "does not"
    }
    copy c -> d "of a loop that waits for the first" })");
  const Dependences dependences(program);
  EXPECT_FALSE(dependences.body_of(0_s).valid());
  EXPECT_FALSE(dependences.body_of(1_s).valid());
  EXPECT_EQ(dependences.body_of(3_s), 1_s);
  EXPECT_FALSE(dependences.body_of(5_s).valid());
  EXPECT_THAT(dependences.between(0_s, 5_s), Optional(ElementsAre(1_s)));
  EXPECT_THAT(dependences.between(2_s, 3_s), Optional(IsEmpty()));
}

TEST(Dependences, OfACondEachBodyIsOneOfItsOwn) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, p: bool scalar, a: f64[n] temporary,
      b: f64[n] output 0) symbols n = x.0 {
    cond p {
      copy x -> a "one"
    } else {
      copy x -> b "other"
    } })");
  const Dependences dependences(program);
  EXPECT_EQ(dependences.body_of(1_s), 0_s);
  EXPECT_FALSE(dependences.body_of(2_s).valid());
  EXPECT_EQ(dependences.body_of(3_s), 2_s);
}

TEST(Dependences, AWayThroughManyStepsIsNotLookedFor) {
  std::string text = "program @main(x: f64[n] param 0, a: f64[n] output 0) symbols n = x.0 {\n";
  for (int i = 0; i < 300; ++i) text += "copy x -> a \"again\"\n";
  const KernelProgram program = parse(text + "}");
  EXPECT_EQ(Dependences(program).between(0_s, 299_s), std::nullopt);
  EXPECT_THAT(Dependences(program).between(290_s, 292_s), Optional(ElementsAre(291_s)));
}

}  // namespace
}  // namespace inlay::kernel
