#include "runtime/executable.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/arena.h"
#include "runtime/testdata/sample.h"

// Every allocation of this test program is counted: a steady state makes none. (A sanitizer has its own operators.)
namespace {
std::atomic<int64_t> num_allocations{0};
}  // namespace

#if !INLAY_SANITIZED

// noinline: gcc would see malloc and free in places where it knows new and delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++num_allocations;
  if (void* out = std::malloc(size ? size : 1)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace inlay::runtime {
namespace {

using ::testing::ElementsAre;

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Results of any size; a host function that keeps every second element.
class TestHost : public Host {
 public:
  int32_t host_call(int function, void* const* operands, const int64_t* operand_dims, void** results,
                    int64_t* result_dims) override {
    if (function != 0 || throws) throw std::runtime_error("a host's own trouble");
    const auto* x = static_cast<const double*>(operands[0]);
    for (int64_t i = 0; i < operand_dims[0]; i += 2) made.push_back(x[i]);
    results[0] = made.data();
    result_dims[0] = static_cast<int64_t>(made.size());
    if (inner) inner();
    return INLAY_OK;
  }
  void* allocate_output(int slot, std::span<const int64_t> dims) override {
    if (refuse_outputs) return nullptr;
    outputs.resize(std::max<std::size_t>(outputs.size(), static_cast<std::size_t>(slot) + 1));
    auto& out = outputs[static_cast<std::size_t>(slot)];
    out.resize(static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>())));
    if (out.capacity() == 0) out.reserve(1);
    return out.data();
  }

  std::vector<double> made;
  std::vector<std::vector<double>> outputs;
  std::function<void()> inner;
  bool throws = false, refuse_outputs = false;
};

TEST(Executable, RunsAndAllocatesWhatItReturns) {
  const Executable executable(sample::add(24), sample::resolve);
  const std::vector<double> x = {1, 2, 3}, y = {10, 20, 30};
  const int64_t dims[] = {3};
  const TensorRef params[] = {{const_cast<double*>(x.data()), dims}, {const_cast<double*>(y.data()), dims}};
  TestHost host;
  executable.call(params, host);
  EXPECT_THAT(host.outputs[0], ElementsAre(11, 22, 33));
  EXPECT_THAT(host.outputs[1], ElementsAre(66));
}

TEST(Executable, NamesTheDimsThatDisagree) {
  Object object = sample::add(0);
  object.params.push_back(sample::vector("z", sample::symbol_plus(0, 1), "n + 1"));
  object.params.push_back(sample::vector("w", SizeExpr(4), "4"));
  const Executable executable(object, sample::resolve);
  const auto message = [&](int64_t y, int64_t x, int64_t z, int64_t w) {
    return message_of([&] {
      const int64_t dims[4] = {y, x, z, w};
      const TensorRef params[] = {{nullptr, dims}, {nullptr, dims + 1}, {nullptr, dims + 2}, {nullptr, dims + 3}};
      int64_t symbols[1];
      executable.bind_symbols(params, symbols);
      EXPECT_EQ(symbols[0], y);
    });
  };
  EXPECT_EQ(message(5, 5, 6, 4), "no error");
  EXPECT_EQ(message(0, 0, 1, 4), "no error");
  EXPECT_EQ(message(5, 7, 6, 4), "error[shape-mismatch]: x: dim 0 is 7, but n is 5, bound by dim 0 of y");
  EXPECT_EQ(message(5, 5, 9, 4),
            "error[shape-mismatch]: z: dim 0 is 9, but n + 1 is 6\n  n      is 5, bound by dim 0 of y");
  EXPECT_EQ(message(5, 5, 6, 3), "error[shape-mismatch]: w: dim 0 is 3, but must be 4");
  EXPECT_EQ(message(-1, -1, 0, 4), "error[negative-size]: y: dim 0 is -1");
  EXPECT_EQ(message(5, 5, 6, -4), "error[negative-size]: w: dim 0 is -4");
  EXPECT_EQ(message_of([&] { executable.bind_symbols({}, {}); }),
            "error[wrong-argument-count]: the function takes 4 arguments, not 0");
}

TEST(Executable, SaysWhyACallFailedAndIsUsableAfterwards) {
  const Executable executable(sample::add(24), sample::resolve);
  std::vector<double> x = {1, -2, 3}, y = {10, 20, 30};
  const int64_t dims[] = {3};
  const TensorRef params[] = {{x.data(), dims}, {y.data(), dims}};
  TestHost host;
  // Parameter 0 is called y by its spec: the sample fails on it.
  EXPECT_EQ(message_of([&] { executable.call(params, host); }),
            "error[index-out-of-bounds]: log: element 1 of 3 is negative{9}\n  at     model.py:7\n  value  %x");
  x[1] = 2;
  executable.call(params, host);
  EXPECT_THAT(host.outputs[0], ElementsAre(11, 22, 33));
  host.refuse_outputs = true;
  EXPECT_EQ(message_of([&] { executable.call(params, host); }),
            "error[out-of-memory]: no memory for result 0, out: f64[3]");
}

/// Runs `sample_add` on n elements; the sum tells whether the arena held.
double run_add(const Executable& executable, int64_t n) {
  const std::vector<double> x(static_cast<std::size_t>(n), 1.0), y(static_cast<std::size_t>(n), 2.0);
  std::vector<double> out(static_cast<std::size_t>(n));
  double sum = 0;
  const void* params[] = {x.data(), y.data()};
  void* outputs[] = {out.data(), &sum};
  int64_t symbols[] = {n};
  Executable::Failure failure;
  EXPECT_EQ(executable.run(params, outputs, symbols, nullptr, failure), INLAY_OK);
  return sum;
}

class Arena : public testing::TestWithParam<int64_t> {};

TEST_P(Arena, ASteadyStateAllocatesNothing) {
  const int64_t n = GetParam();
  const Executable executable(sample::add(8 * n), sample::resolve);
  const std::vector<double> x(static_cast<std::size_t>(n), 1.0);
  std::vector<double> out(static_cast<std::size_t>(n));
  double sum = 0;
  const void* params[] = {x.data(), x.data()};
  void* outputs[] = {out.data(), &sum};
  int64_t symbols[] = {n};
  Executable::Failure failure;
  EXPECT_EQ(executable.run(params, outputs, symbols, nullptr, failure), INLAY_OK);
  const int64_t before = num_allocations;
  for (int i = 0; i < 100; ++i) executable.run(params, outputs, symbols, nullptr, failure);
  EXPECT_EQ(num_allocations, before);
  EXPECT_EQ(sum, 2.0 * static_cast<double>(n));
}

void expect_kept_and_grown() {
  const auto address = [](int64_t size) { return ArenaBlock::borrow(size).data(); };
  std::byte* first = address(100000);
  EXPECT_EQ(address(100000), first);
  EXPECT_EQ(address(50000), first);
  EXPECT_NE(address(0), nullptr);
  {
    const ArenaBlock outer = ArenaBlock::borrow(100000), inner = ArenaBlock::borrow(100000);
    EXPECT_EQ(outer.data(), first);
    EXPECT_NE(inner.data(), first);
    for (const ArenaBlock* block : {&outer, &inner}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % kArenaAlignment, 0u);
    }
  }
  std::byte* grown = address(1000000);
  EXPECT_EQ(address(900000), grown);
#if !INLAY_SANITIZED  // which end the program at such a request
  EXPECT_EQ(address(int64_t{1} << 60), nullptr);
#endif
  EXPECT_EQ(address(-1), nullptr);
}

// A thread begins without blocks.
TEST(ArenaBlock, IsKeptByItsThreadAndGrows) { std::thread(expect_kept_and_grown).join(); }

TEST_P(Arena, BelongsToTheCall) {
  const int64_t n = GetParam();
  const Executable executable(sample::add(8 * n), sample::resolve);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) ASSERT_EQ(run_add(executable, n), 3.0 * static_cast<double>(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Arena, IsValidAfterAFork) {
  const int64_t n = GetParam();
  const Executable executable(sample::add(8 * n), sample::resolve);
  run_add(executable, n);
  const pid_t child = fork();
  if (child == 0) _exit(run_add(executable, n) == 3.0 * static_cast<double>(n) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(run_add(executable, n), 3.0 * static_cast<double>(n));
}

INSTANTIATE_TEST_SUITE_P(StackAndBlock, Arena, testing::Values(4, 4096, 4097, 300000));

/// Segment 1 begins once a host call has said how many elements there are; storage 1 lies at 64 in its block.
Object late_object() {
  Object out;
  out.code = sample::read();
  out.entry = "sample_late";
  out.params = {sample::vector("x", sample::symbol(0), "n")};
  out.outputs = {sample::vector("out", sample::symbol(1), "k")};
  out.outputs[0].segment = 1;
  out.symbols = {{"n", 0, 0}, {"k", -1, 0}};
  out.host_calls = {{"every_second", 0, {out.params[0]}, {out.outputs[0]}}};
  out.arena = {false, {0, 0}, 2};
  return out;
}

int64_t late_layout(int segment, std::span<const int64_t> symbols, std::span<int64_t> offsets) {
  if (segment == 0) return 0;
  offsets[1] = 64;
  return 64 + 8 * symbols[1];
}

TEST(Executable, AsksForLateSizes) {
  const Executable executable(late_object(), sample::resolve, late_layout);
  for (int64_t n : {0, 1, 5, 100001}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 0.0);
    const TensorRef params[] = {{x.data(), &n}};
    TestHost host;
    executable.call(params, host);
    ASSERT_EQ(host.outputs[0].size(), static_cast<std::size_t>((n + 1) / 2));
    for (std::size_t i = 0; i < host.outputs[0].size(); ++i)
      ASSERT_EQ(host.outputs[0][i], 4.0 * static_cast<double>(i));
  }
}

TEST(Executable, MayRunInsideAHostCallOfItself) {
  const Executable executable(late_object(), sample::resolve, late_layout);
  std::vector<double> x(20001, 3.0);
  const auto n = static_cast<int64_t>(x.size());
  const TensorRef params[] = {{x.data(), &n}};
  TestHost outer, inner;
  outer.inner = [&] { executable.call(params, inner); };
  executable.call(params, outer);
  EXPECT_EQ(outer.outputs[0], std::vector<double>(10001, 6.0));
  EXPECT_EQ(inner.outputs[0], std::vector<double>(10001, 6.0));
}

TEST(Executable, LetsNothingBeThrownThroughMachineCode) {
  const Executable executable(late_object(), sample::resolve, late_layout);
  const double x = 1;
  const int64_t n = 1;
  const TensorRef params[] = {{const_cast<double*>(&x), &n}};
  TestHost host;
  host.throws = true;
  EXPECT_EQ(message_of([&] { executable.call(params, host); }), "error[host-call-failed]: a host call failed");
  const auto throwing = [](int, std::span<const int64_t>, std::span<int64_t>) -> int64_t { throw std::bad_alloc(); };
  const Executable other(late_object(), sample::resolve, throwing);
  host.throws = false;
  EXPECT_EQ(message_of([&] { other.call(params, host); }),
            "error[out-of-memory]: no memory for an output or for the call's own values");
}

TEST(Executable, NamesAnEntryThatIsNotThere) {
  Object object = sample::add(0);
  object.entry = "main";
  EXPECT_EQ(message_of([&] { Executable(object, sample::resolve); }),
            "error[unknown-name]: the object has no entry main");
}

TEST(SizeExpr, EvaluatesPostfix) {
  using Kind = SizeItem::Kind;
  SizeExpr expr;  // max(floordiv(a * 3, b), min(a, 2))
  expr.items = {{Kind::symbol, 0}, {Kind::constant, 3}, {Kind::multiply}, {Kind::symbol, 1}, {Kind::floor_div},
                {Kind::symbol, 0}, {Kind::constant, 2}, {Kind::min},      {Kind::max}};
  const int64_t symbols[] = {7, 4};
  EXPECT_EQ(expr.evaluate(symbols), 5);
  const int64_t negative[] = {-7, 4};
  EXPECT_EQ(expr.evaluate(negative), -6);  // floor(-21 / 4), and min(-7, 2)
  EXPECT_EQ(SizeExpr(9).evaluate({}), 9);
  const int64_t large[] = {int64_t{1} << 62, 1};
  EXPECT_THAT(message_of([&] { expr.evaluate(large); }),
              testing::HasSubstr("error[size-overflow]: a size does not fit"));
}

}  // namespace
}  // namespace inlay::runtime
