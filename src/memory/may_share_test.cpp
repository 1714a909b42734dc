// A caller's say in what shares: it keeps apart, or lets the arena grow; it never makes a wrong plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "memory/required.h"
#include "memory/sharing.h"
#include "memory/verify.h"

namespace inlay::memory {
namespace {

using kernel::KernelProgram;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StrEq;

constexpr const char* kProgram = R"(program @main(x: f64[9] param 0, e: f64[9] temporary, r: f64[9] temporary,
    out: f64[9] output 0) {
  kernel @k0 { stage (i < 9) { %0 = load x[i] : f64 %1 = exp %0 : f64 store e[i] set %1 } }
  kernel @k1 { out r start copy e in place #0
    stage (i < 2) { %0 = load x[i] : f64 store r[i] set %0 } }
  kernel @k2 { stage (i < 9) { %0 = load r[8 - i] : f64 store out[i] set %0 } }
  sites { #0 not-in-place "update!: %e would be copied" }
})";

std::vector<std::string> copies(const Sharing& sharing) {
  std::vector<std::string> out;
  for (const PlannedCopy& copy : sharing.copies) out.push_back(copy.reason);
  return out;
}

TEST(MayShare, IsAskedAboutWhatTheRuleAllows) {
  std::vector<std::string> asked;
  const auto note = [&](const std::string& step, const std::string& value, const std::string& operand) {
    asked.push_back(str(step, ": ", value, " ", operand));
    return MayShare::by_rule;
  };
  EXPECT_THAT(copies(share(kernel::parse(kProgram), note).sharing), IsEmpty());
  EXPECT_THAT(asked, ElementsAre("@k1: r e"));  // out is written backwards: no question
}

TEST(MayShare, KeepsApartWithACopyThatSaysWhy) {
  const auto never = [](auto&&...) { return MayShare::never; };
  const auto [program, plan] = plan_memory(share(kernel::parse(kProgram), never));
  EXPECT_THAT(copies(plan.sharing), ElementsAre("e is kept apart from r, as asked"));
  EXPECT_THAT(verify(program, plan, plan.layouts, {}), IsEmpty());
  try {
    require_in_place(program, plan.sharing);
    FAIL() << "what is required is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                StrEq("error[not-in-place]: update!: %e would be copied: e is kept apart from r, as asked"));
  }
}

// small is made long before large; were it made there, all of large would live so long.
constexpr const char* kLonger = R"(program @main(x: f64[4] param 0, small: f64[4] temporary, other: f64[96] temporary,
    large: f64[100] temporary, a: f64[] output 0, b: f64[] output 1) {
  kernel @k0 { stage (i < 4) { %0 = load x[i] : f64 store small[i] set %0 } }
  kernel @k1 { stage (i < 96) { %0 = literal 1.0 : f64 store other[i] set %0 } }
  kernel @k2 { out a start fill 0.0 stage (i < 96) { %0 = load other[i] : f64 fold add a[] %0 : f64 } }
  kernel @k3 {
    stage (i < 4) { %0 = load small[i] : f64 store large[i] set %0 }
    stage (i < 96) { %0 = literal 2.0 : f64 store large[4 + i] set %0 } }
  kernel @k4 { out b start fill 0.0 stage (i < 100) { %0 = load large[i] : f64 fold add b[] %0 : f64 } }
})";

TEST(MayShare, LetsTheArenaGrowWhereThatIsWanted) {
  const auto lies_in_large = [](const SharingFunction& may_share) {
    const auto [program, plan] = plan_memory(share(kernel::parse(kLonger), may_share));
    EXPECT_THAT(verify(program, plan, plan.layouts, {}), IsEmpty());
    return plan.sharing.placements[kernel::BufferId(1)].storage == plan.sharing.placements[kernel::BufferId(3)].storage;
  };
  EXPECT_FALSE(lies_in_large({}));
  EXPECT_TRUE(lies_in_large([](auto&&...) { return MayShare::even_if_larger; }));
}

TEST(MayShare, ChangesNothingOfWhatTheRuleRefuses) {
  const KernelProgram program = kernel::parse(R"(program @main(x: f64[9] param 0, r: f64[9] output 0) {
  kernel @k0 { out r start copy x
    stage (i < 2) { %0 = load x[i] : f64 store r[i + 1] set %0 } } })");
  const auto any = [](auto&&...) { return MayShare::even_if_larger; };
  EXPECT_THAT(copies(share(program, any).sharing), ElementsAre("x belongs to the caller"));
}

}  // namespace
}  // namespace inlay::memory
