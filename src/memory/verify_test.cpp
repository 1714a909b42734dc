#include "memory/verify.h"

#include <cstdlib>
#include <ctime>
#include <random>

#include "explain/memory_map.h"
#include "memory/testdata/planned.h"
#include "memory/testdata/random_program.h"

namespace inlay::memory {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planned;
using testing::RandomProgram;

// a and b live together; c takes a's place; t lies in out; the update r lies in c, and not in out, which is written
// with it the other way round.
const char* const kProgram =
    R"(program @main(x: f64[9] param 0, a: f64[9] temporary, b: f64[9] temporary, c: f64[9] temporary,
    r: f64[9] temporary, t: f64[4] temporary, out: f64[13] output 0) {
  kernel @k0 {
    stage (i < 9) {
      %0 = load x[i] : f64
      store a[i] set %0
      %1 = neg %0 : f64
      store b[i] set %1
    }
    stage (i < 4) {
      %0 = load x[2*i] : f64
      store t[i] set %0
    }
  }
  kernel @k1 {
    stage (i < 9) {
      %0 = load a[i] : f64
      %1 = exp %0 : f64
      store c[i] set %1
    }
  }
  kernel @k2 {
    out r start copy c
    stage (i < 2) {
      %0 = load b[i] : f64
      store r[3 + i] set %0
    }
  }
  kernel @k3 {
    stage (i < 9) {
      %0 = load r[8 - i] : f64
      %1 = load b[8 - i] : f64
      %2 = add %0, %1 : f64
      store out[i] set %2
    }
    stage (i < 4) {
      %0 = load t[i] : f64
      store out[9 + i] set %0
    }
  }
})";

/// What is wrong once `change` has been at the plan; the layout is made for the changed plan.
template <class Change>
std::vector<std::string> after(const Change& change) {
  Planned p(kProgram);
  EXPECT_EQ(p.where("c"), "in place of a");
  EXPECT_EQ(p.where("r"), "in place of c");
  EXPECT_EQ(p.where("t"), "in out at 72");
  change(p, p.plan.sharing);
  std::vector<std::string> out;
  for (const Diagnostic& d : verify(p.program, p.plan, std::span<const int64_t>{})) out.push_back(d.message);
  return out;
}

Placement& at(Planned& p, const char* name) { return p.plan.sharing.placements[p.buffer(name)]; }

TEST(VerifyPlan, TakesTheRightOne) {
  EXPECT_THAT(after([](Planned&, Sharing&) {}), IsEmpty());
}

TEST(VerifyPlan, TakesCopiesThatAreMadeAllTheSame) {
  EXPECT_THAT(after([](Planned& p, Sharing&) { p.mark_none(); }), IsEmpty());
}

TEST(VerifyPlan, RejectsAShiftedOffset) {
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "t").offset_bytes = 64; }),
              Contains(HasSubstr("a store to out is left out, but its bytes are not there")));
  EXPECT_THAT(after([](Planned& p, Sharing&) {
                at(p, "t").offset_bytes = 64;
                p.mark_none();
              }),
              Contains(HasSubstr("@k3 reads element 0 of t, whose bytes hold something else")));
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "t").offset_bytes = 80; }),
              Contains("@k0: element 3 of t at 104 lies outside of output 0 of 104 bytes"));
}

TEST(VerifyPlan, KnowsWhichCallsCanFailBehindAWriteToTheCallersBytes) {
  Planned p(R"(program @main(x: f64[4, 4] param 0 donated, r: f64[4, 4] output 0, p: f64[4, 4] output 1) {
    kernel @k0 {
      out r start copy x
      stage (i < 4) {
        %0 = literal 1.0 : f64
        store r[0, i] set %0
      }
    }
    call matmul p = r, r (1, 4, 4, 4) #0
    sites { #0 size-overflow "" #1 factorization-failed "" }
  })");
  EXPECT_THAT(p.copies(), IsEmpty());
  EXPECT_THAT(p.problems(), IsEmpty());
  const auto can_fail = Contains(HasSubstr("can fail, and bytes of the caller are overwritten by then"));
  auto& call = std::get<kernel::LibraryCall>(p.program.steps[1]);
  call.sites.push_back(kernel::SiteId(1));
  EXPECT_THAT(p.problems(), can_fail);
  call.sites.pop_back();
  call.operands[0].strides[1] = int64_t{1} << 31;
  EXPECT_THAT(p.problems(), can_fail);
}

TEST(VerifyPlan, RejectsADonatedParameterOutsideOfItsBytes) {
  Planned p(R"(program @main(x: f64[4] param 0 donated, r: f64[4] output 0) {
    kernel @k0 {
      stage (i < 4) {
        %0 = load x[i] : f64
        %1 = neg %0 : f64
        store r[i] set %1
      }
    }
  })");
  at(p, "x").offset_bytes = 64;
  EXPECT_THAT(p.problems(), Contains(HasSubstr("before the first step: element 0 of x at 64 lies outside of")));
}

TEST(VerifyPlan, RejectsAShortenedLife) {
  EXPECT_THAT(after([](Planned& p, Sharing& sharing) { sharing.storages[at(p, "b").storage].live.end = 3; }),
              Contains("b is needed in [1, 8), but its storage b lives in [1, 3)"));
}

TEST(VerifyPlan, RejectsADroppedAlias) {
  EXPECT_THAT(after([](Planned& p, Sharing& sharing) {
                const StorageId own = sharing.storages.push_back(sharing.storages[at(p, "r").storage]);
                at(p, "r").storage = own;
              }),
              Contains(HasSubstr("the copy of c to r is left out, but its bytes are not there")));
}

TEST(VerifyPlan, RejectsBytesSharedByTwoThatLive) {
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "b").storage = at(p, "a").storage; }),
              Contains(HasSubstr("@k1 reads element 0 of a, whose bytes hold something else")));
}

TEST(VerifyPlan, RejectsACopyLeftOutForNothing) {
  EXPECT_THAT(after([](Planned& p, Sharing&) {
                std::get<kernel::Kernel>(p.program.steps[3]).stages[0].statements[3].elided = true;
              }),
              Contains(HasSubstr("a store to out is left out, but its bytes are not there")));
}

TEST(VerifyPlan, RejectsAnOutputElsewhere) {
  EXPECT_THAT(after([](Planned& p, Sharing& sharing) { sharing.storages[at(p, "out").storage].owner = Owner::arena; }),
              Contains(HasSubstr("output 0 does not lie in its own bytes")));
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "b").storage = {}; }), Contains("b has no storage"));
}

TEST(VerifyPlan, RejectsALayoutThatOverlaps) {
  const Planned p(kProgram);
  std::vector<Layout> layouts = p.plan.layouts;
  EXPECT_THAT(verify(p.program, p.plan, layouts, {}), IsEmpty());
  for (int64_t& offset : layouts[0].offset_bytes) offset = 0;
  const std::vector<Diagnostic> found = verify(p.program, p.plan, layouts, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "segment 0: a (storage 0) [0, 72) and b (storage 1) [0, 72) are both live at tick 1");
}

TEST(VerifyPlan, EndsAtItsLimits) {
  Planned wrong(kProgram);
  at(wrong, "b").storage = at(wrong, "a").storage;
  const auto found = [&](int64_t most) {
    return verify(wrong.program, wrong.plan, std::span<const int64_t>{}, Planner::search, {.accesses = most}).size();
  };
  EXPECT_EQ(found(10), 0u);
  EXPECT_EQ(found(10'000), 1u);
  EXPECT_EQ(verify(wrong.program, wrong.plan, std::span<const int64_t>{}, Planner::search, {.bytes = 100}).size(), 0u);

  const Planned huge(R"(program @main(x: f64[1000000000000] param 0, s: f64[] output 0) {
  kernel @k0 {
    out s start fill 0.0
    stage (i < 1000000000000) {
      %0 = load x[i] : f64
      fold add s[] %0 : f64
    }
  }
})");
  EXPECT_THAT(verify(huge.program, huge.plan, std::span<const int64_t>{}, Planner::search, {.accesses = 10'000}),
              IsEmpty());

  // An array of no elements, with one extent that is too large for a loop.
  EXPECT_THAT(Planned(R"(program @main(x: f64[4611686018427387904, 0] param 0, y: f64[0, 0] param 1,
    z: f64[4611686018427387904, 0] output 0) {
  call matmul z = x, y (1, 4611686018427387904, 0, 0) #0
  sites { #0 size-overflow "" }
})")
                  .problems(),
              IsEmpty());
}

/// What is wrong where r is laid onto c: a stage gathers from the columns 2*j of c and scatters to `column` of r, in
/// `rows` unknown rows.
std::vector<std::string> beside_an_index(const std::string& column, int rows = 3) {
  Planned p(
      str(R"(program @main(x: f64[4, 4] param 0, g: i64[3] param 1, c: f64[4, 4] temporary, r: f64[4, 4] temporary,
    out: f64[)",
          rows, R"(, 2] output 0, last: f64[4, 2] output 1) {
  kernel @k0 {
    stage (i < 4, j < 4) {
      %0 = load x[i, j] : f64
      store c[i, j] set %0
    }
  }
  kernel @k1 {
    stage (i < )",
          rows, R"(, j < 2) {
      %0 = load g[i] : i64
      %1 = load c[wrap(%0, 4) checked #0, 2*j] : f64
      store out[i, j] set %1
      store r[wrap(%0, 4) checked #0, )",
          column, R"(] set %1
    }
  }
  kernel @k2 {
    stage (i < 4, j < 2) {
      %0 = load r[i, )",
          column, R"(] : f64
      store last[i, j] set %0
    }
  }
  sites {
    #0 index-out-of-bounds "index {0} of {1}" at "test"
  }
})"));
  at(p, "r").storage = at(p, "c").storage;
  p.plan.sharing.storages[at(p, "c").storage].live = {1, 8};
  std::vector<std::string> out;
  for (const Diagnostic& d : verify(p.program, p.plan, std::span<const int64_t>{})) out.push_back(d.message);
  return out;
}

TEST(VerifyPlan, KnowsTheColumnsBesideAnIndex) {
  EXPECT_THAT(beside_an_index("1 + 2*j"), IsEmpty());
  EXPECT_THAT(beside_an_index("2*j"), Contains(HasSubstr("of c, whose bytes hold something else")));
  EXPECT_THAT(beside_an_index("2 - 2*j"), Contains(HasSubstr("of c, whose bytes hold something else")));
  // In one row each point has a column for itself: it may overwrite what it has read.
  EXPECT_THAT(beside_an_index("2*j", 1), IsEmpty());
  EXPECT_THAT(beside_an_index("2 - 2*j", 1), Contains(HasSubstr("of c, whose bytes hold something else")));
}

// --- random programs: whatever sharing decides, the replay must find every byte ---

TEST(VerifyPlan, FindsEveryByteInRandomPrograms) {
  const char* given = std::getenv("INLAY_FUZZ_SEED");
  const char* seconds = std::getenv("INLAY_FUZZ_SECONDS");
  const auto first = given ? static_cast<uint32_t>(std::atol(given)) : std::random_device()();
  const double limit = seconds ? std::atof(seconds) : 1;
  const std::clock_t start = std::clock();
  int shared = 0, elided = 0;
  for (uint32_t seed = first; static_cast<double>(std::clock() - start) < limit * CLOCKS_PER_SEC; ++seed) {
    const std::string text = RandomProgram(seed).text();
    SCOPED_TRACE(str("INLAY_FUZZ_SEED=", seed, "\n", text));
    const Planned p(text);
    ASSERT_THAT(p.problems({0, 1, 3}), IsEmpty()) << explain::memory_map(p.program, p.plan);
    elided += p.num_elided();
    for (const Placement& placement : p.plan.sharing.placements) {
      shared += placement.reason == Reason::in_place || placement.reason == Reason::destination;
    }
  }
  EXPECT_GT(shared, 10);
  EXPECT_GT(elided, 10);
}

}  // namespace
}  // namespace inlay::memory
