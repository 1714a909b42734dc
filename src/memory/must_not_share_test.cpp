// What must not share bytes, and the copies that must stay. A plan that shares more still computes the right numbers on
// most inputs: so each case is asked for by name, and replayed.
#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Planned;

/// `o` is made from x, then `kernels` follow.
std::string with_base(std::string_view buffers, std::string_view kernels) {
  return str("program @main(x: f64[n] param 0, y: f64[n] param 1, g: i64[n] param 2, o: f64[n] temporary, ", buffers,
             R"() symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store o[i] set %0
      }
    })",
             kernels, R"(
    sites { #0 index-out-of-bounds "index {0} is out of bounds" }
  })");
}

TEST(MustNotShare, ABaseThatIsReadLater) {
  const Planned p(with_base("r: f64[n] temporary, p: f64[n] output 0, q: f64[n] output 1", R"(
    kernel @k1 {
      out r start copy o
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load y[i] : f64
        store r[wrap(%0, n) checked #0] add %1
      }
    }
    kernel @k2 {
      stage (i < n) {
        %0 = load o[i] : f64
        %1 = load r[i] : f64
        %2 = add %0, %1 : f64
        store p[i] set %2
        store q[i] set %0
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.copies(), ElementsAre("o -> r: o is also read by @k2"));
  EXPECT_EQ(p.num_elided(), 1);  // q's bytes are those of o
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AParameter) {
  const Planned p(R"(program @main(x: f64[n] param 0, r: f64[n] output 0) symbols n = x.0 {
    kernel @k0 {
      out r start copy x
      stage (i < 1) {
        %0 = literal 1.0 : f64
        store r[i] set %0
      }
    }
  })");
  EXPECT_EQ(p.where("x"), "none");
  EXPECT_THAT(p.copies(), ElementsAre("x -> r: x belongs to the caller"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

TEST(MustNotShare, TwoOutputs) {
  const Planned p(R"(program @main(x: f64[n] param 0, a: f64[n] output 0, b: f64[n] output 1, c: f64[n] output 2)
      symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    kernel @k1 {
      out b start copy a
      stage (i < n) {
        %0 = load x[i] : f64
        store b[i] add %0
      }
    }
    copy a -> c "returned more than once"
  })");
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_FALSE(p.share("a", "c"));
  EXPECT_THAT(p.copies(), ElementsAre("a -> b: a is also read by a copy", "a -> c: returned more than once"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AnOutputAsABase) {
  const Planned p(R"(program @main(x: f64[n] param 0, a: f64[n] output 0, b: f64[n] output 1) symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    kernel @k1 {
      out b start copy a
      stage (i < n) {
        %0 = load x[i] : f64
        store b[i] add %0
      }
    }
  })");
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_THAT(p.copies(), ElementsAre("a -> b: a is returned"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// b[1:].set(2 * b[:-1]) must read the old values.
TEST(MustNotShare, OverlappingSlicesOfOneBase) {
  const Planned p(with_base("r: f64[n] output 0", R"(
    kernel @k1 {
      out r start copy o
      stage (i < -1 + n) {
        %0 = load o[i] : f64
        %1 = add %0, %0 : f64
        store r[1 + i] set %1
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.copies(), ElementsAre("o -> r: o is read where it would be overwritten"));
  EXPECT_THAT(p.problems({1, 2, 5}), IsEmpty());
}

// Two updates of one base: one takes its bytes, the other copies them before.
TEST(MustNotShare, OneBaseOfTwoUpdates) {
  const Planned p(with_base("a: f64[n] output 0, b: f64[n] output 1", R"(
    kernel @k1 {
      out a start copy o
      out b start copy o
      stage (i < 1) {
        %0 = literal 1.0 : f64
        store a[i] set %0
        store b[i] set %0
      }
    })"));
  EXPECT_EQ(p.where("o"), "in a at 0");
  EXPECT_THAT(p.copies(), ElementsAre("o -> b: o's bytes are those of a, which is returned"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

// The fill would come before the copy.
TEST(MustNotShare, AFillWithABaseThatIsStillToBeCopied) {
  const Planned p(with_base("a: f64[n] temporary, b: f64[n] output 0, c: f64[n] output 1", R"(
    kernel @k1 {
      out a start fill 0.0
      out b start copy o
      stage (i < 1) {
        %0 = literal 1.0 : f64
        store a[i] set %0
        store b[-1 + n - i] set %0
      }
    }
    kernel @k2 {
      stage (i < n) {
        %0 = load a[i] : f64
        %1 = exp %0 : f64
        store c[i] set %1
      }
    })"));
  EXPECT_FALSE(p.share("o", "a"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

// x[::-1] written over x: each element is read by another point.
TEST(MustNotShare, AnOperandReadBackwards) {
  const Planned p(with_base("r: f64[n] output 0", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[-1 + n - i] : f64
        store r[i] set %0
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AnOperandReadThroughAnIndex) {
  const Planned p(with_base("r: f64[n] output 0", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load g[i] : i64
        %1 = load o[wrap(%0, n) checked #0] : f64
        store r[i] set %1
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// Each element of a broadcast operand is read by a whole row.
TEST(MustNotShare, ABroadcastOperand) {
  const Planned p(
      R"(program @main(x: f64[5] param 0, o: f64[5, 1] temporary, r: f64[5, 1] output 0, s: f64[1, 5] output 1) {
    kernel @k0 {
      stage (i < 5) {
        %0 = load x[i] : f64
        store o[i, 0] set %0
      }
    }
    kernel @k1 {
      stage (i < 5, j < 5) {
        %0 = load o[i, 0] : f64
        store s[0, j] set %0
      }
    }
  })");
  EXPECT_FALSE(p.share("s", "o"));
}

TEST(MustNotShare, AnOperandReadByALaterStage) {
  const Planned p(with_base("r: f64[n] output 0, s: f64 scalar", R"(
    kernel @k1 {
      out s start fill 0.0
      stage (i < n) {
        %0 = load o[i] : f64
        %1 = neg %0 : f64
        store r[i] set %1
      }
      stage (i < n) {
        %0 = load o[i] : f64
        fold add s[] %0 : f64
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AnOperandReadAfterTheStoreAtOnePoint) {
  const Planned p(with_base("r: f64[n] output 0, q: f64[n] output 1", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        %1 = neg %0 : f64
        store r[i] set %1
        %2 = load o[i] : f64
        %3 = exp %2 : f64
        store q[i] set %3
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_EQ(p.where("o"), "in q at 0");  // written after the last read
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A row's stages run again for the next row: what that reads must not be written yet.
TEST(MustNotShare, RowsThatReadTheNextRow) {
  const Planned p(
      R"(program @main(x: f64[m, n] param 0, t: f64[m, n] temporary, r: f64[m, n] output 0, s: f64[m] output 1)
      symbols m = x.0, n = x.1 {
    kernel @k0 {
      stage (i < m, j < n) {
        %0 = load x[i, j] : f64
        store t[i, j] set %0
      }
    }
    kernel @k1 {
      outer (i < m)
      out s start fill 0.0
      stage (j < n) {
        %0 = load t[-1 + m - i, j] : f64
        fold add s[i] %0 : f64
      }
      stage (j < n) {
        %0 = load x[i, j] : f64
        store r[i, j] set %0
      }
    }
  })");
  EXPECT_FALSE(p.share("r", "t"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// The fill of a fold's result would be in the way of its operand; and the same bytes are of another shape.
TEST(MustNotShare, AFoldWithItsOperand) {
  const Planned p(with_base("r: f64[n] output 0", R"(
    kernel @k1 {
      out r start fill 0.0
      stage (i < n) {
        %0 = load o[i] : f64
        fold add r[i] %0 : f64
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ElementsOfAnotherSize) {
  const Planned p(R"(program @main(x: f64[n] param 0, o: f32[2*n] temporary, r: f64[n] output 0) symbols n = x.0 {
    kernel @k0 {
      stage (i < 2*n) {
        %0 = literal 1.0 : f32
        store o[i] set %0
      }
    }
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f32
        %1 = cast %0 : f64
        store r[i] set %1
      }
    }
  })");
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ASizeThatIsNotProvedEqual) {
  const Planned p(R"(program @main(x: f64[n] param 0, y: f64[m] param 1, o: f64[n] temporary, r: f64[m] output 0)
      symbols n = x.0, m = y.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store o[i] set %0
      }
    }
    kernel @k1 {
      stage (i < m) {
        %0 = load o[i] : f64
        store r[i] set %0
      }
    }
  })");
  EXPECT_FALSE(p.share("r", "o"));
}

// Two results, one dying operand: one of them takes it.
TEST(MustNotShare, OneOperandWithTwoResults) {
  const Planned p(with_base("a: f64[n] temporary, b: f64[n] temporary, s: f64 scalar", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        %1 = neg %0 : f64
        store a[i] set %1
        store b[i] set %0
      }
    }
    kernel @k2 {
      out s start fill 0.0
      stage (i < n) {
        %0 = load a[i] : f64
        %1 = load b[i] : f64
        %2 = mul %0, %1 : f64
        fold add s[] %2 : f64
      }
    })"));
  EXPECT_FALSE(p.share("a", "b"));
  EXPECT_TRUE(p.share("o", "a") != p.share("o", "b"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A part of a join cannot lie in two joins, nor twice in one.
TEST(MustNotShare, OnePartOfTwoJoins) {
  const Planned p(with_base("j: f64[2*n] output 0, k: f64[n] output 1", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        store j[i] set %0
        store j[n + i] set %0
        store k[i] set %0
      }
    })"));
  EXPECT_EQ(p.where("o"), "in j at 0");
  EXPECT_EQ(p.num_elided(), 1);
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ARegionThatIsWrittenTwice) {
  const Planned p(with_base("r: f64[n] output 0", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        store r[i] set %0
      }
      stage (i < n) {
        %0 = load o[i] : f64
        %1 = load y[i] : f64
        %2 = add %0, %1 : f64
        store r[-1 + n - i] add %2
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ARegionThatIsFilledAfterwards) {
  const Planned p(with_base("r: f64[n + 1] output 0", R"(
    kernel @k1 {
      out r start fill 0.0
      stage (i < n) {
        %0 = load o[i] : f64
        store r[1 + i] set %0
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// Filled before the part is made, but while what the part takes over is still there.
TEST(MustNotShare, ARegionThatIsFilledUnderThePartsPredecessor) {
  const Planned p(with_base("d: f64[2*n] output 0, t: f64[n] temporary", R"(
    kernel @k1 {
      out d start fill 0.0
      stage (i < n) {
        %0 = load y[i] : f64
        store d[n + i] add %0
      }
    }
    kernel @k2 {
      out t start copy o
      stage (i < 1) {
        %0 = literal 1.0 : f64
        store t[i] set %0
      }
    }
    kernel @k3 {
      stage (i < n) {
        %0 = load t[i] : f64
        store d[i] set %0
      }
    })"));
  EXPECT_EQ(p.where("t"), "in place of o");
  EXPECT_FALSE(p.share("t", "d"));
  EXPECT_THAT(p.problems({1, 5}), IsEmpty());
}

// The region holds what was copied, the part goes on.
TEST(MustNotShare, APartThatIsWrittenAfterwards) {
  const Planned p(with_base("r: f64[n] output 0, q: f64[n] output 1", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        store r[i] set %0
      }
    }
    kernel @k2 {
      stage (i < n) {
        %0 = load y[i] : f64
        store o[i] add %0
      }
    }
    kernel @k3 {
      stage (i < n) {
        %0 = load o[-1 + n - i] : f64
        store q[i] set %0
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AValueStoredTwiceAndThenChanged) {
  const Planned p(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, r: f64[n] output 0, q: f64[n] output 1)
      symbols n = x.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
        store r[i] set %0
      }
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] add %0
      }
    }
    kernel @k1 {
      stage (i < n) {
        %0 = load a[-1 + n - i] : f64
        store q[i] set %0
      }
    }
  })");
  EXPECT_FALSE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// That m + 1 elements fit into n is checked, but after the part is made.
TEST(MustNotShare, APlaceThatIsCheckedTooLate) {
  const auto text = [](const char* first, const char* second) {
    return str(
        R"(program @main(x: f64[m] param 0, y: f64[n] param 1, a: f64[m] temporary, r: f64[n] output 0, s: f64 scalar)
        symbols m = x.0, n = y.0 {)",
        first, R"(
      kernel @k0 {
        stage (i < m) {
          %0 = load x[i] : f64
          store a[i] set %0
        }
      })",
        second, R"(
      kernel @k1 {
        stage (i < m) {
          %0 = load a[i] : f64
          store r[1 + i] set %0
        }
        stage (i < 1) {
          %0 = literal 1.0 : f64
          store r[i] set %0
        }
      }
      kernel @k2 {
        out s start fill 0.0
        stage (i < m) {
          %0 = load a[i] : f64
          fold add s[] %0 : f64
        }
      }
      sites { #0 slice-out-of-range "too long" }
    })");
  };
  const Planned early(text("\ncheck n == 1 + m #0", "")), late(text("", "\ncheck n == 1 + m #0"));
  EXPECT_EQ(early.where("a"), "in r at 8");
  EXPECT_EQ(late.where("a"), "own");
  EXPECT_THAT(early.problems(), IsEmpty());
  EXPECT_THAT(late.problems(), IsEmpty());
}

// The register is rounded on its way.
TEST(MustNotShare, ACopyThroughASmallerRegister) {
  const Planned p(with_base("r: f64[n] output 0, q: f64[n] output 1", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f32
        store r[i] set %0
      }
    }
    kernel @k2 {
      stage (i < n) {
        %0 = load o[-1 + n - i] : f64
        store q[i] set %0
      }
    })"));
  EXPECT_FALSE(p.share("r", "o"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// Every second element, another dtype, a transposition: not the same bytes in the same order.
TEST(MustNotShare, PartsInAnotherOrder) {
  const Planned p(with_base("r: f64[2*n] output 0, f: f32[n] output 1, b: f64[n] output 2", R"(
    kernel @k1 {
      stage (i < n) {
        %0 = load o[i] : f64
        store r[2*i] set %0
        store r[1 + 2*i] set %0
        store b[-1 + n - i] set %0
        %1 = cast %0 : f32
        store f[i] set %1
      }
    })"));
  for (const char* other : {"r", "f", "b"}) EXPECT_FALSE(p.share("o", other)) << other;
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A size that is bound later cannot hold what is made before.
TEST(MustNotShare, APlaceThatIsNotThereYet) {
  const Planned p(R"(program @main(x: f64[n] param 0, a: f64[n] temporary, h: i64[k] host, r: f64[n + k] output 0)
      symbols n = x.0, k = h.0 {
    kernel @k0 {
      stage (i < n) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    host_call "nonzero" 0 (a) -> h bind k = h.0 #0
    kernel @k1 {
      stage (i < n) {
        %0 = load a[i] : f64
        store r[i] set %0
      }
      stage (i < k) {
        %0 = load h[i] : i64
        %1 = cast %0 : f64
        store r[n + i] set %1
      }
    }
    sites { #0 host-call-failed "nonzero failed" }
  })");
  EXPECT_FALSE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A small value that is made long before the large one would keep all of it in the arena.
TEST(MustNotShare, APlaceThatWouldCostMoreThanItSaves) {
  const Planned p(
      R"(program @main(x: f64[10] param 0, a: f64[10] temporary, b: f64[1000] temporary, c: f64[1000] temporary,
      s: f64 scalar, t: f64 scalar, u: f64 scalar) {
    kernel @k0 {
      stage (i < 10) {
        %0 = load x[i] : f64
        store a[i] set %0
      }
    }
    kernel @k1 {
      stage (i < 1000) {
        %0 = literal 1.0 : f64
        store b[i] set %0
      }
    }
    kernel @k2 {
      out s start fill 0.0
      stage (i < 1000) {
        %0 = load b[i] : f64
        fold add s[] %0 : f64
      }
    }
    kernel @k3 {
      stage (i < 10) {
        %0 = load a[i] : f64
        store c[i] set %0
      }
      stage (i < 990) {
        %0 = literal 1.0 : f64
        store c[10 + i] set %0
      }
    }
    kernel @k4 {
      out t start fill 0.0
      stage (i < 1000) {
        %0 = load c[i] : f64
        fold add t[] %0 : f64
      }
    }
  })");
  EXPECT_FALSE(p.share("a", "c"));
  EXPECT_EQ(p.plan.arena_bytes(), 8080);
  EXPECT_THAT(p.problems(), IsEmpty());
}

// A matmul reads its operands while it writes.
TEST(MustNotShare, AMatmulWithItsOperand) {
  const Planned p(
      R"(program @main(x: f64[n, n] param 0, a: f64[n, n] temporary, r: f64[n, n] output 0) symbols n = x.0 {
    kernel @k0 {
      stage (i < n, j < n) {
        %0 = load x[i, j] : f64
        store a[i, j] set %0
      }
    }
    call matmul r = a, x (1, n, n, n)
  })");
  EXPECT_FALSE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

/// `a` is made from x, then `calls` follow, the last of which makes the output r.
std::string with_matrix(std::string_view calls) {
  return str("program @main(x: f64[n, n] param 0, a: f64[n, n] temporary, b: f64[n, n] temporary, ",
             R"(r: f64[n, n] output 0) symbols n = x.0 {
    kernel @k0 {
      stage (i < n, j < n) {
        %0 = load x[i, j] : f64
        store a[i, j] set %0
      }
    })",
             calls, "\n  }");
}

// LAPACK overwrites what it is given, and that may be what dies there.
TEST(MustNotShare, AFactorMayShareWithWhatDiesThere) {
  const Planned p(with_matrix("\n    call cholesky r = a (1, n)"));
  EXPECT_TRUE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AFactorWithWhatIsReadLater) {
  const Planned p(with_matrix(R"(
    call cholesky b = a (1, n)
    call matmul r = a, b (1, n, n, n))"));
  EXPECT_FALSE(p.share("b", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, AFactorWithAnOperandThatLiesOtherwise) {
  const Planned p(with_matrix("\n    call cholesky r = a at 0 strides (n*n, 1, n) (1, n)"));
  EXPECT_FALSE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

TEST(MustNotShare, ASolutionWithItsMatrix) {
  const Planned p(with_matrix("\n    call solve_triangular r = a, a (1, n, n)"));
  EXPECT_FALSE(p.share("r", "a"));
  EXPECT_THAT(p.problems(), IsEmpty());
}

}  // namespace
}  // namespace inlay::memory
