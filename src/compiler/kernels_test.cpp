// What becomes one kernel: fuse and the loop passes together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/c/backend.h"
#include "backend/llvm/backend.h"
#include "compiler/compile.h"
#include "ir/text.h"
#include "kernel/counts.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace inlay {
namespace {

using fuse::Mode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

struct Fused {
  kernel::KernelProgram program;
  kernel::KernelCounts counts;
  std::string reads, writes;
};

Fused fused(std::string_view text, Mode mode = Mode::full) {
  Options options;
  options.fuse = mode;
  Fused out{kernels_of(parse(text), kernel::BackendCaps{}, options), {}, {}, {}};
  EXPECT_THAT(kernel::verify(out.program), IsEmpty()) << kernel::print(out.program);
  out.counts = kernel::count(out.program);
  out.reads = out.counts.reads.to_text(out.program.symbol_names());
  out.writes = out.counts.writes.to_text(out.program.symbol_names());
  return out;
}

/// "e: several-readers: ..." of each temporary.
std::vector<std::string> reasons(const kernel::KernelProgram& program) {
  std::vector<std::string> out;
  for (const kernel::Buffer& buffer : program.buffers) {
    if (buffer.role != kernel::Role::temporary || buffer.view_of.valid()) continue;
    out.push_back(str(buffer.name, ": ", kernel::stored_text(buffer.stored)));
  }
  return out;
}

constexpr std::string_view kChain = R"(graph @main(%x: f64[n], %y: f64[n]) {
  %e = exp %x
  %m = mul %e, %y
  %s = reduce add %m [0] : f64
  %p = reduce max %m [0] : f64
  return %m, %s, %p
})";

TEST(Fuse, ValueAndSeveralFoldsOfItAreOnePass) {
  const Fused f = fused(kChain);
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.stages, 1);
  EXPECT_EQ(f.reads, "2*n");
  EXPECT_EQ(f.counts.folds, 2);
}

TEST(Fuse, NoneMakesAKernelOfEachOp) { EXPECT_GT(fused(kChain, Mode::none).counts.kernels, 1); }

TEST(Fuse, GreedyStoresWhatSeveralOpsRead) {
  constexpr std::string_view kVariance = R"(graph @main(%x: f64[n, m]) {
  %s = sum %x, axes = [1], keep = true
  %d = sub %x, %s
  %e = exp %d
  %q = square %e
  %t = reduce add %q [1] : f64
  %u = reduce max %e [1] : f64
  return %t, %u
})";
  const Fused full = fused(kVariance), greedy = fused(kVariance, Mode::greedy), none = fused(kVariance, Mode::none);
  EXPECT_EQ(full.counts.kernels, 1);
  EXPECT_EQ(greedy.counts.kernels, 2);  // the sums; then all that goes over the rows once more
  EXPECT_GT(none.counts.kernels, 4);
  // %e has several readers too, and all of them are in one loop: it is in a register, and has no reason.
  EXPECT_THAT(reasons(greedy.program),
              ElementsAre("$1: fold: complete only when its loop is done, and e reads it then"));
  EXPECT_THAT(reasons(none.program), Contains("e: fusion-off: fusion is off"));
}

TEST(Fuse, ModesAreNamed) {
  EXPECT_EQ(fuse::mode_named("greedy", "--fuse"), Mode::greedy);
  EXPECT_EQ(mode_name(Mode::none), "none");
  EXPECT_THAT([] { fuse::mode_named("off", "INLAY_FUSE"); }, ThrowsMessage<Error>(HasSubstr("INLAY_FUSE=off")));
}

TEST(Fuse, SlicesAreReadWhereTheyStand) {
  const Fused f = fused(R"(graph @main(%x: f64[n]) {
  %a = slice %x[1:n]
  %b = slice %x[0:n - 1]
  %d = sub %a, %b
  %q = square %d
  %s = reduce add %q [0] : f64
  return %s
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.reads, "2*n - 2");
}

TEST(Fuse, PartsOfAConcatAreComputedInTheirSlots) {
  const Fused f = fused(R"(graph @main(%x: f64[n], %y: f64[m]) {
  %e = exp %x
  %l = log %y
  %c = concat 0 %e, %l
  return %c
})");
  EXPECT_EQ(f.counts.kernels, 1);  // two stages: they write disjoint regions of one buffer
  EXPECT_EQ(f.counts.stages, 2);
  EXPECT_EQ(f.writes, "n + m");
}

TEST(Fuse, SliceWriteOverAComputedBaseIsOneKernel) {
  const Fused f = fused(R"(graph @main(%o: f64[m + 3], %x: f64[m]) {
  %one = literal 1.0 : f64
  %b = add %o, %one
  %e = exp %x
  %r = update set %b[3:m + 3], %e
  return %r
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.stages, 2);
  EXPECT_EQ(f.writes, "m + 3");  // what is written over is not computed
  EXPECT_EQ(kernel::print(f.program).find("start copy"), std::string::npos);
}

TEST(Fuse, GatherComputeScatterAndFoldShareOnePass) {
  const Fused f = fused(R"(graph @main(%b: f64[k], %g: i64[n], %x: f64[n]) {
  %a = gather %b[%g]
  %m = mul %a, %x
  %zero = literal 0.0 : f64
  %z = broadcast %zero : f64[k]
  %r = scatter add %z[%g], %m
  %s = reduce add %m [0] : f64
  return %r, %s
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.gathers, 1);
  EXPECT_EQ(f.counts.scatters, 1);
}

TEST(Fuse, CheapProducerOfAGatherIsComputedAgain) {
  const Fused f = fused(R"(graph @main(%b: f64[k], %g: i64[n]) {
  %two = literal 2.0 : f64
  %c = mul %b, %two
  %a = gather %c[%g]
  return %a
})");
  EXPECT_EQ(f.counts.kernels, 1);
}

TEST(Fuse, DearProducerOfAGatherIsStored) {
  const Fused f = fused(R"(graph @main(%b: f64[k], %g: i64[n]) {
  %c = exp %b
  %a = gather %c[%g]
  return %a
})");
  EXPECT_EQ(f.counts.kernels, 2);
  EXPECT_THAT(reasons(f.program),
              ElementsAre("c: every-index: would be computed for every index that reads it: it costs "
                          "8, more than 4"));
}

TEST(Fuse, DearProducerOfABroadcastAlongTheInnerAxisIsComputedOncePerRow) {
  const Fused f = fused(R"(graph @main(%v: f64[n], %x: f64[n, m]) {
  %e = exp %v
  %c = reshape %e : f64[n, 1]
  %p = mul %c, %x
  return %p
})");
  EXPECT_EQ(f.counts.kernels, 1);  // a backend computes what does not depend on j outside of the loop over j
}

TEST(Fuse, DearProducerOfABroadcastAlongTheOuterAxisIsStored) {
  const Fused f = fused(R"(graph @main(%v: f64[m], %x: f64[n, m]) {
  %e = exp %v
  %p = mul %e, %x
  return %p
})");
  EXPECT_EQ(f.counts.kernels, 2);
}

TEST(Fuse, DotWithAShortSideJoinsTheObservations) {
  const Fused f = fused(R"(graph @main(%X: f64[n, 3], %b: f64[3], %y: f64[n]) {
  %w = broadcast %b : f64[n, 3]
  %m = mul %X, %w
  %eta = reduce add %m [1] : f64
  %r = sub %y, %eta
  %c = reshape %r : f64[n, 1]
  %t = mul %X, %c
  %g = reduce add %t [0] : f64
  %q = square %r
  %s = reduce add %q [0] : f64
  return %s, %g
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.folds, 4);
}

TEST(Fuse, LongBodiesAreCut) {
  std::string text = "graph @main(%x0: f64[n]) {\n";
  for (int i = 0; i < 1000; ++i) text += str("  %x", i + 1, " = neg %x", i, "\n");
  const Fused f = fused(text + "  return %x1000\n}\n");
  EXPECT_GE(f.counts.kernels, 10);
  EXPECT_LE(f.counts.kernels, 12);
  EXPECT_THAT(reasons(f.program), ::testing::Each(HasSubstr("long-body: ")));
}

TEST(Fuse, ScalarArithmeticIsNoKernel) {
  const Fused f = fused(R"(graph @main(%a: f64, %b: f64[1]) {
  %s = exp %a
  %c = reshape %b : f64
  %d = mul %s, %c
  return %d
})");
  EXPECT_EQ(f.counts.kernels, 0);
}

TEST(Fuse, ReturnedTwiceAndReturnedInputsAreCopied) {
  const Fused f = fused(R"(graph @main(%x: f64[n]) {
  %e = exp %x
  return %e, %e, %x
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.copies, 2);
}

TEST(Fuse, SizesBoundByAHostCallAreKnownAfterIt) {
  const Fused f = fused(R"(graph @main(%x: f64[n]) {
  %i = host_call "nonzero" (%x) : i64[k]
  %a = gather %x[%i]
  %e = exp %a
  %one = literal 1.0 : f64
  %f = broadcast %one : f64[k]
  %s = add %e, %f
  return %s
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.host_calls, 1);
}

TEST(Fuse, ChainsThatAskForTwoPointsAtEachLinkStayShort) {
  // Written out, the last link would ask for 2^24 points of the first.
  std::string text = "graph @main(%x: f64[n], %g: i64[24, n]) {\n  %f0 = neg %x\n";
  for (int i = 0; i < 24; ++i) {
    text += str("  %i", i, " = slice %g[", i, ", 0:n]\n  %g", i, " = gather %f", i, "[%i", i, "]\n");
    text += str("  %f", i + 1, " = add %g", i, ", %f", i, "\n");
  }
  const Fused f = fused(text + "  return %f24\n}");
  EXPECT_LE(f.counts.ops, 24 * 100);
  EXPECT_THAT(reasons(f.program), Contains(HasSubstr("f23: several-places: ")));
}

TEST(Fuse, AHostCallWaitsForTheAssertsBeforeIt) {
  const Fused f = fused(R"(graph @main(%x: f64[n], %ok: bool) {
  %w = assert %x, %ok, "no"
  %s = reduce add %w [0] : f64
  %h = host_call "effect" (%x) : f64[n]
  %t = reduce add %h [0] : f64
  %u = mul %s, %t
  return %u
})");
  const std::string text = kernel::print(f.program);
  EXPECT_LT(text.find("check %"), text.find("host_call \"effect\""));
}

// The maximum of a row and where it is: where rewriting ends between them, neither is the row's own.
TEST(Fuse, TheStatesOfAFoldAreLocalTogetherWhereverRewritingEnds) {
  const Graph graph = parse(R"(graph @main(%x: f64[n, m]) {
  %max, %at = max_and_argmax %x, axes = [1], keep = true
  %k = cast %at : f64
  %d = sub %x, %max
  %y = mul %d, %k
  return %y
})");
  std::string text;
  for (int64_t most = 0; most < 20; ++most) {
    Options options;
    options.rewrite.max_rewrites = most;
    const kernel::KernelProgram program = lower(graph, options).kernels;
    text = kernel::print(program);
    EXPECT_THAT(kernel::verify(program), IsEmpty()) << most << "\n" << text;
  }
  EXPECT_THAT(text, HasSubstr("fold argmax place"));
}

kernel::KernelCounts counts_for(std::string_view text, const kernel::BackendCaps& caps) {
  return kernel::count(kernels_of(parse(text), caps));
}

/// What is cheap in vectors and expensive in calls is computed twice by one backend, and stored by the other.
TEST(Backends, FuseOneProgramDifferently) {
  constexpr std::string_view kHalves = R"(graph @main(%x: f16[n], %y: f16[n]) {
  %a = add %x, %y
  %f = flip %a [0]
  %r = mul %a, %f
  return %r
})";
  EXPECT_EQ(counts_for(kHalves, llvm_backend::caps()).kernels, 1);
  EXPECT_EQ(counts_for(kHalves, c_backend::caps()).kernels, 2);
}

/// j0 is neither in C99 nor in the vector math: it is a call in the loop of what is around it.
TEST(Backends, CallWhatTheyLack) {
  constexpr std::string_view kBessel = R"(graph @main(%x: f64[n]) {
  %e = j0 %x
  %r = add %e, %x
  return %r
})";
  EXPECT_TRUE(c_backend::is_called(ScalarOp::j0_, DType::f64));
  for (const kernel::BackendCaps* caps : {&llvm_backend::caps(), &c_backend::caps()}) {
    EXPECT_EQ(caps->support(ScalarOp::j0_, DType::f64), kernel::Support::per_lane);
    EXPECT_EQ(counts_for(kBessel, *caps).kernels, 1);
  }
}

TEST(MustNotFuse, AStageDoesNotReadWhatItScatters) {
  const Fused f = fused(R"(graph @main(%b: f64[n], %g: i64[n]) {
  %r = scatter add %b[%g], %b
  %s = mul %r, %r
  return %s
})");
  EXPECT_EQ(f.counts.kernels, 2);
}

TEST(MustNotFuse, AFoldIsCompleteBeforeItIsRead) {
  const Fused f = fused(R"(graph @main(%x: f64[n]) {
  %m = reduce max %x [0] : f64
  %d = sub %x, %m
  return %d
})");
  EXPECT_EQ(f.counts.kernels, 1);
  EXPECT_EQ(f.counts.stages, 2);
}

}  // namespace
}  // namespace inlay
