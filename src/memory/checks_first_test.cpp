#include "memory/checks_first.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "memory/sharing.h"
#include "memory/verify.h"

namespace inlay::memory {
namespace {

using kernel::KernelProgram;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KernelProgram scatter(const std::string& steps, const std::string& more = "") {
  return kernel::parse(
      "program @main(x: f64[n] param 0 donated, g: i64[m] param 1, v: f64[m] param 2, "
      "r: f64[n] output 0" +
      more + ") symbols n = x.0, m = g.0 {" + steps +
      "sites { #0 index-out-of-bounds \"{0} of {1}\" #1 index-out-of-bounds \"{0} of {1}\" } }");
}

constexpr const char* kScatter = R"(
  kernel @k0 {
    out r start copy x
    stage (i < m) {
      %0 = load v[i] : f64
      %1 = load g[i] : i64
      store r[wrap(%1, n) checked #0] add %0
    }
  })";

KernelProgram checked_first(KernelProgram program) { return check_first(share(std::move(program))).program; }

TEST(CheckFirst, ReadsTheIndicesInAStageOfTheirOwn) {
  EXPECT_THAT(kernel::print(checked_first(scatter(kScatter))), HasSubstr(R"(
    stage (i < m) {
      %0 = load g[i] : i64
      check wrap(%0, n) checked #0
    }
    stage (i < m) {
      %0 = load v[i] : f64
      %1 = load g[i] : i64
      store r[wrap(%1, n) checked before #0] add %0
    }
)"));
}

TEST(CheckFirst, LeavesWhatIsCopiedAnyway) {
  const KernelProgram program = scatter(std::string(kScatter) + R"(
  kernel @k1 { stage (i < n) { %0 = load x[i] : f64 store s[i] set %0 } })",
                                        ", s: f64[n] output 1");
  EXPECT_EQ(kernel::print(checked_first(program)), kernel::print(program));
}

TEST(CheckFirst, KnowsHowLargeAnArrayIsFromWhatItIsIndexedBy) {
  const auto text = [](const char* facts) {
    return str(
        "program @main(x: f64[n] param 0 donated, g: i64[100000] param 1 bound", facts,
        ", v: f64[100000] param 2, r: f64[n] output 0) symbols n = x.0 { kernel @k0 { out r start copy x\n",
        "stage (i < 100000) { %0 = load v[i] : f64 %1 = load g[i] : i64 store r[wrap(%1, n) checked #0] add %0 } } ",
        "sites { #0 index-out-of-bounds \"{0} of {1}\" } }");
  };
  const auto num_copies = [&](const char* facts) {
    return check_first(share(kernel::parse(text(facts)))).sharing.copies.size();
  };
  EXPECT_EQ(num_copies(" {min 0, max 99999}"), 0U);
  EXPECT_EQ(num_copies(" {min 0, max 84}"), 1U);  // the copy is shorter than the index
  EXPECT_EQ(num_copies(""), 1U);
}

/// What the verifier says about the sizes n = 3, m = 2.
std::vector<std::string> complaints(const KernelProgram& checked) {
  const auto [program, plan] = plan_memory(checked);
  const std::vector<int64_t> symbols = {3, 2};
  std::vector<std::string> out;
  for (const Diagnostic& d : verify(program, plan, symbols)) out.push_back(d.message);
  return out;
}

TEST(IndexProof, FindsTheCheckOfTheVeryIndex) { EXPECT_THAT(complaints(checked_first(scatter(kScatter))), IsEmpty()); }

std::string with_check_of(const std::string& checked) {
  return R"(
  kernel @k0 {
    out r start copy x
    stage (i < m) {
      %0 = load )" +
         checked + R"( : i64
      check wrap(%0, n) checked #0
    }
    stage (i < 1) {
      %0 = load v[i] : f64
      %1 = load g[i] : i64
      store r[wrap(%1, n) checked before #0] add %0
    }
  })";
}

TEST(IndexProof, TellsAnotherIndexFromIt) {
  const std::string more = ", h: i64[m] param 3";
  EXPECT_THAT(complaints(scatter(with_check_of("g[0]"), more)), IsEmpty());
  EXPECT_THAT(complaints(scatter(with_check_of("g[m - 1 - i]"), more)), IsEmpty());
  for (const char* other : {"h[i]", "g[1]"}) {
    EXPECT_THAT(complaints(scatter(with_check_of(other), more)),
                ElementsAre("@k0 takes an index for checked that nothing before it has checked"))
        << other;
  }
}

TEST(IndexProof, BelievesTheFactsOfAnArray) {
  const auto unchecked = [](const std::string& facts) {
    std::string text = kernel::print(scatter(with_check_of("h[i]"), ", h: i64[m] param 3"));
    const std::string g = "g: i64[m] param 1";
    return kernel::parse(text.replace(text.find(g), g.size(), g + " bound {" + facts + "}"));
  };
  EXPECT_THAT(complaints(unchecked("min -3, max 2")), IsEmpty());
  for (const char* wider : {"min -4, max 2", "min -3, max 3", "sorted"}) {
    EXPECT_THAT(complaints(unchecked(wider)),
                ElementsAre("@k0 takes an index for checked that nothing before it has checked"))
        << wider;
  }
}

TEST(IndexProof, TellsAnotherExtentFromIt) {
  EXPECT_THAT(complaints(scatter(R"(
  kernel @k0 {
    out r start copy x
    stage (i < m) {
      %0 = load g[i] : i64
      check wrap(%0, n + 1) checked #0
    }
    stage (i < m) {
      %0 = load v[i] : f64
      %1 = load g[i] : i64
      store r[wrap(%1, n) checked before #0] add %0
    }
  })")),
              ElementsAre("@k0 takes an index for checked that nothing before it has checked"));
}

TEST(IndexProof, KnowsThatAnIndexHasChangedSince) {
  EXPECT_THAT(complaints(scatter(R"(
  kernel @k0 { stage (i < m) { %0 = load g[i] : i64 store t[i] set %0 } }
  kernel @k1 {
    out r start copy x
    stage (i < m) {
      %0 = load t[i] : i64
      check wrap(%0, n) checked #0
    }
    stage (i < m) {
      %0 = load g[i] : i64
      %1 = square %0 : i64
      store t[i] set %1
    }
    stage (i < m) {
      %0 = load v[i] : f64
      %1 = load t[i] : i64
      store r[wrap(%1, n) checked before #0] add %0
    }
  })",
                                 ", t: i64[m] temporary")),
              ElementsAre("@k1 takes an index for checked that nothing before it has checked"));
}

}  // namespace
}  // namespace inlay::memory
