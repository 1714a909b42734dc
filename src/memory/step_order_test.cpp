#include "memory/step_order.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>

#include "kernel/steps.h"
#include "memory/liveness.h"
#include "memory/search/beam.h"
#include "memory/sharing.h"
#include "memory/testdata/planned.h"
#include "memory/testdata/random_program.h"

namespace inlay::memory {
namespace {

using search::OrderProblem;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Planned;
using testing::RandomProgram;

// --- the search by itself ---

/// The smallest peak of all orders that there are.
double minimum_peak(const OrderProblem& problem) {
  std::vector<int> order(problem.units.size());
  std::iota(order.begin(), order.end(), 0);
  double best = peak_bytes(problem, order);
  do {
    const auto place = [&](int unit) { return std::ranges::find(order, unit); };
    const bool can_run = std::ranges::all_of(order, [&](int unit) {
      return std::ranges::all_of(problem.units[static_cast<std::size_t>(unit)].after,
                                 [&](int before) { return place(before) < place(unit); });
    });
    if (can_run) best = std::min(best, peak_bytes(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// Each unit makes a storage of its own from some that were made before.
OrderProblem random_problem(std::mt19937& random, int num_units) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  OrderProblem out;
  for (int u = 0; u < num_units; ++u) {
    OrderProblem::Unit unit{.storages = {u}};
    for (int k = below(3); k > 0 && u > 0; --k) {
      const int from = below(u);
      if (std::ranges::find(unit.after, from) != unit.after.end()) continue;
      unit.after.push_back(from);
      unit.storages.push_back(from);
      const bool is_elementwise = out.storages[static_cast<std::size_t>(from)].bytes == 8 && below(2) == 0;
      if (is_elementwise) unit.in_place.push_back({from, u});
    }
    out.units.push_back(unit);
    out.storages.push_back({.bytes = unit.in_place.empty() ? 1.0 + below(20) : 8, .stays = below(8) == 0});
  }
  return out;
}

TEST(Beam, FindsTheLeastOfSmallProblems) {
  std::mt19937 random(17);
  int improved = 0, missed = 0;
  for (int round = 0; round < 300; ++round) {
    const OrderProblem problem = random_problem(random, 7);
    std::vector<int> given(problem.units.size());
    std::iota(given.begin(), given.end(), 0);
    const double peak = peak_bytes(problem, given), best = minimum_peak(problem);
    EXPECT_LE(floor_bytes(problem), best);
    const std::vector<int> found = search::find_order(problem, peak, floor_bytes(problem));
    if (best < peak) ++improved;
    if (best == peak) {
      EXPECT_THAT(found, IsEmpty());
    } else if (found.empty() || peak_bytes(problem, found) > best) {
      ++missed;
    }
    EXPECT_TRUE(found.empty() || peak_bytes(problem, found) < peak);
  }
  EXPECT_GT(improved, 50);
  EXPECT_LT(missed, 5);
}

TEST(Beam, EndsOnLongProblems) {
  std::mt19937 random(17);
  for (int num_units : {200, 5000}) {
    const OrderProblem problem = random_problem(random, num_units);
    const std::clock_t begin = std::clock();
    search::find_order(problem, 1e9, 0);
    EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);  // a hang, not a measurement
  }
}

// --- programs ---

std::string unary(std::string_view name, std::string_view from, std::string_view op, std::string_view to,
                  std::string_view size = "n") {
  return str("kernel @", name, " { stage (i < ", size, ") { %0 = load ", from, "[i] : f64  %1 = ", op,
             " %0 : f64  store ", to, "[i] set %1 } }\n");
}

std::string sum(std::string_view name, std::string_view from, std::string_view to, std::string_view size = "n") {
  return str("kernel @", name, " { out ", to, " start fill 0.0\n stage (i < ", size, ") { %0 = load ", from,
             "[i] : f64  fold add ", to, "[] %0 : f64 } }\n");
}

/// x: f64[n] and y: f64[m] are given, g: i64[n] too; s, t and u are numbers.
std::string program(std::string_view buffers, std::string_view steps) {
  return str("program @main(x: f64[n] param 0, y: f64[m] param 1, g: i64[n] param 2, ", buffers,
             ", s: f64 scalar, t: f64 scalar, u: f64 scalar) symbols n = x.0, m = y.0 {\n", steps,
             "sites { #0 index-out-of-bounds \"\"\n #1 index-out-of-bounds \"\" }\n}");
}

struct Ordered {
  OrderedSteps steps;
  Planned planned;

  explicit Ordered(std::string_view text)
      : steps(order_steps(share(kernel::parse(text)))), planned(steps.shared.program) {}

  /// "k0 k2 k1": kernels and copies, in order.
  std::string text() const {
    std::string out;
    for (const kernel::Step& step : steps.shared.program.steps) {
      const std::string name = kernel::step_name(steps.shared.program, step);
      out += str(out.empty() ? "" : " ", name[0] == '@' ? name.substr(1) : name);
    }
    return out;
  }
};

const char* const kBranches = "a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary";

std::string three_branches() {
  return unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") + unary("k2", "x", "cos", "c") +
         sum("k3", "a", "s") + sum("k4", "b", "t") + sum("k5", "c", "u");
}

TEST(StepOrder, FinishesABranchBeforeTheNextBegins) {
  const Ordered ordered(program(kBranches, three_branches()));
  EXPECT_EQ(ordered.text(), "k0 k3 k1 k4 k2 k5");
  EXPECT_EQ(ordered.steps.gain, "fewer than 24*n bytes live at a time");
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

// What an order needs depends on who may share bytes, so that is asked as the plan will be.
TEST(StepOrder, CountsWithTheSharingThatTheCallerAllows) {
  const std::string text =
      program(kBranches, unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") + unary("k2", "a", "cos", "c") +
                             sum("k3", "c", "s") + sum("k4", "b", "t"));
  const auto never = [](auto&&...) { return MayShare::never; };
  EXPECT_EQ(order_steps(share(kernel::parse(text))).gain, "fewer than 16*n bytes live at a time");
  EXPECT_EQ(order_steps(share(kernel::parse(text), never)).gain, "fewer than 24*n bytes live at a time");
}

TEST(StepOrder, MayBeTheGivenOne) {
  const std::string text = program(kBranches, three_branches());
  const OrderedSteps given = order_steps(share(kernel::parse(text)), StepOrder::given);
  EXPECT_EQ(given.gain, "");
  EXPECT_EQ(kernel::print(given.shared.program), kernel::print(kernel::parse(text)));
}

TEST(StepOrder, StaysWhereNothingIsWon) {
  const std::string chain = program(kBranches, unary("k0", "x", "exp", "a") + unary("k1", "a", "sin", "b") +
                                                   unary("k2", "b", "cos", "c") + sum("k3", "c", "s"));
  const std::string twice = program("a: f64[n] temporary, b: f64[n] temporary",
                                    unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") +
                                        "kernel @k2 { out s start fill 0.0\n stage (i < n) { %0 = load a[i] : f64  "
                                        "%1 = load b[i] : f64  %2 = mul %0, %1 : f64  fold add s[] %2 : f64 } }\n" +
                                        sum("k3", "a", "t") + sum("k4", "b", "u"));
  for (const std::string& text : {chain, twice}) {
    const Ordered ordered(text);
    EXPECT_EQ(ordered.steps.gain, "");
    EXPECT_EQ(kernel::print(ordered.steps.shared.program), kernel::print(kernel::parse(text)));
  }
}

// With sizes of two kinds the sum of both is enough for either.
TEST(StepOrder, IsProvedForAllSizes) {
  const char* buffers = "a: f64[n] temporary, b: f64[m] temporary";
  const Ordered ordered(program(buffers, unary("k0", "x", "exp", "a") + unary("k1", "y", "sin", "b", "m") +
                                             sum("k2", "a", "s") + sum("k3", "b", "t", "m")));
  EXPECT_EQ(ordered.text(), "k0 k2 k1 k3");
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

// a and b are long before c is needed: with 2 of m instead of 3 of n at a time, m may still be the larger.
TEST(StepOrder, StaysWhereItDependsOnSizes) {
  const char* buffers =
      "a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary, p: f64[m] temporary, q: f64[m] temporary";
  // The given order has a, b, c at once and then p, q; or, by turns, p and q beside one of them.
  const std::string given = unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") + unary("k2", "x", "cos", "c") +
                            sum("k3", "a", "s") + sum("k4", "b", "t") + unary("k5", "y", "exp", "p", "m") +
                            sum("k6", "c", "u") + sum("k7", "p", "u", "m");
  const Ordered ordered(program(buffers, given));
  const Planned before(program(buffers, given));
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{8, 8000}, {8000, 8}, {800, 808}}) {
    EXPECT_LE(lower_bound_bytes(storages_of_segment(ordered.planned.plan.sharing, 0, sizes)),
              lower_bound_bytes(storages_of_segment(before.plan.sharing, 0, sizes)));
  }
}

std::string gathered(std::string_view name, std::string_view to, int site) {
  return str("kernel @", name, " { stage (i < n) { %0 = load g[i] : i64  %1 = load x[wrap(%0, n) checked #", site,
             "] : f64  store ", to, "[i] set %1 } }\n");
}

TEST(StepOrder, KeepsTheOrderOfWhatCanFail) {
  const Ordered ordered(program(kBranches, gathered("k0", "a", 0) + unary("k1", "x", "sin", "b") +
                                               gathered("k2", "c", 1) + sum("k3", "c", "s") + sum("k4", "a", "t") +
                                               sum("k5", "b", "u")));
  EXPECT_EQ(ordered.text(), "k0 k4 k1 k5 k2 k3");
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

// The update takes the bytes of a, so readers of a come before it, though k3 would free something early.
TEST(StepOrder, MakesNoCopyNecessary) {
  const char* buffers = "a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary, r: f64[n] temporary";
  const std::string update =
      "kernel @k4 { out r start copy a\n stage (i < 1) { %0 = literal 1.0 : f64  store r[i] set %0 } }\n";
  const std::string text = program(buffers, unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") +
                                                unary("k2", "x", "cos", "c") + sum("k3", "a", "s") + update +
                                                sum("k5", "r", "t") + sum("k6", "b", "u") + sum("k7", "c", "u"));
  const Ordered ordered(text);
  EXPECT_THAT(ordered.steps.gain, Not(IsEmpty()));
  EXPECT_THAT(ordered.planned.copies(), IsEmpty());
  EXPECT_THAT(ordered.planned.problems({1, 5}), IsEmpty());
}

TEST(StepOrder, ABodyIsAProblemOfItsOwn) {
  const Ordered ordered(program(str(kBranches, ", i: i64 scalar"), "loop i < 3 {\n" + three_branches() + "}\n"));
  EXPECT_EQ(ordered.planned.plan.sharing.storages.size(), 3u);
  EXPECT_EQ(ordered.steps.gain, "fewer than 24*n bytes live at a time");
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

TEST(StepOrder, WhatALoopCarriesStaysInPlace) {
  const char* buffers =
      "a: f64[n] temporary, b: f64[n] temporary, c: f64[n] temporary, next: f64[n] temporary, "
      "i: i64 scalar";
  const Ordered ordered(
      program(buffers, unary("k0", "x", "exp", "c") + "loop i < 3 {\n" + unary("k1", "c", "exp", "a") +
                           unary("k2", "c", "sin", "b") + sum("k3", "a", "s") + sum("k4", "b", "t") +
                           unary("k5", "c", "cos", "next") + "copy next -> c \"carried\"\n}\n" + sum("k6", "c", "u")));
  EXPECT_EQ(ordered.steps.gain, "fewer than 24*n bytes live at a time");
  EXPECT_EQ(ordered.planned.where("next"), "in place of c");
  EXPECT_THAT(ordered.planned.copies(), IsEmpty());
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

// Nothing that can fail comes after a write to what the caller gave away.
TEST(StepOrder, LeavesDonatedParametersWhereTheyAre) {
  const std::string text =
      str("program @main(x: f64[n] param 0 donated, g: i64[n] param 1, a: f64[n] temporary, b: f64[n] temporary, ",
          "r: f64[n] output 0, s: f64 scalar, t: f64 scalar) symbols n = x.0 {\n", unary("k0", "x", "exp", "a"),
          gathered("k1", "b", 0), unary("k2", "x", "neg", "r"), sum("k3", "a", "s"), sum("k4", "b", "t"),
          "sites { #0 index-out-of-bounds \"\" }\n}");
  const Ordered ordered(text);
  EXPECT_EQ(ordered.steps.gain, "fewer than 16*n bytes live at a time");
  EXPECT_EQ(param_in_output(ordered.planned.program, ordered.planned.plan.sharing, ordered.planned.buffer("r")), 0);
  EXPECT_THAT(ordered.planned.problems(), IsEmpty());
}

TEST(StepOrder, NothingPassesAHostCall) {
  const std::string host = "host_call \"random\" 0 (x) -> h #0\n";
  const Ordered ordered(
      program(str(kBranches, ", h: f64[2] host"), unary("k0", "x", "exp", "a") + unary("k1", "x", "sin", "b") +
                                                      unary("k2", "x", "cos", "c") + host + sum("k3", "a", "s") +
                                                      sum("k4", "b", "t") + sum("k5", "c", "u")));
  EXPECT_EQ(ordered.steps.gain, "");
}

TEST(StepOrder, IsNamed) {
  EXPECT_EQ(step_order_named("given", "--order"), StepOrder::given);
  EXPECT_EQ(step_order_named("memory", "--order"), StepOrder::memory);
  try {
    step_order_named("best", "--order");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[unknown-name]: --order=best: there is no such order\n  help: the orders are given and memory");
  }
}

// Sound, never larger and no copy more, on random programs.
TEST(StepOrder, IsNeverWorseOnRandomPrograms) {
  const char* given_seed = std::getenv("INLAY_FUZZ_SEED");
  const char* seconds = std::getenv("INLAY_FUZZ_SECONDS");
  const auto first = given_seed ? static_cast<uint32_t>(std::atol(given_seed)) : std::random_device()();
  const double limit = seconds ? std::atof(seconds) : 1;
  const std::clock_t start = std::clock();
  int changed = 0;
  for (uint32_t seed = first; static_cast<double>(std::clock() - start) < limit * CLOCKS_PER_SEC; ++seed) {
    const std::string text = RandomProgram(seed).text();
    const Ordered ordered(text);
    if (ordered.steps.gain.empty()) {
      ASSERT_EQ(kernel::print(ordered.planned.program), kernel::print(Planned(text).program));
      continue;
    }
    SCOPED_TRACE(str("INLAY_FUZZ_SEED=", seed, "\n", text));
    ++changed;
    const Planned before(text);
    ASSERT_THAT(ordered.planned.problems({0, 1, 3}), IsEmpty()) << ordered.text();
    ASSERT_LE(ordered.planned.copies().size(), before.copies().size());
    for (int64_t n : {0, 8, 80}) {  // whole 64 bytes
      const std::vector<int64_t> sizes = {n};
      ASSERT_LE(lower_bound_bytes(storages_of_segment(ordered.planned.plan.sharing, 0, sizes)),
                lower_bound_bytes(storages_of_segment(before.plan.sharing, 0, sizes)));
    }
  }
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace inlay::memory
