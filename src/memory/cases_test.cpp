// Cases that planners and their in-place passes have got wrong elsewhere, and how they come out here. docs/memory.md
// has the whole list. `problems` replays each plan under every planner.
#include "memory/liveness.h"
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planned;

std::string unary(std::string_view name, std::string_view from, std::string_view op, std::string_view to) {
  return str("kernel @", name, " { stage (i < n) { %0 = load ", from, "[i] : f64  %1 = ", op, " %0 : f64  store ", to,
             "[i] set %1 } }\n");
}

std::string binary(std::string_view name, std::string_view a, std::string_view b, std::string_view to) {
  return str("kernel @", name, " { stage (i < n) { %0 = load ", a, "[i] : f64  %1 = load ", b,
             "[i] : f64  %2 = add %0, %1 : f64  store ", to, "[i] set %2 } }\n");
}

std::string sum(std::string_view name, std::string_view from, std::string_view to) {
  return str("kernel @", name, " { out ", to, " start fill 0.0\n stage (i < n) { %0 = load ", from,
             "[i] : f64  fold add ", to, "[] %0 : f64 } }\n");
}

std::string flip(std::string_view name, std::string_view from, std::string_view to) {
  return str("kernel @", name, " { stage (i < n) { %0 = load ", from, "[-1 + n - i] : f64  store ", to,
             "[i] set %0 } }\n");
}

/// The update of the first element of `base`.
std::string update(std::string_view name, std::string_view base, std::string_view to) {
  return str("kernel @", name, " { out ", to, " start copy ", base, "\n stage (i < 1) { %0 = literal 1.0 : f64  store ",
             to, "[i] set %0 } }\n");
}

/// x: f64[n], g: i64[n] are given; s and t are numbers.
std::string program(std::string_view buffers, std::string_view steps) {
  return str("program @main(x: f64[n] param 0, g: i64[n] param 1, s: f64 scalar, t: f64 scalar, ", buffers,
             ") symbols n = x.0 {\n", steps, "sites { #0 index-out-of-bounds \"\" }\n}");
}

const std::vector<int64_t> kSomeSizes = {1, 2, 5};  // an update of the first element needs one

const Storage& storage_of(const Planned& p, const std::vector<Storage>& storages, const char* name) {
  return storages[p.at(name).storage.index];
}

// --- planners ---

TEST(Case, EachPlannerFillsTheSameBlocks) {
  const Planned p(R"(program @main(x: f64[4] param 0, a: f64[4] temporary, h: i64[k] host, b: f64[k] temporary,
      s: f64 scalar, t: f64 scalar) symbols k = h.0 {
    kernel @k0 { stage (i < 4) { %0 = load x[i] : f64  store a[i] set %0 } }
    host_call "nonzero" 0 (a) -> h bind k = h.0 #0
    kernel @k1 { stage (i < k) { %0 = literal 2.0 : f64  store b[i] set %0 } }
    kernel @k2 { out s start fill 0.0
      stage (i < k) { %0 = load b[i] : f64  fold add s[] %0 : f64 } }
    kernel @k3 { out t start fill 0.0
      stage (i < 4) { %0 = load a[i] : f64  fold add t[] %0 : f64 } }
    sites { #0 host-call-failed "" }
  })");
  ASSERT_EQ(p.plan.sharing.num_segments(), 2);
  const std::vector<int64_t> sizes = {3};
  for (Planner planner : {Planner::naive, Planner::greedy, Planner::search, Planner::max}) {
    EXPECT_EQ(plan(planner, storages_of_segment(p.plan.sharing, 0, sizes)).arena_bytes, 32);
    EXPECT_EQ(plan(planner, storages_of_segment(p.plan.sharing, 1, sizes)).arena_bytes, 24);
  }
  EXPECT_THAT(p.problems({3}), IsEmpty());
}

// --- constants, parameters ---

TEST(Case, ConstantsHaveNoStorage) {
  const Planned p(R"(program @main(x: f64[4] param 0, w: f64[2, 2] param 1 bound, v: f64[4] view of w,
      c: f64[4] literal [1.0, 2.0, 3.0, 4.0], a: f64[4] output 0) {
    kernel @k0 { stage (i < 4) { %0 = load x[i] : f64  %1 = load v[i] : f64  %2 = load c[i] : f64
      %3 = add %0, %1 : f64  %4 = add %3, %2 : f64  store a[i] set %4 } }
  })");
  for (const char* name : {"x", "w", "v", "c"}) EXPECT_FALSE(p.at(name).storage.valid()) << name;
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Case, AConstantIsNoBaseToWriteOver) {
  const Planned p(program("c: f64[2] literal [1.0, 2.0], r: f64[2] output 0", update("k0", "c", "r")));
  EXPECT_THAT(p.copies(), ElementsAre("c -> r: c is a constant"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// a is read once, and flipped into a temporary; b is read much later. Both are there when the call begins.
TEST(Case, DonatedParametersLiveFromTheStart) {
  const Planned p(R"(program @main(a: f64[n] param 0 donated, b: f64[n] param 1 donated, f: f64[n] temporary,
      r: f64[n] output 0) symbols n = a.0 {
)" + flip("k0", "a", "f") +
                  binary("k1", "f", "b", "r") + "}");
  const Liveness lives = liveness(p.program);
  EXPECT_EQ(lives.lives[p.buffer("a")].begin, 0);
  EXPECT_EQ(lives.lives[p.buffer("b")].begin, 0);
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_FALSE(p.share("a", "f"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// --- in place ---

TEST(Case, AChainRunsInOneStorage) {
  const auto relu = [](std::string_view name, std::string_view from, std::string_view to) {
    return str("kernel @", name, " { stage (i < n) { %0 = load ", from,
               "[i] : f64  %1 = literal 0.0 : f64  %2 = max %0, %1 : f64  store ", to, "[i] set %2 } }\n");
  };
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary, d: f64[n] temporary",
                          binary("k0", "x", "x", "a") + relu("k1", "a", "b") + binary("k2", "b", "x", "c") +
                              relu("k3", "c", "d") + sum("k4", "d", "s")));
  EXPECT_EQ(p.plan.sharing.storages.size(), 1u);
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Case, TheLastOfTwoReadersTakesTheBytes) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + unary("k1", "a", "neg", "b") + unary("k2", "a", "sin", "c") +
                              sum("k3", "b", "s") + sum("k4", "c", "t")));
  EXPECT_EQ(p.where("b"), "own");
  EXPECT_EQ(p.where("c"), "in place of a");
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Case, AnOperandReadByAGatherLater) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + unary("k1", "a", "neg", "b") +
                              "kernel @k2 { stage (i < n) { %0 = load g[i] : i64  %1 = load a[wrap(%0, n) checked #0] "
                              ": f64  store c[i] set %1 } }\n" +
                              sum("k3", "b", "s") + sum("k4", "c", "t")));
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_FALSE(p.share("a", "c"));  // any point may read what another one writes
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Case, AnotherDtypeOfTheSameSizeMayTakeTheBytes) {
  const auto converted = [](const char* dtype) {
    return program(str("a: f64[n] temporary, b: ", dtype, "[n] temporary, c: f64[n] temporary"),
                   unary("k0", "x", "exp", "a") +
                       str("kernel @k1 { stage (i < n) { %0 = load a[i] : f64  %1 = cast %0 : ", dtype,
                           "  store b[i] set %1 } }\nkernel @k2 { stage (i < n) { %0 = load b[i] : ", dtype,
                           "  %1 = cast %0 : f64  store c[i] set %1 } }\n") +
                       sum("k3", "c", "s"));
  };
  const Planned as_integer(converted("i64")), as_float(converted("f32"));
  EXPECT_EQ(as_integer.where("b"), "in place of a");
  EXPECT_FALSE(as_float.share("a", "b"));
  EXPECT_THAT(as_integer.problems(), IsEmpty());
  EXPECT_THAT(as_float.problems(), IsEmpty());
}

// --- views ---

// a's bytes are read through a view of a view long after a itself.
TEST(Case, AViewOfAViewExtendsTheLifeOfItsBase) {
  const Planned p(
      R"(program @main(x: f64[6] param 0, a: f64[6] temporary, v: f64[2, 3] view of a, w: f64[3, 2] view of v,
      b: f64[6] temporary, s: f64 scalar, t: f64 scalar) {
    kernel @k0 { stage (i < 6) { %0 = load x[i] : f64  store a[i] set %0 } }
    kernel @k1 { stage (i < 6) { %0 = load a[i] : f64  %1 = exp %0 : f64  store b[i] set %1 } }
    kernel @k2 { out s start fill 0.0
      stage (i < 6) { %0 = load b[i] : f64  fold add s[] %0 : f64 } }
    kernel @k3 { out t start fill 0.0
      stage (i < 3, j < 2) { %0 = load w[i, j] : f64  fold add t[] %0 : f64 } }
  })");
  EXPECT_EQ(p.plan.sharing.storages[p.at("a").storage].live, (Lifetime{1, 8}));
  EXPECT_TRUE(p.share("a", "w"));
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// What dies is the bytes, whatever they are called: through its view, a is b's operand.
TEST(Case, InPlaceThroughAView) {
  const Planned p(
      R"(program @main(x: f64[6] param 0, a: f64[6] temporary, v: f64[2, 3] view of a, b: f64[2, 3] temporary,
      s: f64 scalar) {
    kernel @k0 { stage (i < 6) { %0 = load x[i] : f64  store a[i] set %0 } }
    kernel @k1 { stage (i < 2, j < 3) { %0 = load v[i, j] : f64  %1 = exp %0 : f64  store b[i, j] set %1 } }
    kernel @k2 { out s start fill 0.0
      stage (i < 2, j < 3) { %0 = load b[i, j] : f64  fold add s[] %0 : f64 } }
  })");
  EXPECT_EQ(p.where("b"), "in place of a");
  EXPECT_THAT(p.problems(), IsEmpty());
}

// r has written its first element into a's bytes; the rest is read there, where a was.
TEST(Case, ASliceIsWrittenAndAnotherRead) {
  const Planned p(program("a: f64[n] temporary, r: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + update("k1", "a", "r") +
                              "kernel @k2 { out s start fill 0.0\n stage (i < n - 1) { %0 = load r[1 + i] : f64  "
                              "fold add s[] %0 : f64 } }\n"));
  EXPECT_EQ(p.where("r"), "in place of a");
  EXPECT_THAT(p.problems(kSomeSizes), IsEmpty());
  // The same where a itself is read: then there are two arrays.
  const Planned q(program("a: f64[n] temporary, r: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + update("k1", "a", "r") +
                              "kernel @k2 { out s start fill 0.0\n stage (i < n - 1) { %0 = load a[1 + i] : f64  "
                              "fold add s[] %0 : f64 } }\n" +
                              sum("k3", "r", "t")));
  EXPECT_THAT(q.copies(), ElementsAre("a -> r: a is also read by @k2"));
  EXPECT_THAT(q.problems(kSomeSizes), IsEmpty());
}

// --- the defects of another planner, numbered as there ---

/// a dies where b takes its bytes; c lives while b does.
std::string in_place_beside_a_third() {
  return program("a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary",
                 unary("k0", "x", "exp", "a") + unary("k1", "a", "neg", "b") + unary("k2", "x", "sin", "c") +
                     sum("k3", "c", "s") + sum("k4", "b", "t"));
}

// D1: the result was placed after all others, and the base's life ended where the result began.
TEST(Case, D1WhatIsMadeInPlaceExtendsTheLife) {
  const Planned p(in_place_beside_a_third());
  EXPECT_EQ(p.where("b"), "in place of a");
  EXPECT_EQ(p.plan.sharing.storages[p.at("b").storage].live, (Lifetime{1, 10}));
  const std::vector<int64_t> sizes = {8};
  const std::vector<Storage> storages = storages_of_segment(p.plan.sharing, 0, sizes);
  EXPECT_TRUE(meet(storage_of(p, storages, "b").live, storage_of(p, storages, "c").live));
  for (Planner planner : {Planner::naive, Planner::greedy, Planner::search, Planner::max}) {
    EXPECT_EQ(plan(planner, storages).arena_bytes, 128);
  }
  EXPECT_THAT(p.problems(), IsEmpty());
}

// D2: a result of 256 bytes lay "in place" in a base of 64.
TEST(Case, D2ALargerResultDoesNotLieInASmallerBase) {
  const Planned p(
      program("a: f64[n] temporary, b: f64[4*n] temporary",
              unary("k0", "x", "exp", "a") +
                  "kernel @k1 { stage (i < n, j < 4) { %0 = load a[i] : f64  store b[4*i + j] set %0 } }\n"
                  "kernel @k2 { out s start fill 0.0\n stage (i < 4*n) { %0 = load b[i] : f64  fold add s[] "
                  "%0 : f64 } }\n"));
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// D3: readers of the result of an update in place did not extend the life of its storage.
TEST(Case, D3AReaderOfAnUpdateExtendsTheLife) {
  const Planned p(program("a: f64[n] temporary, r: f64[n] temporary, c: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + update("k1", "a", "r") + unary("k2", "x", "sin", "c") +
                              sum("k3", "c", "s") + sum("k4", "r", "t")));
  EXPECT_EQ(p.where("r"), "in place of a");
  EXPECT_EQ(p.plan.sharing.storages[p.at("r").storage].live, (Lifetime{1, 10}));
  EXPECT_FALSE(p.share("r", "c"));
  EXPECT_THAT(p.problems(kSomeSizes), IsEmpty());
}

// D4: the verifier took any overlap of a base and what is made in its place.
TEST(Case, D4AReadOfTheBaseAfterwardsIsFound) {
  Planned p(
      program("a: f64[n] temporary, b: f64[n] temporary",
              unary("k0", "x", "exp", "a") + unary("k1", "a", "neg", "b") + sum("k2", "a", "s") + sum("k3", "b", "t")));
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_THAT(p.problems(), IsEmpty());
  p.plan.sharing.storages[p.at("a").storage].live = {1, 8};
  p.plan.sharing.placements[p.buffer("b")] = {p.at("a").storage, 0, Reason::in_place, p.buffer("a")};
  EXPECT_THAT(p.problems({2}), Contains(HasSubstr("@k2 reads element 0 of a, whose bytes hold something else")));
}

// D5: only direct users were looked at, and views were copies still.
TEST(Case, D5AReadThroughAnAliasCounts) {
  const Planned p(R"(program @main(x: f64[6] param 0, a: f64[6] temporary, v: f64[2, 3] view of a, b: f64[6] temporary,
      r: f64[6] temporary, s: f64 scalar, t: f64 scalar, u: f64 scalar) {
    kernel @k0 { stage (i < 6) { %0 = load x[i] : f64  store a[i] set %0 } }
    kernel @k1 { stage (i < 6) { %0 = load a[i] : f64  %1 = exp %0 : f64  store b[i] set %1 } }
    kernel @k2 { out r start copy a
      stage (i < 1) { %0 = literal 1.0 : f64  store r[i] set %0 } }
    kernel @k3 { out s start fill 0.0  out t start fill 0.0
      stage (i < 6) { %0 = load b[i] : f64  fold add s[] %0 : f64  %1 = load r[i] : f64  fold add t[] %1 : f64 } }
    kernel @k4 { out u start fill 0.0
      stage (i < 2, j < 3) { %0 = load v[i, j] : f64  fold add u[] %0 : f64 } }
  })");
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_FALSE(p.share("a", "r"));
  EXPECT_THAT(p.copies(), ElementsAre("a -> r: a is also read by @k4"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// D6: the verifier did not look into bodies.
TEST(Case, D6TheVerifierLooksIntoBodies) {
  for (const char* body : {"loop i < 2 {", "cond p {"}) {
    const bool is_cond = body[0] == 'c';
    Planned p(
        program("i: i64 scalar, p: bool param 2, a: f64[n] temporary, b: f64[n] temporary, r: f64[n] output 0",
                str(body, "\n", unary("k0", "x", "exp", "a"), unary("k1", "x", "sin", "b"), binary("k2", "a", "b", "r"),
                    "}", is_cond ? " else { kernel @k3 { out r start fill 0.0 } }\n" : "\n")));
    EXPECT_THAT(p.problems(), IsEmpty());
    p.plan.sharing.placements[p.buffer("b")] = p.plan.sharing.placements[p.buffer("a")];
    EXPECT_THAT(p.problems({2}), Contains(HasSubstr("whose bytes hold something else"))) << body;
  }
}

// D7: where one result took over an operand, nothing said that its other operands are read, and an earlier step wrote
// over them.
TEST(Case, D7TheOtherOperandOfAResultInPlaceIsRead) {
  const Planned p(program("a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary, r: f64[n] temporary",
                          unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") + binary("k2", "b", "x", "c") +
                              binary("k3", "a", "b", "r") + sum("k4", "c", "s") + sum("k5", "r", "t")));
  EXPECT_EQ(p.where("r"), "in place of a");
  EXPECT_FALSE(p.share("b", "c"));
  EXPECT_THAT(p.problems(kSomeSizes), IsEmpty());
}

// D8: a planner wrote into what the next one was given, which then began above it.
TEST(Case, D8PlannersShareNoState) {
  const Planned p(in_place_beside_a_third());
  const std::vector<int64_t> sizes = {8};
  const std::vector<Planner> planners = {Planner::naive, Planner::greedy, Planner::search, Planner::max};
  // Planned in between: what a planner keeps from one plan to the next must not matter either.
  std::vector<Storage> other;
  for (int32_t i = 0; i < 40; ++i) other.push_back({.live = {i, i + 3 + i % 5}, .size_bytes = 24 * (i % 7 + 1)});
  const std::vector<Storage> given = storages_of_segment(p.plan.sharing, 0, sizes);
  std::vector<std::vector<int64_t>> alone;
  for (Planner planner : planners) alone.push_back(plan(planner, given).offset_bytes);
  for (Planner first : planners) {
    for (std::size_t second = 0; second < planners.size(); ++second) {
      plan(first, given);
      plan(first, other);
      EXPECT_EQ(plan(planners[second], given).offset_bytes, alone[second]);
    }
  }
}

// Whatever planner gives the offsets, sharing is decided before it and proved after it.
TEST(Case, InPlaceUnderACustomPlanner) {
  const Planned p(in_place_beside_a_third());
  const std::vector<int64_t> sizes = {8};
  const std::vector<Storage> storages = storages_of_segment(p.plan.sharing, 0, sizes);
  const auto at_ends = [](std::span<const StorageToPlace> of) {
    std::vector<int64_t> offsets;
    for (std::size_t s = 0; s < of.size(); ++s) offsets.push_back(static_cast<int64_t>(256 - 128 * s));
    return offsets;
  };
  const std::vector<Layout> layouts = {plan_custom(at_ends, storages)};
  EXPECT_THAT(verify(p.program, p.plan, layouts, sizes), IsEmpty());
  const std::vector<Layout> overlapping = {{.offset_bytes = {0, 32}, .arena_bytes = 128}};
  EXPECT_EQ(verify(p.program, p.plan, overlapping, sizes).front().message,
            "segment 0: a (storage 0) [0, 64) and c (storage 1) [32, 96) are both live at tick 5");
}

}  // namespace
}  // namespace inlay::memory
