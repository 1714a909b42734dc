// Kernels with words changed, as somebody writes them who edits a dump. What the verifier takes, and the evaluator
// finds no fault with, is planned, compiled and run: none may end in a broken promise of inlay's own.
//
// A second long; INLAY_FUZZ_SECONDS=3600 makes it an hour. INLAY_FUZZ_SEED=17 begins with the change that a failure
// named.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "host_functions.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "kernel/verify.h"
#include "mutate.h"
#include "native_run.h"
#include "oracle/kernels/element.h"
#include "oracle/kernels/evaluate.h"
#include "planned_run.h"
#include "seeds.h"
#include "test_file.h"

namespace inlay::fuzz {
namespace {

using kernel::BufferId;
using kernel::KernelProgram;
using tool::Tensor;

std::vector<std::string> corpus() {
  const std::filesystem::path tests = std::filesystem::path(INLAY_SOURCE_DIR) / "tests";
  std::vector<std::string> out = files_below(tests / "fuzz" / "corpus", ".kernels");
  for (const std::string& text : files_below(tests / "programs", ".inlay")) {
    try {
      out.push_back(kernel::print(lower(parse(tool::parse_test_file(text, "p").graph_text, "p"), {}).kernels));
    } catch (const Error&) {
      // One that is to fail has no kernels.
    }
  }
  return out;
}

/// Too much for a test: a number has made the program long.
struct TooLong {};

/// Runs every step by the evaluator, unless they are too many points or bytes.
class BoundedRun {
 public:
  BoundedRun(const KernelProgram& program, std::vector<kernel::Array> params)
      : program_(program), params_(std::move(params)), symbols_(kernel::bind_symbols(program, params_)) {}

  /// Has every step run, with no failure that the program itself tests?
  bool run() {
    // Where a size check fails, no step gets to them, and yet a call begins with memory for all.
    for (const kernel::Buffer& buffer : program_.buffers) require(size_bytes(buffer).estimate(symbols_), kMostBytes);
    const auto address = [&](BufferId b, std::span<const int64_t> known) { return place(b, known); };
    const auto host = [](const auto&, auto, auto) { return false; };
    return !kernel::evaluate(program_, symbols_, address, host, [&](kernel::StepId step) { count(step); });
  }

 private:
  static constexpr double kMostBytes = 1e6;  // of one buffer

  static void require(double amount, double most) {
    if (amount > most) throw TooLong();
  }

  void count(kernel::StepId step) {
    require(steps_ += 1, 1e4);
    const kernel::Step& what = program_.steps[step.index];
    if (const auto* loop = std::get_if<kernel::LoopBegin>(&what)) require(loop->count.estimate(symbols_), 1e4);
    if (const auto* call = std::get_if<kernel::LibraryCall>(&what)) {
      double size = 1;
      for (const Dim& dim : call->sizes) size *= std::max(1.0, dim.estimate(symbols_));
      require(size, 1e4);
    }
    const auto* kernel = std::get_if<kernel::Kernel>(&what);
    for (std::size_t s = 0; kernel && s < kernel->stages.size(); ++s) {
      double points = 1;
      for (const Dim& extent : axis_extents(*kernel, kernel->stages[s]))
        points *= std::max(1.0, extent.estimate(symbols_));
      require(points_ += points, 1e5);
    }
  }

  std::byte* place(BufferId b, std::span<const int64_t> known) {
    const kernel::Buffer& buffer = program_.buffers[b];
    if (buffer.role == kernel::Role::param) return params_[static_cast<std::size_t>(buffer.slot)].bytes.data();
    require(size_bytes(buffer).estimate(known), kMostBytes);
    std::vector<std::byte>& bytes = memory_[b.index];
    const auto size = static_cast<std::size_t>(std::max<int64_t>(1, size_bytes(buffer).evaluate(known)));
    if (bytes.empty()) bytes.assign(size, std::byte(0xff));
    return bytes.data();
  }

  const KernelProgram& program_;
  std::vector<kernel::Array> params_;
  std::vector<int64_t> symbols_;
  std::map<uint32_t, std::vector<std::byte>> memory_;
  double steps_ = 0, points_ = 0;
};

/// Small arrays of small numbers that the program takes; none where its sizes are too large.
std::optional<std::vector<Tensor>> inputs_of(const KernelProgram& program, std::mt19937_64& random) {
  std::vector<int64_t> symbols(program.symbols.size());
  for (int64_t& symbol : symbols) symbol = static_cast<int64_t>(random() % 5);
  std::vector<Tensor> out;
  for (BufferId b : program.params) {
    const kernel::Buffer& buffer = program.buffers[b];
    if (buffer.dtype == DType::opaque) return std::nullopt;
    std::vector<int64_t> dims;
    double elements = 1;
    for (const Dim& dim : buffer.dims) {
      elements *= dim.estimate(symbols);
      if (dim.estimate(symbols) < 0 || elements > 1e5) return std::nullopt;
      dims.push_back(dim.evaluate(symbols));
    }
    Tensor tensor = Tensor::zeros(buffer.dtype, std::move(dims));
    for (std::byte* at = tensor.data.data(); at != tensor.data.data() + tensor.data.size();
         at += size_bytes(buffer.dtype)) {
      const auto number = static_cast<int64_t>(random() % 4);
      cast(kernel::Element::of_integer(DType::i64, number), buffer.dtype).store(at);
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

struct Count {
  int texts = 0, read = 0, sound = 0, run = 0;
};

/// What a caller can have caused is an Error of another code.
template <class Attempt>
void expect_no_mistake_of_ours(const char* what, Attempt attempt) {
  try {
    attempt();
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::internal) << what << ": " << error.what();
  } catch (const std::bad_alloc&) {
  }
}

void try_kernels(const std::string& text, std::mt19937_64& random, Count& count) {
  ++count.texts;
  std::optional<KernelProgram> read;
  expect_no_mistake_of_ours("read", [&] { read = kernel::parse(text, "fuzz"); });
  if (!read) return;
  ++count.read;
  const KernelProgram& program = *read;
  bool is_sound = false;
  expect_no_mistake_of_ours("verify", [&] { is_sound = kernel::verify(program).empty(); });
  if (!is_sound) return;
  ++count.sound;

  const std::optional<std::vector<Tensor>> inputs = inputs_of(program, random);
  if (!inputs) return;
  std::vector<kernel::Array> arrays;
  for (const Tensor& tensor : *inputs) arrays.push_back({tensor.dtype, tensor.dims, tensor.data});
  try {
    const auto is_host_call = [](const kernel::Step& step) { return std::holds_alternative<kernel::HostCall>(step); };
    // What a host makes is not bounded: what comes after it is not looked at.
    if (!BoundedRun(program, arrays).run() && std::ranges::any_of(program.steps, is_host_call)) return;
  } catch (const TooLong&) {
    return;
  } catch (const Error&) {
    return;  // as `inlay run` then refuses it: invalid-program
  }
  expect_no_mistake_of_ours("compile and run", [&] {
    const auto functions = tool::host_functions_of(program);
    if (backend_of({}).is_available()) {
      const Program made = compile_program(program, {});
      (void)tool::run_native(made.executable, *inputs, functions);
    } else {
      const Lowered made = lower(program, {});
      (void)tool::run_planned(made.kernels, made.plan, memory::Planner::greedy, *inputs, functions);
    }
    ++count.run;
  });
}

uint64_t seed_now = 0;
std::string text_now;

/// A crash names its seed and its text too.
void say_seed(int signal) {
  std::cerr << "INLAY_FUZZ_SEED=" << seed_now << "\n" << text_now << std::endl;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

TEST(KernelText, IsRefusedOrRuns) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, say_seed);
  const std::vector<std::string> texts = corpus();
  ASSERT_GT(texts.size(), 50U);
  Count count;
  for (Seeds seeds; seeds.more();) {
    seed_now = seeds.next();
    std::mt19937_64 random(seed_now);
    text_now = random() % 8 == 0 ? changed(texts, random) : changed_words(texts, random);
    try_kernels(text_now, random, count);
    ASSERT_FALSE(HasFailure()) << "INLAY_FUZZ_SEED=" << seed_now << "\n" << text_now;
  }
  std::cout << count.texts << " texts, " << count.read << " can be read, " << count.sound << " are sound, " << count.run
            << " have run" << std::endl;
}

}  // namespace
}  // namespace inlay::fuzz
