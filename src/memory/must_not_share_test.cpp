// What must not share bytes, and the copies that must stay. A plan that shares more still computes the right numbers on
// most inputs: so each case is asked for by name, and replayed.
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Planned;

std::string kernel(std::string_view name, std::string_view body) { return str("kernel @", name, " { ", body, " }\n"); }

std::string stage(std::string_view axes, std::string_view statements) {
  return str("stage (", axes, ") { ", statements, " }\n");
}
std::string stage(std::string_view statements) { return stage("i < n", statements); }

// Statements of a stage. `from` and `to` are elements, as in o[i].

std::string copied(std::string_view from, std::string_view to, std::string_view how = "set") {
  return str("%0 = load ", from, " : f64  store ", to, " ", how, " %0\n");
}
std::string unary(std::string_view op, std::string_view from, std::string_view to) {
  return str("%0 = load ", from, " : f64  %1 = ", op, " %0 : f64  store ", to, " set %1\n");
}
std::string one(std::string_view to) { return str("%0 = literal 1.0 : f64  store ", to, " set %0\n"); }
std::string summed(std::string_view from, std::string_view to) {
  return str("%0 = load ", from, " : f64  fold add ", to, " %0 : f64\n");
}

std::string program(std::string_view buffers, std::string_view symbols, std::string_view steps) {
  return str("program @main(", buffers, ") ", symbols.empty() ? "" : "symbols ", symbols, " {\n", steps, "}");
}

/// `o` is made from x, then `kernels` follow.
std::string with_base(std::string_view buffers, std::string_view kernels) {
  return program(str("x: f64[n] param 0, y: f64[n] param 1, g: i64[n] param 2, o: f64[n] temporary, ", buffers),
                 "n = x.0",
                 str(kernel("k0", stage(copied("x[i]", "o[i]"))), kernels,
                     "sites { #0 index-out-of-bounds \"index {0} is out of bounds\" }"));
}

void expect_apart(const Planned& p, const char* a, const char* b, const std::vector<int64_t>& sizes = {0, 1, 2, 5}) {
  EXPECT_FALSE(p.share(a, b)) << a << " and " << b;
  EXPECT_THAT(p.problems(sizes), IsEmpty());
}

// ---- the base of an update

TEST(MustNotShare, ABaseThatIsReadLater) {
  const Planned p(with_base("r: f64[n] temporary, p: f64[n] output 0, q: f64[n] output 1",
                            kernel("k1", "out r start copy o " + stage(R"(%0 = load g[i] : i64  %1 = load y[i] : f64
                                                                     store r[wrap(%0, n) checked #0] add %1)")) +
                                kernel("k2", stage(R"(%0 = load o[i] : f64  %1 = load r[i] : f64
                                                      %2 = add %0, %1 : f64  store p[i] set %2  store q[i] set %0)"))));
  expect_apart(p, "r", "o");
  EXPECT_THAT(p.copies(), ElementsAre("o -> r: o is also read by @k2"));
  EXPECT_EQ(p.num_elided(), 1);  // q's bytes are those of o
}

TEST(MustNotShare, AParameter) {
  const Planned p(program("x: f64[n] param 0, r: f64[n] output 0", "n = x.0",
                          kernel("k0", "out r start copy x " + stage("i < 1", one("r[i]")))));
  EXPECT_EQ(p.where("x"), "none");
  EXPECT_THAT(p.copies(), ElementsAre("x -> r: x belongs to the caller"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

TEST(MustNotShare, TwoOutputs) {
  const Planned p(program("x: f64[n] param 0, a: f64[n] output 0, b: f64[n] output 1, c: f64[n] output 2", "n = x.0",
                          kernel("k0", stage(copied("x[i]", "a[i]"))) +
                              kernel("k1", "out b start copy a " + stage(copied("x[i]", "b[i]", "add"))) +
                              "copy a -> c \"returned more than once\"\n"));
  expect_apart(p, "a", "b");
  expect_apart(p, "a", "c");
  EXPECT_THAT(p.copies(), ElementsAre("a -> b: a is also read by a copy", "a -> c: returned more than once"));
}

TEST(MustNotShare, AnOutputAsABase) {
  const Planned p(program("x: f64[n] param 0, a: f64[n] output 0, b: f64[n] output 1", "n = x.0",
                          kernel("k0", stage(copied("x[i]", "a[i]"))) +
                              kernel("k1", "out b start copy a " + stage(copied("x[i]", "b[i]", "add")))));
  expect_apart(p, "a", "b");
  EXPECT_THAT(p.copies(), ElementsAre("a -> b: a is returned"));
}

// b[1:].set(2 * b[:-1]) must read the old values.
TEST(MustNotShare, OverlappingSlicesOfOneBase) {
  const Planned p(with_base(
      "r: f64[n] output 0",
      kernel("k1", "out r start copy o " +
                       stage("i < -1 + n", "%0 = load o[i] : f64  %1 = add %0, %0 : f64  store r[1 + i] set %1"))));
  expect_apart(p, "r", "o", {1, 2, 5});
  EXPECT_THAT(p.copies(), ElementsAre("o -> r: o is read where it would be overwritten"));
}

// Two updates of one base: one takes its bytes, the other copies them before.
TEST(MustNotShare, OneBaseOfTwoUpdates) {
  const Planned p(with_base(
      "a: f64[n] output 0, b: f64[n] output 1",
      kernel("k1", "out a start copy o out b start copy o " + stage("i < 1", one("a[i]") + "store b[i] set %0"))));
  EXPECT_EQ(p.where("o"), "in a at 0");
  EXPECT_THAT(p.copies(), ElementsAre("o -> b: o's bytes are those of a, which is returned"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

// The fill would come before the copy.
TEST(MustNotShare, AFillWithABaseThatIsStillToBeCopied) {
  const Planned p(with_base("a: f64[n] temporary, b: f64[n] output 0, c: f64[n] output 1",
                            kernel("k1", "out a start fill 0.0 out b start copy o " +
                                             stage("i < 1", one("a[i]") + "store b[-1 + n - i] set %0")) +
                                kernel("k2", stage(unary("exp", "a[i]", "c[i]")))));
  expect_apart(p, "o", "a", {1, 5});
}

// ---- an operand that dies

// x[::-1] written over x: each element is read by another point.
TEST(MustNotShare, AnOperandReadBackwards) {
  expect_apart(Planned(with_base("r: f64[n] output 0", kernel("k1", stage(copied("o[-1 + n - i]", "r[i]"))))), "r",
               "o");
}

TEST(MustNotShare, AnOperandReadThroughAnIndex) {
  const Planned p(with_base("r: f64[n] output 0", kernel("k1", stage("%0 = load g[i] : i64\n"
                                                                     "%1 = load o[wrap(%0, n) checked #0] : f64\n"
                                                                     "store r[i] set %1"))));
  expect_apart(p, "r", "o");
}

// Each element of a broadcast operand is read by a whole row.
TEST(MustNotShare, ABroadcastOperand) {
  const Planned p(program("x: f64[5] param 0, o: f64[5, 1] temporary, r: f64[5, 1] output 0, s: f64[1, 5] output 1", "",
                          kernel("k0", stage("i < 5", copied("x[i]", "o[i, 0]"))) +
                              kernel("k1", stage("i < 5, j < 5", copied("o[i, 0]", "s[0, j]")))));
  EXPECT_FALSE(p.share("s", "o"));
}

TEST(MustNotShare, AnOperandReadByALaterStage) {
  const Planned p(with_base(
      "r: f64[n] output 0, s: f64 scalar",
      kernel("k1", "out s start fill 0.0 " + stage(unary("neg", "o[i]", "r[i]")) + stage(summed("o[i]", "s[]")))));
  expect_apart(p, "r", "o");
}

TEST(MustNotShare, AnOperandReadAfterTheStoreAtOnePoint) {
  const Planned p(with_base("r: f64[n] output 0, q: f64[n] output 1",
                            kernel("k1", stage(unary("neg", "o[i]", "r[i]") +
                                               "%2 = load o[i] : f64  %3 = exp %2 : f64  store q[i] set %3"))));
  expect_apart(p, "r", "o");
  EXPECT_EQ(p.where("o"), "in q at 0");  // written after the last read
}

// A row's stages run again for the next row: what that reads must not be written yet.
TEST(MustNotShare, RowsThatReadTheNextRow) {
  const Planned p(program(
      "x: f64[m, n] param 0, t: f64[m, n] temporary, r: f64[m, n] output 0, s: f64[m] output 1", "m = x.0, n = x.1",
      kernel("k0", stage("i < m, j < n", copied("x[i, j]", "t[i, j]"))) +
          kernel("k1", "outer (i < m) out s start fill 0.0 " + stage("j < n", summed("t[-1 + m - i, j]", "s[i]")) +
                           stage("j < n", copied("x[i, j]", "r[i, j]")))));
  expect_apart(p, "r", "t");
}

// The fill of a fold's result would be in the way of its operand; and the same bytes are of another shape.
TEST(MustNotShare, AFoldWithItsOperand) {
  const Planned p(
      with_base("r: f64[n] output 0", kernel("k1", "out r start fill 0.0 " + stage(summed("o[i]", "r[i]")))));
  expect_apart(p, "r", "o");
}

TEST(MustNotShare, ElementsOfAnotherSize) {
  const Planned p(program("x: f64[n] param 0, o: f32[2*n] temporary, r: f64[n] output 0", "n = x.0",
                          kernel("k0", stage("i < 2*n", "%0 = literal 1.0 : f32  store o[i] set %0")) +
                              kernel("k1", stage("%0 = load o[i] : f32  %1 = cast %0 : f64  store r[i] set %1"))));
  expect_apart(p, "r", "o");
}

TEST(MustNotShare, ASizeThatIsNotProvedEqual) {
  const Planned p(
      program("x: f64[n] param 0, y: f64[m] param 1, o: f64[n] temporary, r: f64[m] output 0", "n = x.0, m = y.0",
              kernel("k0", stage(copied("x[i]", "o[i]"))) + kernel("k1", stage("i < m", copied("o[i]", "r[i]")))));
  EXPECT_FALSE(p.share("r", "o"));
}

// Two results, one dying operand: one of them takes it.
TEST(MustNotShare, OneOperandWithTwoResults) {
  const Planned p(with_base("a: f64[n] temporary, b: f64[n] temporary, s: f64 scalar",
                            kernel("k1", stage(unary("neg", "o[i]", "a[i]") + "store b[i] set %0")) +
                                kernel("k2", "out s start fill 0.0 " + stage(R"(%0 = load a[i] : f64
      %1 = load b[i] : f64  %2 = mul %0, %1 : f64  fold add s[] %2 : f64)"))));
  expect_apart(p, "a", "b");
  EXPECT_TRUE(p.share("o", "a") != p.share("o", "b"));
}

// ---- a part and what it is joined to

// A part of a join cannot lie in two joins, nor twice in one.
TEST(MustNotShare, OnePartOfTwoJoins) {
  const Planned p(with_base("j: f64[2*n] output 0, k: f64[n] output 1",
                            kernel("k1", stage(copied("o[i]", "j[i]") + "store j[n + i] set %0  store k[i] set %0"))));
  EXPECT_EQ(p.where("o"), "in j at 0");
  EXPECT_EQ(p.num_elided(), 1);
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ARegionThatIsWrittenTwice) {
  const Planned p(
      with_base("r: f64[n] output 0", kernel("k1", stage(copied("o[i]", "r[i]")) + stage(R"(%0 = load o[i] : f64
      %1 = load y[i] : f64  %2 = add %0, %1 : f64  store r[-1 + n - i] add %2)"))));
  expect_apart(p, "r", "o");
}

TEST(MustNotShare, ARegionThatIsFilledAfterwards) {
  const Planned p(
      with_base("r: f64[n + 1] output 0", kernel("k1", "out r start fill 0.0 " + stage(copied("o[i]", "r[1 + i]")))));
  expect_apart(p, "r", "o");
}

// Filled before the part is made, but while what the part takes over is still there.
TEST(MustNotShare, ARegionThatIsFilledUnderThePartsPredecessor) {
  const Planned p(with_base("d: f64[2*n] output 0, t: f64[n] temporary",
                            kernel("k1", "out d start fill 0.0 " + stage(copied("y[i]", "d[n + i]", "add"))) +
                                kernel("k2", "out t start copy o " + stage("i < 1", one("t[i]"))) +
                                kernel("k3", stage(copied("t[i]", "d[i]")))));
  EXPECT_EQ(p.where("t"), "in place of o");
  expect_apart(p, "t", "d", {1, 5});
}

// The region holds what was copied, the part goes on.
TEST(MustNotShare, APartThatIsWrittenAfterwards) {
  const Planned p(
      with_base("r: f64[n] output 0, q: f64[n] output 1", kernel("k1", stage(copied("o[i]", "r[i]"))) +
                                                              kernel("k2", stage(copied("y[i]", "o[i]", "add"))) +
                                                              kernel("k3", stage(copied("o[-1 + n - i]", "q[i]")))));
  expect_apart(p, "r", "o");
}

TEST(MustNotShare, AValueStoredTwiceAndThenChanged) {
  const Planned p(
      program("x: f64[n] param 0, a: f64[n] temporary, r: f64[n] output 0, q: f64[n] output 1", "n = x.0",
              kernel("k0", stage(copied("x[i]", "a[i]") + "store r[i] set %0") + stage(copied("x[i]", "a[i]", "add"))) +
                  kernel("k1", stage(copied("a[-1 + n - i]", "q[i]")))));
  expect_apart(p, "r", "a");
}

// The program checks that m + 1 elements fit into n, but only after the part is made.
TEST(MustNotShare, APlaceThatIsCheckedTooLate) {
  const auto text = [](const char* first, const char* second) {
    return program("x: f64[m] param 0, y: f64[n] param 1, a: f64[m] temporary, r: f64[n] output 0, s: f64 scalar",
                   "m = x.0, n = y.0",
                   str(first, kernel("k0", stage("i < m", copied("x[i]", "a[i]"))), second,
                       kernel("k1", stage("i < m", copied("a[i]", "r[1 + i]")) + stage("i < 1", one("r[i]"))),
                       kernel("k2", "out s start fill 0.0 " + stage("i < m", summed("a[i]", "s[]"))),
                       "sites { #0 slice-out-of-range \"too long\" }"));
  };
  const Planned early(text("check n == 1 + m #0\n", "")), late(text("", "check n == 1 + m #0\n"));
  EXPECT_EQ(early.where("a"), "in r at 8");
  EXPECT_EQ(late.where("a"), "own");
  EXPECT_THAT(early.problems(), IsEmpty());
  EXPECT_THAT(late.problems(), IsEmpty());
}

// The register is rounded on its way.
TEST(MustNotShare, ACopyThroughASmallerRegister) {
  const Planned p(with_base("r: f64[n] output 0, q: f64[n] output 1",
                            kernel("k1", stage("%0 = load o[i] : f32  store r[i] set %0")) +
                                kernel("k2", stage(copied("o[-1 + n - i]", "q[i]")))));
  expect_apart(p, "r", "o");
}

// Every second element, another dtype, a transposition: not the same bytes in the same order.
TEST(MustNotShare, PartsInAnotherOrder) {
  const Planned p(with_base("r: f64[2*n] output 0, f: f32[n] output 1, b: f64[n] output 2",
                            kernel("k1", stage(copied("o[i]", "r[2*i]") + R"(store r[1 + 2*i] set %0
      store b[-1 + n - i] set %0  %1 = cast %0 : f32  store f[i] set %1)"))));
  for (const char* other : {"r", "f", "b"}) expect_apart(p, "o", other);
}

// A size that is bound later cannot hold what is made before.
TEST(MustNotShare, APlaceThatIsNotThereYet) {
  const Planned p(
      program("x: f64[n] param 0, a: f64[n] temporary, h: i64[k] host, r: f64[n + k] output 0", "n = x.0, k = h.0",
              kernel("k0", stage(copied("x[i]", "a[i]"))) + "host_call \"nonzero\" 0 (a) -> h bind k = h.0 #0\n" +
                  kernel("k1", stage(copied("a[i]", "r[i]")) +
                                   stage("i < k", "%0 = load h[i] : i64  %1 = cast %0 : f64  store r[n + i] set %1")) +
                  "sites { #0 host-call-failed \"nonzero failed\" }"));
  expect_apart(p, "r", "a");
}

// A small value that is made long before the large one would keep all of it in the arena.
TEST(MustNotShare, APlaceThatWouldCostMoreThanItSaves) {
  const Planned p(
      program(R"(x: f64[10] param 0, a: f64[10] temporary, b: f64[1000] temporary, c: f64[1000] temporary,
                             s: f64 scalar, t: f64 scalar, u: f64 scalar)",
              "",
              kernel("k0", stage("i < 10", copied("x[i]", "a[i]"))) + kernel("k1", stage("i < 1000", one("b[i]"))) +
                  kernel("k2", "out s start fill 0.0 " + stage("i < 1000", summed("b[i]", "s[]"))) +
                  kernel("k3", stage("i < 10", copied("a[i]", "c[i]")) + stage("i < 990", one("c[10 + i]"))) +
                  kernel("k4", "out t start fill 0.0 " + stage("i < 1000", summed("c[i]", "t[]")))));
  expect_apart(p, "a", "c");
  EXPECT_EQ(p.plan.arena_bytes(), 8080);
}

// ---- library calls

/// `a` is made from x, then `calls` follow, the last of which makes the output r.
std::string with_matrix(std::string_view calls) {
  return program("x: f64[n, n] param 0, a: f64[n, n] temporary, b: f64[n, n] temporary, r: f64[n, n] output 0",
                 "n = x.0", str(kernel("k0", stage("i < n, j < n", copied("x[i, j]", "a[i, j]"))), calls, "\n"));
}

// A matmul reads its operands while it writes.
TEST(MustNotShare, AMatmulWithItsOperand) {
  expect_apart(Planned(with_matrix("call matmul r = a, x (1, n, n, n)")), "r", "a");
}

// LAPACK overwrites what it is given, and that may be what dies there.
TEST(MustNotShare, AFactorMayShareWithWhatDiesThere) {
  const Planned p(with_matrix("call cholesky r = a (1, n)"));
  EXPECT_TRUE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AFactorWithWhatIsReadLater) {
  const Planned p(with_matrix("call cholesky b = a (1, n)\ncall matmul r = a, b (1, n, n, n)"));
  expect_apart(p, "b", "a");
}

TEST(MustNotShare, AFactorWithAnOperandThatLiesOtherwise) {
  expect_apart(Planned(with_matrix("call cholesky r = a at 0 strides (n*n, 1, n) (1, n)")), "r", "a");
}

TEST(MustNotShare, ASolutionWithItsMatrix) {
  expect_apart(Planned(with_matrix("call solve_triangular r = a, a (1, n, n)")), "r", "a");
}

// ---- a part of a result, made of an operand of its size

/// `e` is made of x, then `k1` writes what it makes of e into the second half of r.
std::string with_part(std::string_view before_k1, std::string_view k1) {
  return program("x: f64[n] param 0, e: f64[n] temporary, s: f64 scalar, r: f64[2*n] output 0", "n = x.0",
                 str(kernel("k0", stage(unary("exp", "x[i]", "e[i]"))), before_k1, kernel("k1", k1), "sites { #0 ",
                     "assert-failed \"\" }"));
}
const std::string kFirstHalf = stage(copied("x[i]", "r[i]"));

TEST(MustNotShare, APartMayBeMadeInTheResult) {
  const Planned p(with_part("", kFirstHalf + stage(unary("neg", "e[i]", "r[n + i]"))));
  EXPECT_EQ(p.where("e"), "in r at 8*n");
  EXPECT_THAT(p.problems({0, 1, 2, 5}), IsEmpty());
}

TEST(MustNotShare, APartWhoseRegionIsReadBefore) {
  const std::string adds = R"(%0 = load e[i] : f64  %1 = load r[n + i] : f64  %2 = add %0, %1 : f64
                              store r[n + i] set %2)";
  expect_apart(Planned(with_part("", "out r start fill 1.0 " + stage(adds))), "r", "e");
}

TEST(MustNotShare, APartThatALaterPointReads) {
  const std::string reversed =
      stage(unary("neg", "e[i]", "r[n + i]") + "%2 = load e[-1 + n - i] : f64  " + "store r[i] set %2\n");
  expect_apart(Planned(with_part("", reversed)), "r", "e");
}

// A result that nothing can fail behind is written where the caller wants it: also its part is written then.
TEST(MustNotShare, APartThatWouldBeWrittenBeforeACheck) {
  expect_apart(Planned(with_part("check n <= 9 #0\n", kFirstHalf + stage(unary("neg", "e[i]", "r[n + i]")))), "r", "e");
}

}  // namespace
}  // namespace inlay::memory
