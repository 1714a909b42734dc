#include "memory/verify.h"

#include <cstdlib>
#include <ctime>
#include <random>

#include "memory/testdata/planned.h"

namespace inlay::memory {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Planned;

// a and b live together; c takes a's place; t lies in out; the update r lies in c.
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
      %0 = load r[i] : f64
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
  EXPECT_THAT(after([](Planned&, Sharing& sharing) { sharing.elided.clear(); }), IsEmpty());
}

TEST(VerifyPlan, RejectsAShiftedOffset) {
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "t").offset_bytes = 64; }),
              Contains(HasSubstr("a store to out is left out, but its bytes are not there")));
  EXPECT_THAT(after([](Planned& p, Sharing& sharing) {
                at(p, "t").offset_bytes = 64;
                sharing.elided.clear();
              }),
              Contains(HasSubstr("@k3 reads element 0 of t, whose bytes hold something else")));
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "t").offset_bytes = 80; }),
              Contains("@k0: element 3 of t at 104 lies outside of output 0 of 104 bytes"));
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
              Contains(HasSubstr("of r, whose bytes hold something else")));
}

TEST(VerifyPlan, RejectsBytesSharedByTwoThatLive) {
  EXPECT_THAT(after([](Planned& p, Sharing&) { at(p, "b").storage = at(p, "a").storage; }),
              Contains(HasSubstr("@k1 reads element 0 of a, whose bytes hold something else")));
}

TEST(VerifyPlan, RejectsACopyLeftOutForNothing) {
  EXPECT_THAT(after([](Planned&, Sharing& sharing) { sharing.elided.push_back({kernel::StepId(3), 0, 3, {}}); }),
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
  EXPECT_EQ(found[0].message, "segment 0: storage 0 [0, 72) and storage 1 [0, 72) are both live at tick 1");
}

/// What is wrong where r is laid onto c: a stage gathers from the columns 2*j of c and scatters to `column` of r, in
/// `rows` rows that nobody knows.
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

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  std::string text() {
    const int steps = 2 + below(7);
    std::string body;
    for (int s = 0; s < steps; ++s) body += step(s);
    // Everything that is still there is summed up, so that it must have survived.
    for (const auto& [name, size] : values_) {
      if (below(3) == 0) continue;
      body += str("  kernel @u", num_used_, " {\n    out u", num_used_, " start fill 0.0\n    stage (i < ", size,
                  ") {\n      %0 = load ", name, "[i] : f64\n      fold add u", num_used_, "[] %0 : f64\n    }\n  }\n");
      buffers_ += str(", u", num_used_++, ": f64 scalar");
    }
    return str("program @main(x: f64[n] param 0, g: i64[n] param 1", buffers_, ") symbols n = x.0 {\n", body,
               "  sites { #0 index-out-of-bounds \"\" }\n}");
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  using Value = std::pair<std::string, std::string>;  // name, size

  const Value& any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }

  std::string fresh(const std::string& size) {
    const std::string name = str("b", num_buffers_++);
    buffers_ += str(", ", name, ": f64[", size, "] ", below(4) == 0 ? str("output ", num_outputs_++) : "temporary");
    made_.emplace_back(name, size);
    return name;
  }

  /// A load of something of size n, or of a slice, a flip or a gather of it; in register `r` (and r + 1).
  std::string load(int r, const std::string& size) {
    std::vector<Value> fitting;
    for (const Value& v : values_) {
      if (v.second == size || (size == "n" && v.second == "2*n")) fitting.push_back(v);
    }
    if (fitting.empty() || below(5) == 0) return str("      %", r, " = literal 1.5 : f64\n");
    const Value& from = fitting[static_cast<std::size_t>(below(static_cast<int>(fitting.size())))];
    const bool is_double = from.second != size;
    switch (below(6)) {
      case 0: return str("      %", r, " = load ", from.first, "[-1 + ", size, " - i] : f64\n");
      case 1:
        if (size != "n") break;
        return str("      %", r + 50, " = load g[i] : i64\n      %", r, " = load ", from.first, "[wrap(%", r + 50, ", ",
                   from.second, ") checked #0] : f64\n");
      case 2:
        if (is_double) return str("      %", r, " = load ", from.first, "[n + i] : f64\n");
        break;
      default: break;
    }
    return str("      %", r, " = load ", from.first, "[i] : f64\n");
  }

  std::string stage(const std::string& size, const std::string& stores, int loads) {
    std::string out = str("    stage (i < ", size, ") {\n");
    for (int r = 0; r < loads; ++r) out += load(r, size);
    return out + stores + "    }\n";
  }

  std::string step(int s) {
    made_.clear();
    std::string out;
    switch (values_.empty() ? 0 : below(6)) {
      case 0: {  // elementwise, one or two results
        const std::string size = below(3) ? "n" : "2*n";
        std::string stores;
        const int count = 1 + below(2);
        for (int k = 0; k < count; ++k) stores += str("      store ", fresh(size), "[i] set %", k, "\n");
        out = str("  kernel @k", s, " {\n", stage(size, stores, 2), "  }\n");
        break;
      }
      case 1: {  // a join of two halves, plain or computed
        const std::string name = fresh("2*n");
        out = str("  kernel @k", s, " {\n", stage("n", str("      store ", name, "[i] set %0\n"), 1),
                  stage("n", str("      store ", name, "[n + i] set %", below(2), "\n"), 2), "  }\n");
        break;
      }
      case 2:
      case 3: {  // an update of a slice, a scatter
        const Value base = any();
        const std::string name = fresh(base.second);
        const std::string store = below(2) && base.second == "n" ? str("      %90 = load g[i] : i64\n      store ",
                                                                       name, "[wrap(%90, n) checked #0] add %0\n")
                                                                 : str("      store ", name, "[i] set %0\n");
        out = str("  kernel @k", s, " {\n    out ", name, " start ", below(3) ? str("copy ", base.first) : "fill 0.0",
                  "\n", stage("n", store, 2), "  }\n");
        break;
      }
      case 4: {  // the same register twice, once into a part
        const std::string a = fresh("n"), b = fresh("2*n");
        out = str("  kernel @k", s, " {\n",
                  stage("n", str("      store ", a, "[i] set %0\n      store ", b, "[n + i] set %0\n"), 1),
                  stage("n", str("      store ", b, "[i] set %0\n"), 1), "  }\n");
        break;
      }
      default: {  // a whole copy
        const Value from = any();
        const std::string name = fresh(from.second);
        out = str("  copy ", from.first, " -> ", name, " \"because\"\n");
      }
    }
    values_.insert(values_.end(), made_.begin(), made_.end());
    if (values_.size() > 3 && below(2)) values_.erase(values_.begin() + below(static_cast<int>(values_.size())));
    return out;
  }

  std::mt19937 random_;
  std::string buffers_;
  std::vector<Value> values_, made_;
  int num_buffers_ = 0, num_outputs_ = 0, num_used_ = 0;
};

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
    ASSERT_THAT(p.problems({0, 1, 3}), IsEmpty()) << memory_map(p.program, p.plan);
    elided += static_cast<int>(p.plan.sharing.elided.size());
    for (const Placement& placement : p.plan.sharing.placements) {
      shared += placement.reason == Reason::in_place || placement.reason == Reason::destination;
    }
  }
  EXPECT_GT(shared, 10);
  EXPECT_GT(elided, 10);
}

}  // namespace
}  // namespace inlay::memory
