#include "kernel/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SizesToTest, OnceAndAsSoonAsTheyAreKnown) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, y: f64[m] param 1, a: f64[n*n] temporary,
      b: f64[n*n] output 0, c: f64[n + k] temporary, h: f64[k] host) symbols n = x.0, m = y.0, k = h.0 {
    check n == 2*m #0
    check n <= 1000 #0
    kernel @k0 { stage (i < n) { %0 = load x[i] : f64  store x[i] set %0 } }
    kernel @k1 { stage (i < n*n) { %0 = literal 0.0 : f64  store a[i] set %0 } }
    host_call "f" 0 (x) -> h bind k = h.0
    kernel @k2 { stage (i < n*n) { %0 = literal 0.0 : f64  store b[i] set %0 } }
    kernel @k3 { stage (i < n + k) { %0 = literal 0.0 : f64  store c[i] set %0 } }
    sites { #0 internal "" } })");
  const Dim n = Dim::symbol(SymbolId(0)), m = Dim::symbol(SymbolId(1)), k = Dim::symbol(SymbolId(2));
  EXPECT_THAT(sizes_to_test(program), ElementsAre(ElementsAre(2 * m), IsEmpty(), ElementsAre(n * n), IsEmpty(),
                                                  IsEmpty(), ElementsAre(n + k), IsEmpty()));
}

TEST(SizesToTest, NotInALoop) {
  const KernelProgram program = parse(R"(program @main(x: f64[n] param 0, s: i64 scalar) symbols n = x.0 {
    loop s < n {
      check n*n*n <= 5 #0
    }
    sites { #0 internal "" } })");
  const Dim n = Dim::symbol(SymbolId(0));
  EXPECT_THAT(sizes_to_test(program), ElementsAre(ElementsAre(n * n * n), IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace inlay::kernel
