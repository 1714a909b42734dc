// Which results may be written where the caller wants them: those after which nothing can fail.
#include "memory/commit.h"

#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using testing::Planned;

std::vector<bool> last_of(std::string_view buffers, std::string_view kernels) {
  const Planned p(str("program @main(x: f64[n] param 0, g: i64[n] param 1, ", buffers, ") symbols n = x.0 {", kernels,
                      "\n  sites { #0 index-out-of-bounds \"index {0} is out of bounds\" }\n}"));
  return written_last(p.program, p.plan.sharing);
}

constexpr std::string_view kExp = R"(
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = exp %0 : f64
        store e[i] set %1
      }
    })";
constexpr std::string_view kGather = R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load x[wrap(%0, n) checked #0] : f64
        store v[i] set %1
      }
    })";

TEST(WrittenLast, WhereNothingCanFail) { EXPECT_THAT(last_of("e: f64[n] output 0", kExp), ElementsAre(true)); }

TEST(WrittenLast, NotByWhatFailsItselfOrBefore) {
  EXPECT_THAT(last_of("e: f64[n] output 0, v: f64[n] output 1", str(kExp, kGather)), ElementsAre(false, false));
  EXPECT_THAT(last_of("e: f64[n] output 0, v: f64[n] temporary", str(kGather, kExp)), ElementsAre(true));
}

TEST(WrittenLast, NotWhereAnEarlierValueLiesInTheResult) {
  // e is made where r lies, before v is gathered.
  EXPECT_THAT(last_of("e: f64[n] temporary, v: f64[n] temporary, r: f64[n] output 0", str(kExp, kGather, R"(
    kernel @k2 {
      stage (i < n) {
        %0 = load e[i] : f64
        %1 = load v[i] : f64
        %2 = add %0, %1 : f64
        store r[i] set %2
      }
    })")),
              ElementsAre(false));
}

TEST(WrittenLast, InThePlaceOfADonatedParameterThatItBeginsWith) {
  const auto last = [](std::string_view donated) {
    const Planned p(str("program @main(x: f64[n] param 0", donated, R"(, g: i64[m] param 1, r: f64[n] output 0)
      symbols n = x.0, m = g.0 {
    kernel @k0 {
      out r start copy x
      stage (i < m) {
        %0 = load g[i] : i64
        check wrap(%0, n) checked #0
      }
      stage (i < m) {
        %0 = literal 1.0 : f64
        %1 = load g[i] : i64
        store r[wrap(%1, n) checked before #0] add %0
      }
    }
    sites { #0 index-out-of-bounds "" }
  })"));
    return written_last(p.program, p.plan.sharing);
  };
  EXPECT_THAT(last(" donated"), ElementsAre(true));
  EXPECT_THAT(last(""), ElementsAre(false));  // what it begins with would be copied before the check
}

/// Why x is copied into r, before this step.
std::vector<std::string> copies_before(std::string_view step) {
  const Planned p(str(R"(program @main(x: f64[n] param 0 donated, y: f64[n] param 1, c: i64 param 2, r: f64[n] output 0)
      symbols n = x.0, k {
    kernel @k0 {
      out r start copy x
      stage (i < n) {
        %0 = load y[i] : f64
        store r[i] add %0
      }
    }
    )",
                      step, "\n sites { #0 negative-size \"\" }\n}"));
  return p.copies();
}

TEST(Donated, IsCopiedBeforeAStepThatCanFailWhichIsNamed) {
  const std::string why = "x -> r: x would be overwritten before the last step that can fail, ";
  EXPECT_THAT(copies_before("check n <= 8 #0"), ElementsAre(why + "a check of sizes"));
  EXPECT_THAT(copies_before("size k = c #0"), ElementsAre(why + "the size k"));
}

}  // namespace
}  // namespace inlay::memory
