// The C++ door, as a user has it.
#include "inlay/executable.h"

#include <algorithm>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/backends.h"
#include "inlay/inlay.h"
#include "runtime/pool.h"

namespace inlay {
namespace {

using testing::ElementsAre;

class CppDoor : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_of({}).is_available()) GTEST_SKIP() << "a build without a code generator";
  }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(CppDoor, NamesItsBackend) {
  GraphBuilder b;
  b.output(b.scalar(ScalarOp::neg_, {b.param("x", {DType::f64, {}})}), "y");
  const Graph graph = std::move(b).finish();
  if (backend_named("c").is_available()) {
    EXPECT_THAT(compile(graph, {.backend = "c"})({2.0})[0].elements<double>(), ElementsAre(-2.0));
  }
  EXPECT_EQ(error_of([&] { compile(graph, {.backend = "rust"}); }),
            "error[unknown-name]: there is no backend `rust`\n  help: the backends are llvm and c");
}

TEST_F(CppDoor, StaysAtALevelOfTheCpu) {
  if (!backend_named("llvm").is_available()) GTEST_SKIP() << "no code generator";
  GraphBuilder b;
  b.output(b.scalar(ScalarOp::exp_, {b.param("x", {DType::f64, {}})}), "y");
  const Graph graph = std::move(b).finish();
#if defined(__aarch64__)
  constexpr const char *kLevel = "neon", *kOther = "avx2";
#else
  constexpr const char *kLevel = "sse2", *kOther = "neon";
#endif
  EXPECT_THAT(compile(graph, {.backend = "llvm", .cpu = kLevel})({0.0})[0].elements<double>(), ElementsAre(1.0));
  EXPECT_THAT(error_of([&] { compile(graph, {.backend = "llvm", .cpu = kOther}); }),
              testing::StartsWith(str("error[unsupported]: this CPU has no ", kOther)));
  if (backend_named("c").is_available()) {
    EXPECT_THAT(error_of([&] { compile(graph, {.backend = "c", .cpu = kLevel}); }),
                testing::StartsWith(str("error[unsupported]: cpu=", kLevel, ": the C compiler chooses its CPU")));
  }
}

TEST_F(CppDoor, RunsOnAsManyThreadsAsItsOptionsSay) {
  const Graph graph = parse(R"(graph @main(%x: f64[n]) {
    %e = exp %x
    %s = reduce add %e [0] : f64
    return %e, %s
  })");
  const int before = runtime::max_threads();
  runtime::set_max_threads(8);
  std::vector<double> x(300'001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-6 * static_cast<double>(i);
  const std::vector<Array> alone = compile(graph)({x});
  const int started = runtime::num_pool_threads();
  const std::vector<Array> together = compile(graph, {.backend = "llvm", .threads = 3})({x});
  EXPECT_EQ(runtime::num_pool_threads(), std::max(started, 2));
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(alone[i].elements<double>(), together[i].elements<double>()));
  }
  runtime::set_max_threads(before);
}

TEST_F(CppDoor, WritesOverNoArgument) {
  // Nothing returned takes the bytes of x, but what is made of it on the way does.
  const Executable f = compile(parse(R"(graph @main(%x: f64[n] donated, %y: f64[n]) {
    %e = exp %x
    %s = reduce add %e [0] : f64
    %c = reshape %s : f64[1]
    %d = div %e, %c
    %p = mul %d, %y
    %r = reduce add %p [0] : f64
    return %r
  })"));
  const std::vector<double> x = {0, 1, 2}, before = {0, 1, 2}, y = {1, 2, 3};
  const double once = f({x, y})[0].elements<double>()[0];
  EXPECT_EQ(x, before);
  EXPECT_EQ(f({x, y})[0].elements<double>()[0], once);
  EXPECT_EQ(f({y, std::vector<double>(y)})[0].elements<double>()[0], f({y, y})[0].elements<double>()[0]);
}

TEST_F(CppDoor, BuildsCompilesAndCalls) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}}), s = b.param("s", {DType::f64, {}});
  const ValueId y = b.scalar(ScalarOp::mul_, {x, s});
  b.output(y, "y");
  b.output(b.reduce(Fold::add, y, {0}, DType::f64), "total");
  const Executable f = compile(std::move(b).finish());
  EXPECT_EQ(f.params()[0].dims, std::vector<std::string>{"n"});
  EXPECT_EQ(f.results()[1].name, "total");

  const std::vector<double> values = {1, 2, 3};
  const std::vector<Array> results = f({values, 2.0});
  EXPECT_THAT(results[0].elements<double>(), ElementsAre(2, 4, 6));
  EXPECT_EQ(results[1].elements<double>()[0], 12);
  EXPECT_EQ(f({std::vector<double>(), 2.0})[0].num_elements(), 0);
}

TEST_F(CppDoor, ResultsInPlacesOfTheCaller) {
  const Executable f =
      compile(parse("graph @main(%x: f64[n]) { %y = flip %x [0]; %s = reduce add %x [0] : f64; return %y, %s }"));
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> y(3);
  double s = 0;
  f.into({x}, {y, {DType::f64, {}, &s}});
  EXPECT_THAT(y, ElementsAre(3, 2, 1));
  EXPECT_EQ(s, 6);

  std::vector<double> both = {1, 2, 3, 4};  // the place overlaps the argument
  const std::span<double> all = both;
  f.into({all.first(3)}, {all.last(3), {DType::f64, {}, &s}});
  EXPECT_THAT(both, ElementsAre(1, 3, 2, 1));

  std::vector<double> two(2);
  std::vector<float> floats(3);
  EXPECT_EQ(error_of([&] { f.into({x}, {two, {DType::f64, {}, &s}}); }),
            "error[shape-mismatch]: the place for y is f64[2], not f64[3]");
  EXPECT_EQ(error_of([&] { f.into({x}, {floats, {DType::f64, {}, &s}}); }),
            "error[wrong-dtype]: the place for y is f32[3], not f64[n]");
  EXPECT_EQ(error_of([&] { f.into({x}, {y, {DType::f64, {}, &y[1]}}); }),
            "error[wrong-output]: the places for y and s share bytes");
  EXPECT_EQ(error_of([&] { f.into({x}, {y}); }),
            "error[wrong-argument-count]: the function has 2 results, but 1 place for them");
}

TEST_F(CppDoor, RefusesSizesBelowZeroAndNullAddresses) {
  const Executable f = compile(parse("graph @main(%x: f64[n, m]) { %y = exp %x; return %y }"));
  double a[6] = {}, out[6] = {7, 7, 7, 7, 7, 7};
  const ArrayRef negative(DType::f64, {3, -1}, a), strided(DType::f64, {3, -1}, a, {1, 3});
  const ArrayRef nowhere(DType::f64, {2, 3}, nullptr), transposed(DType::f64, {2, 3}, nullptr, {1, 2});
  const ArrayOut place(DType::f64, {2, 3}, out), no_place(DType::f64, {2, 3}, nullptr);
  const std::string below_zero = "error[negative-size]: x: dim 1 is -1";
  EXPECT_EQ(error_of([&] { (void)f({negative}); }), below_zero);
  EXPECT_EQ(error_of([&] { f.into({negative}, {place}); }), below_zero);
  EXPECT_EQ(error_of([&] { (void)f.prepare(std::span(&negative, 1)); }), below_zero);
  EXPECT_EQ(error_of([&] { (void)f({strided}); }), "error[shape-mismatch]: an array cannot have a dim of -1");
  const std::string null = "has the dims [2, 3], but its data is a null pointer";
  for (const ArrayRef& argument : {nowhere, transposed}) {
    EXPECT_EQ(error_of([&] { (void)f({argument}); }), "error[shape-mismatch]: argument 0 " + null);
  }
  EXPECT_EQ(error_of([&] { f.into({{DType::f64, {2, 3}, a}}, {no_place}); }),
            "error[wrong-output]: the place for y " + null);
  EXPECT_THAT(out, testing::Each(7));
  EXPECT_EQ(f({{DType::f64, {0, 3}, nullptr}})[0].num_elements(), 0);
}

TEST_F(CppDoor, AnArrayThatWasMovedFromHasNoElements) {
  const Executable f = compile(parse("graph @main(%x: f64) { %y = exp %x; return %y }"));
  Array x(DType::f64, {});
  const Array moved = std::move(x);
  EXPECT_EQ(moved.num_elements(), 1);
  EXPECT_THAT(x.dims(), ElementsAre(0));  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_TRUE(x.elements<double>().empty());
  EXPECT_EQ(error_of([&] { (void)f({x}); }), "error[wrong-rank]: argument x is f64[0], not f64");
  Array target;
  target = std::move(x);
  EXPECT_EQ(target.num_elements(), 0);
}

TEST_F(CppDoor, AFailedCallHasChangedNoPlace) {
  for (const char* planner : {"naive", "greedy", "search", "max"}) {
    const Executable f = compile(parse(R"(graph @main(%x: f64[n], %g: i64[m]) {
      %e = exp %x
      %v = gather %e[%g]
      return %e, %v
    })"),
                                 {.planner = planner});
    const std::vector<double> x = {0, 0, 0};
    const std::vector<int64_t> bad = {0, 1, 3}, good = {0, 1, 2};
    std::vector<double> e(3, 7.0), v(3, 7.0);
    EXPECT_THAT(error_of([&] { f.into({x, bad}, {e, v}); }), testing::HasSubstr("index 3 is out of bounds"));
    EXPECT_THAT(e, ElementsAre(7, 7, 7));
    EXPECT_THAT(v, ElementsAre(7, 7, 7));
    f.into({x, good}, {e, v});
    EXPECT_THAT(e, ElementsAre(1, 1, 1));
    EXPECT_THAT(v, ElementsAre(1, 1, 1));
  }
}

TEST_F(CppDoor, ADonatedArgumentIsItsPlace) {
  const Executable f =
      compile(parse("graph @main(%x: f64[n] donated, %y: f64[m]) { %r = update set %x[0:m], %y; return %r }"));
  std::vector<double> x = {1, 2, 3}, r(3);
  const std::vector<double> y = {9};
  f.into({x, y}, {r});
  EXPECT_THAT(x, ElementsAre(1, 2, 3));
  EXPECT_THAT(r, ElementsAre(9, 2, 3));
  f.into({x, y}, {x});
  EXPECT_THAT(x, ElementsAre(9, 2, 3));
}

TEST_F(CppDoor, PlannersAndUpperBounds) {
  const Graph graph = parse(R"(graph @main(%x: f64[n, n]) {
    %a = matmul %x, %x
    %b = matmul %a, %x
    return %b
  })");
  std::vector<StorageToPlace> seen;
  const PlannerFunction stack = [&](std::span<const StorageToPlace> storages) {
    seen.assign(storages.begin(), storages.end());
    return std::vector<int64_t>(storages.size(), 0);
  };
  const Executable f = compile(graph, {.custom_planner = stack, .upper_bounds = {{"n", 4}}});
  ASSERT_EQ(seen.size(), 1);
  EXPECT_EQ(seen[0].name, "a");
  EXPECT_EQ(seen[0].size_bytes, 128);
  const std::vector<double> x(25, 1.0);
  EXPECT_EQ(f({ArrayRef(DType::f64, {2, 2}, x.data())})[0].elements<double>()[0], 4);
  EXPECT_EQ(error_of([&] { f({ArrayRef(DType::f64, {5, 5}, x.data())}); }),
            "error[upper-bound]: n is 5, bound by dim 0 of x, but the program was compiled for at most 4");
}

TEST_F(CppDoor, PreparedCallsWriteWhereTheyAreTold) {
  const Executable f = compile(parse("graph @main(%x: f64[n], %y: f64[n]) { %z = add %x, %y; return %z }"));
  const std::vector<double> x = {1, 2}, y = {10, 20};
  const std::vector<ArrayRef> like = {x, y};
  const Executable::Call call = f.prepare(like);
  EXPECT_EQ(call.result_dims(), std::vector<std::vector<int64_t>>{{2}});
  double z[2] = {};
  const void* arguments[] = {x.data(), y.data()};
  void* results[] = {z};
  for (int i = 0; i < 3; ++i) call(arguments, results);
  EXPECT_THAT(z, ElementsAre(11, 22));
}

TEST_F(CppDoor, SaysWhatIsWrongWithAnArgument) {
  const Executable f = compile(parse("graph @main(%x: f64[n, 3], %y: f64[n]) { return %x }"));
  const Array x(DType::f64, {2, 3}), y(DType::f64, {2});
  EXPECT_EQ(error_of([&] { (void)f({x}); }),
            "error[wrong-argument-count]: the function takes 2 arguments (x, y), not 1");
  EXPECT_EQ(error_of([&] { (void)f({Array(DType::f32, {2, 3}), y}); }),
            "error[wrong-dtype]: argument x is f32[2, 3], not f64[n, 3]");
  EXPECT_EQ(error_of([&] { (void)f({x, x}); }), "error[wrong-rank]: argument y is f64[2, 3], not f64[n]");
  EXPECT_THAT(error_of([&] { (void)f({x, Array(DType::f64, {5})}); }), testing::StartsWith("error[shape-mismatch]"));
  EXPECT_THAT(error_of([] { (void)Array(DType::f64, {int64_t{1} << 40, int64_t{1} << 40}); }),
              testing::StartsWith("error[size-overflow]"));
  EXPECT_EQ(error_of([&] { (void)x.elements<float>(); }), "error[wrong-dtype]: the array is f64, not f32");
}

TEST_F(CppDoor, ChecksOfTheProgramAreErrors) {
  const Executable f = compile(parse("graph @main(%x: f64[n], %i: i64[m]) { %g = gather %x[%i]; return %g }"));
  const std::vector<double> x = {1, 2};
  const std::vector<int64_t> good = {1, -2}, bad = {2, 0};
  EXPECT_THAT(f({x, good})[0].elements<double>(), ElementsAre(2, 1));
  EXPECT_THAT(error_of([&] { (void)f({x, bad}); }), testing::StartsWith("error[index-out-of-bounds]"));
  const std::vector<ArrayRef> like = {x, bad};
  double out[2];
  const void* arguments[] = {x.data(), bad.data()};
  void* results[] = {out};
  EXPECT_THAT(error_of([&] { f.prepare(like)(arguments, results); }),
              testing::StartsWith("error[index-out-of-bounds]"));
}

const char kHostCall[] = R"(graph @main(%x: f64[n]) {
  %h = host_call "twice" (%x) : f64[n]
  %y = neg %h
  return %y
})";

/// Doubles what it is given.
Array doubled(const ArrayRef& x) {
  Array out(DType::f64, x.dims);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    out.elements<double>()[i] = 2 * static_cast<const double*>(x.data)[i];
  }
  return out;
}

TEST_F(CppDoor, HostFunctions) {
  CompileOptions options;
  options.host_functions = {[](std::span<const ArrayRef> operands) -> std::vector<Array> {
    if (operands[0].dims[0] == 3) throw std::runtime_error("three is too many");
    return {doubled(operands[0])};
  }};
  const Executable f = compile(parse(kHostCall), options);
  EXPECT_THAT(f({std::vector<double>{1, 2}})[0].elements<double>(), ElementsAre(-2, -4));
  EXPECT_EQ(error_of([&] { (void)f({std::vector<double>{1, 2, 3}}); }),
            "error[host-call-failed]: twice: three is too many\n  at     <text>:2:3");
  EXPECT_THAT(error_of([] { (void)compile(parse(kHostCall)); }), testing::StartsWith("error[unknown-name]"));
}

TEST_F(CppDoor, HostCallsInALoop) {
  CompileOptions options;
  options.host_functions = {
      [](std::span<const ArrayRef> operands) -> std::vector<Array> { return {doubled(operands[0])}; }};
  const Executable f = compile(parse(R"(graph @main(%x: f64[n]) {
    %r = loop %i < 6 carry (%c = %x) {
      %h = host_call "twice" (%c) : f64[n]
      return %h
    }
    return %r
  })"),
                               options);
  EXPECT_THAT(f({std::vector<double>{1, 2}})[0].elements<double>(), ElementsAre(64, 128));
}

TEST_F(CppDoor, EachHostCallHasANumberOfItsOwn) {
  GraphBuilder b;
  const Dim n = b.symbol("n");
  const ValueId x = b.param("x", {DType::f64, {n}});
  const ValueId once = b.host_call("once", 0, {x}, {{DType::f64, {n}}})[0];
  b.output(b.host_call("again", 0, {once}, {{DType::f64, {n}}})[0]);
  CompileOptions options;
  options.host_functions = {
      [](std::span<const ArrayRef> operands) -> std::vector<Array> { return {doubled(operands[0])}; }};
  EXPECT_EQ(error_of([&] { (void)compile(std::move(b).finish(), options); }),
            "error[unsupported]: the host calls \"once\" and \"again\" both have the number 0\n"
            "  help: each call has a number of its own; the same function may stand under several");
}

TEST_F(CppDoor, NumbersOfHostCallsAreBounded) {
  for (int number : {-1, 1 << 30}) {
    GraphBuilder b;
    const ValueId x = b.param("x", {DType::f64, {3}});
    b.output(b.host_call("f", number, {x}, {{DType::f64, {3}}})[0]);
    EXPECT_THAT(error_of([&] { (void)compile(std::move(b).finish()); }),
                testing::StartsWith(str("error[unsupported]: the host call \"f\" has the number ", number)));
  }
}

TEST_F(CppDoor, HostFunctionsThatReturnSomethingElse) {
  const Graph graph = parse(R"(graph @main(%x: f64[n]) {
    %a, %b = host_call "two" (%x) : f64[3], i64[n] at "model.py:7"
    return %a, %b
  })");
  std::vector<Array> returned;
  CompileOptions options;
  options.host_functions = {[&](std::span<const ArrayRef>) { return returned; }};
  const Executable f = compile(graph, options);
  const auto message = [&](std::vector<Array> made) {
    returned = std::move(made);
    return error_of([&] { (void)f({std::vector<double>{1, 2}}); });
  };
  const Array a(DType::f64, {3}), b(DType::i64, {2});
  EXPECT_EQ(message({a, b}), "no error");
  EXPECT_EQ(message({a}),
            "error[wrong-argument-count]: host function `two` returned 1 result; 2 are declared: f64[3], i64[n]\n"
            "  at     model.py:7");
  EXPECT_EQ(message({a, Array(DType::i32, {2})}),
            "error[wrong-dtype]: two: result 1 is i32[2], not i64[n]\n  at     model.py:7");
  EXPECT_EQ(message({Array(DType::f64, {3, 1}), b}),
            "error[wrong-rank]: two: result 0 is f64[3, 1], not f64[3]\n  at     model.py:7");
  EXPECT_EQ(message({Array(DType::f64, {4}), b}),
            "error[shape-mismatch]: two: result 0 is f64[4], not f64[3]\n  at     model.py:7");
  EXPECT_EQ(message({a, Array(DType::i64, {5})}),
            "error[shape-mismatch]: two: axis 0 of result 1 has 5 elements, not 2\n  at     model.py:7\n"
            "  result 0 %a  f64[3]    model.py:7\n  result 1 %b  i64[n]    model.py:7");
}

/// Sets it after a while, from another thread.
class StopsSoon {
 public:
  explicit StopsSoon(StopFlag& flag)
      : thread_([&flag] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          flag = 1;
        }) {}
  ~StopsSoon() { thread_.join(); }

 private:
  std::thread thread_;
};

/// A program of very many kernels, and one of a single kernel.
const char* const kLongLoops[] = {
    R"(graph @main(%x: f64[n], %d: f64[k]) {
      %s = loop %i < k*k*k*k*k carry (%c = %x) {
        %r = flip %c [0]
        %next = cos %r
        return %next
      }
      return %s
    })",
    R"(graph @main(%x: f64, %d: f64[k]) {
      %s = loop %i < k*k*k*k*k carry (%c = %x) {
        %next = cos %c
        return %next
      }
      return %s
    })"};

TEST_F(CppDoor, CallsEndWhenTheyAreAskedTo) {
  StopFlag flag = 0;
  const StopScope scope(flag);
  const std::vector<double> x(5, 0.5);
  for (const char* text : kLongLoops) {
    const Executable f = compile(parse(text));
    const ArrayRef first = text == kLongLoops[0] ? ArrayRef(std::span(x)) : ArrayRef(DType::f64, {}, x.data());
    const std::vector<double> k(200);
    const auto run = [&](std::size_t length) { return f({first, std::span(k).first(length)}); };
    const double before = run(1)[0].elements<double>()[0];
    {
      const StopsSoon soon(flag);
      EXPECT_EQ(error_of([&] { run(200); }), "error[interrupted]: the call was interrupted");
    }
    flag = 0;
    EXPECT_EQ(run(1)[0].elements<double>()[0], before);
  }
}

TEST_F(CppDoor, CompilingEndsWhenItIsAskedTo) {
  StopFlag flag = 1;
  const StopScope scope(flag);
  const Graph graph = parse(kLongLoops[0]);
  EXPECT_EQ(error_of([&] { compile(graph); }), "error[interrupted]: compiling was interrupted");
  flag = 0;
  compile(graph);
}

TEST_F(CppDoor, CanKeepEveryBit) {
  CompileOptions exact;
  exact.keep_every_bit = true;
  const Graph graph = parse("graph @main(%x: f64[n], %s: f64) { %y = div %x, %s; return %y }");
  const std::vector<double> x = {5, 7, 11, 13};
  EXPECT_THAT(compile(graph, exact)({x, 3.0})[0].elements<double>(), ElementsAre(5 / 3.0, 7 / 3.0, 11 / 3.0, 13 / 3.0));
}

TEST_F(CppDoor, ComputesInSinglePrecisionWhereItIsAsked) {
  const Graph graph = parse("graph @main(%x: f32[n]) { %m = mean %x, axes = [0]; return %m }");
  Array x(DType::f32, {2});
  const float large = 3e38F;  // the sum of both is beyond f32
  x.elements<float>()[0] = x.elements<float>()[1] = large;
  EXPECT_THAT(compile(graph)({x})[0].elements<float>(), ElementsAre(large));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(compile(graph, {.single_precision = true})({x})[0].elements<float>(), ElementsAre(infinity));
}

TEST_F(CppDoor, TakesAPlanner) {
  const Graph graph = parse("graph @main(%x: f64[2, 2]) { %y = matmul %x, %x; %z = matmul %y, %y; return %z }");
  Array x(DType::f64, {2, 2});
  x.elements<double>()[0] = 2;
  CompileOptions options;
  for (const char* planner : {"naive", "greedy", "search", "max"}) {
    options.planner = planner;
    EXPECT_THAT(compile(graph, options)({x})[0].elements<double>(), ElementsAre(16, 0, 0, 0));
  }
  options.planner = "best";
  EXPECT_EQ(error_of([&] { (void)compile(graph, options); }),
            "error[unknown-name]: planner=best: there is no such planner\n"
            "  help: the planners are naive, greedy, search and max");
}

/// A view like std::mdspan, with a layout of its own.
struct Mdspan {
  using element_type = double;
  double* data;
  std::size_t rows, columns, pitch;
  double* data_handle() const { return data; }
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t axis) const { return axis == 0 ? rows : columns; }
  std::size_t stride(std::size_t axis) const { return axis == 0 ? pitch : 1; }
};

TEST_F(CppDoor, StridedArgumentsAndPlaces) {
  GraphBuilder b;
  const Dim n = b.symbol("n"), m = b.symbol("m");
  const ValueId x = b.param("x", {DType::f64, {n, m}});
  b.output(b.scalar(ScalarOp::neg_, {x}), "y");
  b.output(b.reduce(Fold::add, x, {0}, DType::f64), "sums");
  const Executable f = compile(std::move(b).finish());

  const std::vector<double> columns = {1, 2, 3, 4, 5, 6};  // a matrix of 3 x 2, column by column
  const std::vector<Array> results = f({View(columns.data(), {3, 2}, {1, 3})});
  EXPECT_THAT(results[0].elements<double>(), ElementsAre(-1, -4, -2, -5, -3, -6));
  EXPECT_THAT(results[1].elements<double>(), ElementsAre(6, 15));
  // Backwards, and one row again and again.
  EXPECT_THAT(f({View(columns.data() + 5, {2, 2}, {-3, -1})})[0].elements<double>(), ElementsAre(-6, -5, -3, -2));
  EXPECT_THAT(f({View(columns.data(), {4, 2}, {0, 1})})[1].elements<double>(), ElementsAre(4, 8));
  EXPECT_THAT(f({View(columns.data(), {2, 3})})[1].elements<double>(), ElementsAre(5, 7, 9));

  // Into a block of a larger matrix, whose last column takes the sums; the rest stays.
  std::vector<double> block(9, 0.5);
  f.into({View(columns.data(), {3, 2}, {1, 3})}, {Mdspan{block.data(), 3, 2, 3}, View(block.data() + 2, {2}, {3})});
  EXPECT_THAT(block, ElementsAre(-1, -4, 6, -2, -5, 15, -3, -6, 0.5));
  // An argument may lie where a result goes.
  f.into({Mdspan{block.data(), 3, 2, 3}}, {Mdspan{block.data(), 3, 2, 3}, View(block.data() + 2, {2}, {3})});
  EXPECT_THAT(block, ElementsAre(1, 4, -6, 2, 5, -15, 3, 6, 0.5));

  double sums[2];
  const auto into = [&](const ArrayOut& place, const ArrayOut& other) {
    return error_of([&] { f.into({View(columns.data(), {3, 2}, {1, 3})}, {place, other}); });
  };
  EXPECT_EQ(into(View(block.data(), {3, 2}, {2, 2}), View(sums, {2})),
            "error[wrong-output]: elements of the place for y share bytes");
  EXPECT_EQ(into(View(block.data(), {3, 2}, {3, 1}), View(block.data() + 4, {2}, {3})),
            "error[wrong-output]: the places for y and sums share bytes");
  EXPECT_EQ(into(ArrayOut(DType::f64, {3, 2}, block.data(), {3}), View(sums, {2})),
            "error[wrong-rank]: the place for y has 1 strides for 2 dims");
  EXPECT_EQ(error_of([&] { f({ArrayRef(DType::f64, {3, 2}, columns.data(), {1})}); }),
            "error[wrong-rank]: argument 0 has 1 strides for 2 dims");
  const std::vector<ArrayRef> strided = {View(columns.data(), {3, 2}, {1, 3})};
  EXPECT_THAT(error_of([&] { (void)f.prepare(strided); }), testing::StartsWith("error[unsupported]: prepare: "));
}

TEST(Array, IsAValue) {
  Array a(DType::i32, {2, 2});
  a.elements<int32_t>()[3] = 7;
  Array b = a;
  b.elements<int32_t>()[3] = 8;
  EXPECT_EQ(a.elements<int32_t>()[3], 7);
  a = b;
  EXPECT_EQ(a.elements<int32_t>()[3], 8);
  EXPECT_EQ(Array().num_elements(), 0);
}

}  // namespace
}  // namespace inlay
