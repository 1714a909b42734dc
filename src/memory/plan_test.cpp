#include "memory/plan.h"

#include "explain/memory_map.h"
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Planned;

// Two maps through a temporary: it lies in the output, and nothing is left of the arena.
TEST(Plan, ComputesATemporaryInTheOutputThatFollowsIt) {
  const Planned p(R"(program @main(x: f64[n] param 0, t: f64[n] temporary, out: f64[n] output 0) symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store t[i] set %0
      }
    }
    kernel @k1 {
      stage (i < n) {
        %0 = load t[i] : f64
        %1 = exp %0 : f64
        store out[i] set %1
      }
    }
  })");
  EXPECT_EQ(p.where("t"), "in out at 0");
  EXPECT_EQ(p.where("out"), "own");
  EXPECT_EQ(p.where("x"), "none");
  EXPECT_TRUE(p.plan.is_static);
  EXPECT_EQ(p.plan.arena_bytes(), 0);
  EXPECT_THAT(p.problems(), IsEmpty());
}

const char* const kChain = R"(program @main(x: f64[100] param 0, a: f64[100] temporary, b: f64[100] temporary,
    c: f64[100] temporary, s: f64 scalar, out: f64 output 0) {
  kernel @k0 {
    stage (i < 100) {
      %0 = load x[i] : f64
      store a[i] set %0
    }
  }
  kernel @k1 {
    stage (i < 100) {
      %0 = load a[i] : f64
      %1 = neg %0 : f64
      store b[i] set %1
    }
  }
  kernel @k2 {
    stage (i < 100) {
      %0 = load b[i] : f64
      %1 = neg %0 : f64
      store c[i] set %1
    }
  }
  kernel @k3 {
    out s start fill 0.0
    stage (i < 100) {
      %0 = load c[i] : f64
      fold add s[] %0 : f64
    }
  }
  scalar {
    %0 = load s[] : f64
    store out[] set %0
  }
})";

TEST(Plan, GivesAChainOneStorage) {
  const Planned p(kChain);
  EXPECT_EQ(p.where("a"), "own");
  EXPECT_EQ(p.where("b"), "in place of a");
  EXPECT_EQ(p.where("c"), "in place of b");
  EXPECT_EQ(p.where("s"), "none");
  EXPECT_EQ(p.plan.sharing.storages[p.at("a").storage].live, (Lifetime{1, 8}));
  EXPECT_EQ(p.plan.arena_bytes(), 800);
  EXPECT_EQ(p.plan.lower_bound_bytes(), 800);
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(Plan, PrintsAsAMap) {
  const Planned p(kChain);
  EXPECT_EQ(explain::memory_map(p.program, p.plan), R"(memory: arena 800 bytes, lower bound 800
  step         value  type      storage  at  bytes  lives
  @k0          a      f64[100]  s0       0   800    [1, 4)
  @k1          b      f64[100]  s0       0   800    [3, 6)   takes over a
  @k2          c      f64[100]  s0       0   800    [5, 8)   takes over b
  scalar code  out    f64       out0     +0  8      [9, 11)
)");
}

// An update of a value that dies: its bytes are the result's, and the copy start moves nothing.
TEST(Plan, UpdatesInPlace) {
  const Planned p(R"(program @main(x: f64[n] param 0, y: f64[m] param 1, o: f64[n] temporary, r: f64[n] temporary,
      s: f64 scalar) symbols n = x.0, m = y.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store o[i] set %0
      }
    }
    check n == m + 1 #0
    kernel @k1 {
      out r start copy o
      stage (i < m) {
        %0 = load y[i] : f64
        store r[1 + i] set %0
      }
    }
    kernel @k2 {
      out s start fill 0.0
      stage (i < n) {
        %0 = load r[i] : f64
        fold add s[] %0 : f64
      }
    }
    sites { #0 shape-mismatch "n is not m + 1" }
  })");
  EXPECT_EQ(p.where("r"), "in place of o");
  EXPECT_THAT(p.copies(), IsEmpty());
  EXPECT_TRUE(std::get<kernel::Kernel>(p.program.steps[2]).outputs[0].start.elided);
  EXPECT_FALSE(p.plan.is_static);
  EXPECT_THAT(p.problems(), IsEmpty());
  EXPECT_EQ(explain::memory_map(p.program, p.plan),
            R"(memory: an arena for each tuple of sizes, at most 8*n bytes and alignment
  step  value  type    storage  at  bytes  lives
  @k0   o      f64[n]  s0       +0  8*n    [1, 6)
  @k1   r      f64[n]  s0       +0  8*n    [5, 8)  takes over o
  nothing to move into r at @k1: it is there
)");
}

// A scatter that is brought into a slot of the output, as in every gradient that ends in a join.
const char* const kJoin =
    R"(program @main(g: i64[n] param 0, v: f64[n] param 1, t: f64[85] temporary, u: f64[85] temporary,
    out: f64[175] output 0) symbols n = g.0 {
  kernel @k0 {
    out t start fill 0.0
    out u start fill 0.0
    stage (i < n) {
      %0 = load g[i] : i64
      %1 = load v[i] : f64
      store t[wrap(%0, 85) checked #0] add %1
      store u[wrap(%0, 85) checked #0] add %1
    }
  }
  kernel @k1 {
    stage (i < 5) {
      %0 = literal 1.0 : f64
      store out[i] set %0
    }
    stage (i < 85) {
      %0 = load t[i] : f64
      store out[5 + i] set %0
      %1 = load u[i] : f64
      store out[90 + i] set %1
    }
  }
  sites { #0 index-out-of-bounds "index {0} is out of bounds" }
})";

TEST(Plan, ComputesThePartsOfAJoinWhereTheyBelong) {
  const Planned p(kJoin);
  EXPECT_EQ(p.where("t"), "in out at 40");
  EXPECT_EQ(p.where("u"), "in out at 720");
  EXPECT_TRUE(p.is_elided(1, 1, 1));
  EXPECT_TRUE(p.is_elided(1, 1, 3));
  EXPECT_FALSE(p.is_elided(1, 0, 1));
  EXPECT_EQ(p.plan.arena_bytes(), 0);
  EXPECT_EQ(alignment_bytes(p.program, p.plan.sharing, p.buffer("t")), 8);
  EXPECT_EQ(shares_bytes(p.program, p.plan.sharing, p.buffer("t"), p.buffer("u")), Answer::no);
  EXPECT_EQ(shares_bytes(p.program, p.plan.sharing, p.buffer("t"), p.buffer("out")), Answer::unknown);
  EXPECT_EQ(shares_bytes(p.program, p.plan.sharing, p.buffer("t"), p.buffer("v")), Answer::no);
  EXPECT_THAT(p.problems(), IsEmpty());
}

// Elements keep their order in memory; in which order the loop that brings them takes them does not matter.
TEST(Plan, ComputesAPartInPlaceThatALoopBringsByColumns) {
  const Planned p(R"(program @main(x: f64[n, m] param 0, t: f64[n, m] temporary, out: f64[2*n, m] output 0)
      symbols n = x.0, m = x.1 {
    kernel @k0 { stage (i < n, j < m) { %0 = load x[i, j] : f64  %1 = exp %0 : f64  store t[i, j] set %1 } }
    kernel @k1 {
      stage (j < m, i < n) {
        %0 = load t[i, j] : f64
        store out[n + i, j] set %0
        %1 = load x[i, j] : f64
        store out[i, j] set %1
      }
    }
  })");
  EXPECT_EQ(p.where("t"), "in out at 8*n*m");
  EXPECT_TRUE(p.is_elided(1, 0, 1));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// With symbolic sizes, and with a reader besides the join, which can read the bytes in the slot as well.
TEST(Plan, ComputesPartsInPlaceForAllSizes) {
  const Planned p(R"(program @main(x: f64[n] param 0, y: f64[m] param 1, a: f64[n] temporary, b: f64[m] temporary,
      j: f64[m + n] output 0, s: f64 scalar) symbols n = x.0, m = y.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    kernel @k1 {
      stage (i < m) {
        %0 = load y[i] : f64
        store b[i] set %0
      }
    }
    kernel @k2 {
      stage (i < n) {
        %0 = load a[i] : f64
        store j[i] set %0
      }
      stage (i < m) {
        %0 = load b[i] : f64
        store j[n + i] set %0
      }
    }
    kernel @k3 {
      out s start fill 0.0
      stage (i < n) {
        %0 = load a[i] : f64
        fold add s[] %0 : f64
      }
    }
  })");
  EXPECT_EQ(p.where("a"), "in j at 0");
  EXPECT_EQ(p.where("b"), "in j at 8*n");
  EXPECT_TRUE(p.plan.is_static);
  EXPECT_THAT(p.problems(), IsEmpty());
}

// The same register stored twice: the second is there when the first lies in it.
TEST(Plan, NeedsNoSecondStoreOfOneRegister) {
  const Planned p(R"(program @main(x: f64[n] param 0, g: i64[k] param 1, a: f64[n] temporary, j: f64[n + 1] output 0,
      q: f64[k] output 1) symbols n = x.0, k = g.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        %1 = exp %0 : f64
        store j[1 + i] set %1
        store a[i] set %1
      }
      stage (i < 1) {
        %0 = literal 0.0 : f64
        store j[i] set %0
      }
    }
    kernel @k1 {
      stage (i < k) {
        %0 = load g[i] : i64
        %1 = load a[wrap(%0, n) checked #0] : f64
        store q[i] set %1
      }
    }
    sites { #0 index-out-of-bounds "index {0} is out of bounds" }
  })");
  EXPECT_EQ(p.where("a"), "in j at 8");
  EXPECT_TRUE(p.is_elided(0, 0, 2));
  EXPECT_THAT(p.problems({1, 2, 5}), IsEmpty());
}

TEST(Plan, MakesACopyStepNeedless) {
  const Planned p(R"(program @main(a: f64[n, 2] param 0, t: f64[n, 2] temporary, v: f64[2*n] view of t,
      out: f64[2*n] output 0, again: f64[2*n] output 1) symbols n = a.0 {
    kernel @k0 {
      stage (i < n, j < 2) {
        %0 = load a[i, j] : f64
        store t[i, j] set %0
      }
    }
    copy v -> out "returned under another shape"
    copy v -> again "returned more than once"
  })");
  EXPECT_EQ(p.where("t"), "in out at 0");
  EXPECT_EQ(p.where("v"), "view of t");
  EXPECT_TRUE(std::get<kernel::Copy>(p.program.steps[1]).elided);
  EXPECT_FALSE(std::get<kernel::Copy>(p.program.steps[2]).elided);
  EXPECT_THAT(p.copies(), ElementsAre("v -> again: returned more than once"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// Softmax by rows: every outer point keeps to its row, so the last stage may write where the first has read.
TEST(Plan, WorksInPlaceOnRows) {
  const Planned p(
      R"(program @main(x: f64[m, n] param 0, t: f64[m, n] temporary, r: f64[m, n] temporary, peak: f64[m] temporary,
      s: f64 scalar) symbols m = x.0, n = x.1 {
    kernel @k0 {
      stage (i < m, j < n) {
        %0 = load x[i, j] : f64
        store t[i, j] set %0
      }
    }
    kernel @k1 {
      outer (i < m)
      out peak start fill -inf
      stage (j < n) {
        %0 = load t[i, j] : f64
        fold max peak[i] %0 : f64
      }
      stage (j < n) {
        %0 = load t[i, j] : f64
        %1 = load peak[i] : f64
        %2 = sub %0, %1 : f64
        store r[i, j] set %2
      }
    }
    kernel @k2 {
      out s start fill 0.0
      stage (i < m, j < n) {
        %0 = load r[i, j] : f64
        fold add s[] %0 : f64
      }
    }
  })");
  EXPECT_EQ(p.where("r"), "in place of t");
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A host call binds k: what is as large as k lies in a block of its own that begins after the call.
TEST(Plan, CutsWhereSizesAreKnownLate) {
  const Planned p(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, h: i64[k] host, b: f64[k] temporary,
      c: f64[k] temporary, s: f64 scalar, out: f64[k] output 0) symbols n = x.0, k = h.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    host_call "nonzero" 0 (a) -> h bind k = h.0 #0
    kernel @k1 {
      stage (i < k) {
        %0 = load h[i] : i64
        %1 = load a[wrap(%0, n) checked #1] : f64
        store b[i] set %1
        %2 = neg %1 : f64
        store c[i] set %2
      }
    }
    kernel @k2 {
      stage (i < k) {
        %0 = load b[i] : f64
        %1 = load c[i] : f64
        %2 = load c[-1 + k - i] : f64
        %3 = add %0, %2 : f64
        store out[i] set %3
      }
    }
    sites {
      #0 host-call-failed "nonzero failed"
      #1 index-out-of-bounds "index {0} is out of bounds"
    }
  })");
  const Sharing& sharing = p.plan.sharing;
  ASSERT_EQ(sharing.num_segments(), 2);
  EXPECT_EQ(sharing.segment_starts[1], kernel::StepId(2));
  EXPECT_EQ(sharing.storages[p.at("a").storage].segment, 0);
  EXPECT_EQ(sharing.storages[p.at("c").storage].segment, 1);
  EXPECT_EQ(segment_of(sharing, p.program.buffers[p.buffer("out")].dims), 1);
  EXPECT_EQ(p.where("b"), "in out at 0");
  EXPECT_EQ(p.where("c"), "own");
  EXPECT_THAT(p.problems({1, 2, 5}), IsEmpty());
  // Segment 0 is laid out before k is known.
  const std::vector<int64_t> only_n = {4};
  EXPECT_EQ(storages_of_segment(sharing, 0, only_n)[p.at("a").storage.index].size_bytes, 32);
  const std::vector<int64_t> both = {4, 3};
  const std::vector<Storage> late = storages_of_segment(sharing, 1, both);
  EXPECT_EQ(late[p.at("a").storage.index].size_bytes, 0);
  EXPECT_EQ(late[p.at("c").storage.index].size_bytes, 24);
  EXPECT_EQ(plan(Planner::greedy, late).arena_bytes, 24);
}

TEST(Plan, ASizeThatIsAValueCutsTheProgramWhereItIsBound) {
  const Planned p(R"(program @main(x: f64[n] param 0, c: i64 scalar, a: f64[n] temporary, t: f64[k] temporary,
      out: f64[k] output 0) symbols n = x.0, k {
    kernel @k0 { out c start fill 0
      stage (i < n) { %0 = load x[i] : f64  %1 = exp %0 : f64  store a[i] set %1  %2 = isnan %1 : bool
                      %3 = cast %2 : i64  fold add c[] %3 : i64 } }
    size k = c #0
    kernel @k1 { out c start fill -1
      stage (i < n) { %0 = load a[i] : f64  %1 = isnan %0 : bool  %2 = cast %1 : i64  %3 = fold add c[] %2 : i64
                      store t[wrap(%3, k) proved] set %0 if %1 } }
    kernel @k2 { stage (i < k) { %0 = load t[k - 1 - i] : f64  store out[i] set %0 } }
    sites { #0 negative-size "" }
  })");
  const Sharing& sharing = p.plan.sharing;
  ASSERT_EQ(sharing.num_segments(), 2);
  EXPECT_EQ(sharing.segment_starts[1], kernel::StepId(2));
  EXPECT_EQ(sharing.storages[p.at("a").storage].segment, 0);
  EXPECT_EQ(sharing.storages[p.at("t").storage].segment, 1);
  EXPECT_EQ(p.where("t"), "own");  // a is as long as n, and read where t is written
  EXPECT_THAT(p.problems({9, 4}), IsEmpty());
}

TEST(Plan, RefusesSizesThatWrapAround) {
  const Planned p(R"(program @main(x: f64[n] param 0, y: f64[m] param 1, t: f64[n, m] temporary, s: f64 scalar)
      symbols n = x.0, m = y.0 {
    kernel @k0 {
      stage (i < n, j < m) {
        %0 = load x[i] : f64
        store t[i, j] set %0
      }
    }
    kernel @k1 {
      out s start fill 0.0
      stage (i < n, j < m) {
        %0 = load t[i, j] : f64
        fold add s[] %0 : f64
      }
    }
  })");
  const std::vector<int64_t> huge = {int64_t{1} << 31, int64_t{1} << 31};
  EXPECT_THROW(storages_of_segment(p.plan.sharing, 0, huge), Error);
}

}  // namespace
}  // namespace inlay::memory
