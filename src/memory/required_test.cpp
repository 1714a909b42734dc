#include "memory/required.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"
#include "memory/sharing.h"

namespace inlay::memory {
namespace {

using testing::StrEq;

std::string refused(const char* text) {
  const SharedProgram shared = share(kernel::parse(text));
  try {
    require_in_place(shared.program, shared.sharing);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RequireInPlace, IsContentWhereTheBasesBytesAreTaken) {
  EXPECT_THAT(refused(R"(program @main(x: f64[n] param 0, o: f64[n] temporary, r: f64[n] output 0) symbols n = x.0 {
      kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = exp %0 : f64 store o[i] set %1 } }
      kernel @k1 { out r start copy o in place #0
        stage (i < 1) { %0 = load x[i] : f64 store r[i] set %0 } }
      sites { #0 not-in-place "update!: %o would be copied" } })"),
              StrEq(""));
}

TEST(RequireInPlace, NamesTheReaderAndWhatItMakes) {
  EXPECT_THAT(refused(R"(program @main(x: f64[n] param 0, o: f64[n] temporary, r: f64[n] output 0, s: f64[n] output 1)
      symbols n = x.0 {
      kernel @k0 { stage (i < n) { %0 = load x[i] : f64 %1 = exp %0 : f64 store o[i] set %1 } }
      kernel @k1 { out r start copy o in place #0
        stage (i < 1) { %0 = load x[i] : f64 store r[i] set %0 } }
      kernel @k2 { stage (i < n) { %0 = load o[i] : f64 store s[i] set %0 } }
      sites { #0 not-in-place "update!: %o would be copied" at "model.py:3" note "base" "%o  f64[n]" } })"),
              StrEq("error[not-in-place]: update!: %o would be copied: o is also read by @k2\n"
                    "  at     model.py:3\n"
                    "  base   %o  f64[n]\n"
                    "  step   @k2, which makes s"));
}

TEST(RequireInPlace, KnowsACallersBytes) {
  EXPECT_THAT(refused(R"(program @main(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 {
      kernel @k0 { out r start copy x in place #0
        stage (i < 1) { %0 = load x[i] : f64 store r[i] set %0 } }
      sites { #0 not-in-place "update!: %x would be copied" } })"),
              StrEq("error[not-in-place]: update!: %x would be copied: x belongs to the caller"));
}

}  // namespace
}  // namespace inlay::memory
