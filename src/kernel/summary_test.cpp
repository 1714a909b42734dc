#include "kernel/summary.h"

#include <gmock/gmock.h>

#include "kernel/text.h"

namespace inlay::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<StepSummary> summaries_of(std::string_view text, std::vector<NamedPart> parts = {}) {
  const KernelProgram program = parse(text);
  return summaries(program, parts);
}

TEST(Summary, AnIndexThatIsMadeAfterTheValueIsShown) {
  const auto steps = summaries_of(R"(program @main(x: f64[3] param 0, g: i64[3] param 1, y: f64[5] output 0) {
    kernel @k0 {
      out y start fill 0.0
      stage (i < 3) {
        %0 = load x[i] : f64
        %1 = load g[i] : i64
        store y[wrap(%1, 5) proved] set %0
      }
    }
  })");
  EXPECT_THAT(steps[0].formulas, ElementsAre("y[g] = x"));
}

TEST(Summary, WhatAPlanMakesNeedlessMovesNoBytes) {
  constexpr const char* kUpdate = R"(program @main(x: f64[8] param 0, v: f64[2] param 1, y: f64[8] output 0) {
    kernel @k0 {
      out y start copy x
      stage (i < 2) {
        %0 = load v[i] : f64
        store y[i] set %0
        %1 = load x[6 + i] : f64
        store y[6 + i] set %1
      }
    }
  })";
  const StepSummary copied = summaries_of(kUpdate)[0];
  EXPECT_EQ(copied.flops, Dim(0));
  EXPECT_THAT(copied.formulas, ElementsAre("y = x", "y[:2] = v", "y[6:] = x[6:]"));
  EXPECT_EQ(copied.read_bytes, 64 + 32);
  EXPECT_EQ(copied.written_bytes, 64 + 32);
  KernelProgram planned = parse(kUpdate);
  auto& kernel = std::get<Kernel>(planned.steps[0]);
  kernel.outputs[0].start.elided = kernel.stages[0].statements[3].elided = true;
  const StepSummary in_place = summaries(planned, {})[0];
  EXPECT_THAT(in_place.formulas, ElementsAre("y = x, in place", "y[:2] = v"));
  EXPECT_EQ(in_place.read_bytes, 16);
  EXPECT_EQ(in_place.written_bytes, 16);
}

TEST(Summary, AKernelIsTheFormulasOfWhatItWrites) {
  const auto steps = summaries_of(R"(program @main(x: f64[n] param 0, g: i64[n] param 1, rate: f64[85] param 2,
      y: f64[n] output 0, grad: f64[85] output 1, total: f64 scalar, sum: f64 output 2) symbols n = x.0 {
    kernel @k0 {
      out grad start fill 0.0
      out total start fill 0.0
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load rate[wrap(%0, 85) proved] : f64
        %2 = load x[i] : f64
        %3 = sub %2, %1 : f64
        %4 = literal 2.0 : f64
        %5 = mul %3, %4 : f64
        store y[i] set %5
        %6 = exp %5 : f64
        store grad[wrap(%0, 85) proved] add %6
        fold add total[] %6 : f64
      }
    }
    scalar {
      %0 = load total[] : f64
      store sum[] set %0
    } })");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, "kernel");
  EXPECT_EQ(steps[0].name, "@k0");
  EXPECT_THAT(steps[0].formulas, ElementsAre("y = (x - rate[g])*2", "grad[g] += exp(y)", "total = sum(exp(y))"));
  EXPECT_THAT(steps[0].makes, ElementsAre("y", "grad", "total"));
  EXPECT_THAT(steps[0].loops, ElementsAre("n"));
  const Dim n = Dim::symbol(SymbolId(0));
  EXPECT_EQ(steps[0].read_bytes, Dim(24) * n);
  EXPECT_EQ(steps[0].written_bytes, Dim(16) * n + 680);
}

// A softmax: the numbers between its loops are those that its folds made, under another shape.
TEST(Summary, NumbersOfAKernelStandWhereTheyAreRead) {
  const auto steps = summaries_of(R"(program @main(x: f64[n] param 0, $1: f64 scalar, $2: f64[1] scalar,
      $3: f64 scalar, e: f64[n] temporary, $5: f64 scalar, r: f64[n] output 0) symbols n = x.0 {
    kernel @k0 {
      out $1 start fill -inf
      out $5 start fill 0.0
      stage (i < n) {
        %0 = load x[i] : f64
        fold max $1[] %0 : f64
      }
      stage () {
        %0 = load $1[] : f64
        store $2[0] set %0
        %1 = neg %0 : f64
        store $3[] set %1
      }
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = load $2[0] : f64
        %2 = load $3[] : f64
        %3 = sub %0, %1 : f64
        %4 = mul %3, %2 : f64
        store e[i] set %4
        fold add $5[] %4 : f64
      }
      stage (i < n) {
        %0 = load e[i] : f64
        %1 = load $5[] : f64
        %2 = div %0, %1 : f64
        store r[i] set %2
      }
    } })");
  EXPECT_THAT(steps[0].formulas, ElementsAre("$1 = max(x)", "e = (x - $1)*-$1", "$5 = sum(e)", "r = e/$5"));
  EXPECT_THAT(steps[0].makes, ElementsAre("e", "r"));
}

TEST(Summary, AKernelOfWhichThePlanLeavesNothingSaysWhatIsThere) {
  constexpr const char* kJoin = R"(program @main(g: f64[3] output 1, y: f64[8] output 0) {
    kernel @k0 {
      stage (i < 3) {
        %0 = load g[i] : f64
        store y[5 + i] set %0 elided
      }
    }
  })";
  const StepSummary step = summaries_of(kJoin)[0];
  EXPECT_THAT(step.makes, ElementsAre("y"));
  EXPECT_THAT(step.formulas, ElementsAre("g is in y already"));
  EXPECT_THAT(step.loops, IsEmpty());
  EXPECT_EQ(step.read_bytes, 0);
}

// The gradient of a number is folded into a register, and goes to its place in the vector of all gradients.
TEST(Summary, ANumberIsCalledAsThePlaceThatItGoesTo) {
  const char* program = R"(program @main(x: f64[n] param 0, $1: f64 scalar, $2: f64 scalar, y: f64[8] output 0)
      symbols n = x.0 {
    kernel @k0 {
      out $1 start fill 0.0
      out $2 start fill 0.0
      stage (i < n) {
        %0 = load x[i] : f64
        fold add $1[] %0 : f64
        fold mul $2[] %0 : f64
      }
    }
    scalar {
      %0 = load $1[] : f64
      store y[0] set %0
      %1 = load $2[] : f64
      %2 = neg %1 : f64
      store y[1] set %2
      store y[2] set %1
    } })";
  const std::vector<NamedPart> parts = {{BufferId(3), 0, 1, "mu_grad"}, {BufferId(3), 1, 1, "rate_grad"}};
  const auto steps = summaries_of(program, parts);
  EXPECT_THAT(steps[0].formulas, ElementsAre("mu_grad = sum(x)", "$2 = prod(x)"));
  EXPECT_THAT(steps[0].makes, ElementsAre("mu_grad", "$2"));
  EXPECT_THAT(steps[1].formulas, ElementsAre("y[2] = $2", "rate_grad = -$2"));
}

// A value that is used twice is named once; one of a single operation stands where it is used.
TEST(Summary, WhatIsUsedTwiceIsNamed) {
  const auto steps = summaries_of(R"(program @main(x: f64[n] param 0, t1: f64[n] param 1, y: f64[n] output 0,
      z: f64[n] output 1) symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = load t1[i] : f64
        %2 = add %0, %1 : f64
        %3 = square %2 : f64
        %4 = neg %3 : f64
        store y[i] set %4
        %5 = sqrt %3 : f64
        store z[i] set %5
      }
    } })");
  EXPECT_THAT(steps[0].formulas, ElementsAre("t2 = (x + t1)**2", "y = -t2", "z = sqrt(t2)"));
}

// As one would write them: no `a + -b`, no parentheses that the order of operations makes needless.
TEST(Summary, SignsAndParentheses) {
  const auto steps = summaries_of(R"(program @main(x: f64[n] param 0, y: f64[n] output 0, z: bool[n] output 1)
      symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = literal -0.5 : f64
        %2 = mul %1, %0 : f64
        %3 = add %0, %2 : f64
        %4 = sub %0, %3 : f64
        %5 = div %4, %4 : f64
        store y[i] set %5
        %6 = literal 1.0 : f64
        %7 = lt %0, %6 : bool
        %8 = isnan %0 : bool
        %9 = and %7, %8 : bool
        store z[i] set %9
      }
    } })");
  EXPECT_THAT(steps[0].formulas, ElementsAre("t1 = x - (x - 0.5*x)", "y = t1/t1", "z = (x < 1) & isnan(x)"));
}

TEST(Summary, PartsOfAVectorHaveTheirNames) {
  const std::string text = R"(program @main(joined: f64[7] param 0, g: i64[9] param 1, y: f64[9] output 0,
      grads: f64[7] output 1, $9: f64 scalar) {
    scalar {
      %0 = load joined[4] : f64
      %1 = exp %0 : f64
      store $9[] set %1
    }
    kernel @k0 {
      stage (i < 9) {
        %0 = load g[i] : i64
        %1 = load joined[wrap(%0, 4) proved] : f64
        %2 = load $9[] : f64
        %3 = mul %1, %2 : f64
        store y[i] set %3
      }
      stage (i < 2) {
        %0 = load joined[5 + i] : f64
        store grads[5 + i] set %0
      }
      stage (i < 3) {
        %0 = load joined[4 + i] : f64
        store grads[i] set %0
      }
    } })";
  const std::vector<NamedPart> parts = {{BufferId(0), 0, 4, "alpha"},
                                        {BufferId(0), 4, 1, "sigma_log__"},
                                        {BufferId(0), 5, 2, "beta"},
                                        {BufferId(3), 5, 2, "beta_grad"}};
  const auto steps = summaries_of(text, parts);
  EXPECT_EQ(steps[0].kind, "numbers");
  EXPECT_THAT(steps[1].formulas,
              ElementsAre("y = alpha[g]*exp(sigma_log__)", "beta_grad = beta", "grads[:3] = joined[4:]"));
  EXPECT_THAT(steps[1].makes, ElementsAre("y", "beta_grad", "grads"));
}

// PyMC's vector may be of any length as far as PyTensor knows: a slice then begins where a size says.
TEST(Summary, PartsMayBeMatricesThatBeginWhereASizeSays) {
  const KernelProgram program = parse(R"(program @main(joined: f64[n] param 0, y: f64[2, 3] output 0)
      symbols n = joined.0 {
    kernel @k0 {
      stage (i < 2, j < 3) {
        %0 = load joined[n - 6 + 3*i + j] : f64
        store y[i, j] set %0
      }
    } })");
  const Dim n = Dim::symbol(SymbolId(0));
  const std::vector<NamedPart> parts = {{BufferId(0), n - 6, min(6, n), "beta"}};
  EXPECT_THAT(summaries(program, parts)[0].formulas, ElementsAre("y = beta"));
  EXPECT_THAT(summaries(program, {})[0].formulas, ElementsAre("y = joined[n - 6 + 3*i + j]"));
}

TEST(Summary, OtherSteps) {
  const auto steps = summaries_of(R"(program @main(a: f64[4, 5] param 0, b: f64[5, 6] param 1, p: f64[4, 6] temporary,
      h: f64[3] host, i: i64 scalar, c: f64[4, 6] output 0) {
    call matmul p = a, b (1, 4, 5, 6)
    loop i < 3 {
      host_call "f" 0 (p) -> h
    }
    copy p -> c "why" })");
  EXPECT_EQ(steps[0].kind, "library call");
  EXPECT_THAT(steps[0].formulas, ElementsAre("p = matmul(a, b)"));
  EXPECT_EQ(steps[0].read_bytes, Dim(8 * (20 + 30)));
  EXPECT_EQ(steps[0].written_bytes, Dim(8 * 24));
  EXPECT_THAT(steps[1].formulas, ElementsAre("for i < 3"));
  EXPECT_EQ(steps[1].depth, 0);
  EXPECT_THAT(steps[2].formulas, ElementsAre("h = f(p)"));
  EXPECT_EQ(steps[2].depth, 1);
  EXPECT_THAT(steps[3].formulas, IsEmpty());
  EXPECT_EQ(steps[4].kind, "copy");
  EXPECT_EQ(steps[4].written_bytes, Dim(8 * 24));
}

}  // namespace
}  // namespace inlay::kernel
