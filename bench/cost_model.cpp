// The measurements behind the fuser's cost model (docs/fusion.md): CPU time, the least of many calls.
// Not a test: `bin/inlay_bench_cost_model [cost|body|rows|modes]...`, built with INLAY_BENCH=ON.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "backend/llvm/backend.h"
#include "compiler/compile.h"
#include "cpu_seconds.h"
#include "ir/text.h"
#include "kernel/counts.h"
#include "npy.h"
#include "test_file.h"

namespace inlay::tool {
namespace {

using bench::cpu_seconds;

/// Arguments and results of a program at fixed addresses.
struct Call {
  const runtime::Executable& executable;
  std::vector<Tensor> inputs, results;
  std::vector<const void*> params;
  std::vector<void*> outputs;
  std::vector<int64_t> symbols;

  Call(const Program& program, std::vector<Tensor> given) : executable(program.executable), inputs(std::move(given)) {
    std::vector<runtime::TensorRef> refs;
    for (Tensor& input : inputs) {
      refs.push_back({input.data.data(), input.dims.data()});
      params.push_back(input.data.data());
    }
    symbols.resize(program.kernels.symbols.size());
    executable.bind_symbols(refs, symbols);
    for (BufferId output : program.kernels.outputs) {
      const kernel::Buffer& buffer = program.kernels.buffers[output];
      std::vector<int64_t> dims;
      for (const Dim& dim : buffer.dims) dims.push_back(dim.evaluate(symbols));
      results.push_back(Tensor::zeros(buffer.dtype, dims));
    }
    for (Tensor& result : results) outputs.push_back(result.data.data());
  }

  using BufferId = kernel::BufferId;

  double seconds() {
    runtime::Executable::Failure failure;
    double minimum = 1e9, start = cpu_seconds();
    const auto once = [&] { executable.run(params.data(), outputs.data(), symbols.data(), nullptr, failure); };
    once();
    const int repeats = std::clamp(static_cast<int>(1e-3 / (cpu_seconds() - start + 1e-7)), 1, 1000);
    for (int round = 0; round < 40; ++round) {
      start = cpu_seconds();
      for (int i = 0; i < repeats; ++i) once();
      minimum = std::min(minimum, (cpu_seconds() - start) / repeats);
    }
    return minimum;
  }
};

Given given(const Graph& graph, const std::string& sizes) {
  return runs_of(graph, Directive{.name = "run", .words = sizes, .body = {}, .line = 0}).front();
}

Program compiled(const Graph& graph, const kernel::BackendCaps& caps, fuse::Mode mode = fuse::Mode::full) {
  Options options;
  options.fuse = mode;
  return compile_program(kernels_of(lower(graph).graph, caps, options));
}

double nanoseconds(const Graph& graph, const Program& program, const std::string& sizes, int64_t elements) {
  Random random(1);
  Call call(program, random_inputs(graph, given(graph, sizes), random));
  return call.seconds() * 1e9 / static_cast<double>(elements);
}

/// A value of this many cheap ops, or one expensive op, that two loops need of which one waits for the other.
void measure_cost() {
  std::printf("a value that two loops need, ns an element: computed twice / stored\n%-12s", "ops");
  constexpr std::array<int64_t, 4> kSizes = {2000, 50'000, 500'000, 10'000'000};
  for (int64_t n : kSizes) std::printf("  n=%-13lld", static_cast<long long>(n));
  for (const char* const name : {"1", "2", "4", "6", "8", "12", "16", "reciprocal", "sqrt", "log", "exp", "tanh"}) {
    const std::string op = name;
    const bool chain = std::isdigit(op[0]);
    std::string text = "graph @main(%x: f64[n]) {\n  %v0 = abs %x\n";
    const int ops = chain ? std::stoi(op) : 1;
    for (int i = 0; i < ops; ++i) {
      text += chain ? str("  %v", i + 1, i % 2 == 0 ? " = max %v" : " = mul %v", i, ", %x\n")
                    : str("  %v", i + 1, " = ", op, " %v", i, "\n");
    }
    const Graph graph =
        parse(str(text, "  %s = reduce add %v", ops, " [0] : f64\n  %r = mul %v", ops, ", %s\n  return %r\n}\n"));
    std::printf("\n%-12s", op.c_str());
    for (int64_t n : kSizes) {
      kernel::BackendCaps caps = llvm_backend::caps();
      caps.max_inline_cost = 1000;
      const double twice = nanoseconds(graph, compiled(graph, caps), str("n=", n), n);
      caps.max_inline_cost = -1;
      const double stored = nanoseconds(graph, compiled(graph, caps), str("n=", n), n);
      std::printf("  %6.3f / %6.3f", twice, stored);
      std::fflush(stdout);
    }
  }
  std::printf("\n");
}

/// 400 ops of which each tenth is an exp, in bodies of at most so many.
void measure_body() {
  std::printf("400 ops, each tenth an exp, by the longest body: kernels, ms to compile, ns an element of 1e5\n");
  std::string text = "graph @main(%x: f64[n], %y: f64[n]) {\n  %v0 = mul %x, %y\n";
  for (int i = 0; i < 400; ++i) {
    text += i % 10 == 9
                ? str("  %v", i + 1, " = tanh %v", i, "\n")
                : str("  %v", i + 1, i % 2 == 0 ? " = mul %v" : " = add %v", i, i % 3 == 0 ? ", %x\n" : ", %y\n");
  }
  const Graph graph = parse(text + "  return %v400\n}\n");
  for (int cap : {10, 25, 50, 100, 200, 400}) {
    kernel::BackendCaps caps = llvm_backend::caps();
    caps.max_body_ops = cap;
    double minimum = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double start = cpu_seconds();
      compiled(graph, caps);
      minimum = std::min(minimum, cpu_seconds() - start);
    }
    const Program program = compiled(graph, caps);
    std::printf("%4d: %3d kernels %8.1f ms %8.2f ns\n", cap, kernel::count(program.kernels).kernels, minimum * 1e3,
                nanoseconds(graph, program, "n=100000", 100000));
    std::fflush(stdout);
  }
}

/// Rows of few elements as stages of a kernel, or in loops over the whole arrays.
void measure_rows() {
  struct Case {
    const char *name, *dtype, *body;
  };
  constexpr Case kCases[] = {
      {"softmax", "f64", "%r = softmax %x, axes = [1]"},
      {"softmax", "f32", "%r = softmax %x, axes = [1]"},
      {"less mean", "f64", "%a = mean %x, axes = [1], keep = true\n  %r = sub %x, %a"},
      {"std", "f64", "%r = std %x, axes = [1]"},
      {"logsumexp", "f32", "%r = logsumexp %x, axes = [1]"},
  };
  std::printf("2e5 elements in rows of so many, ns an element: stages of rows / loops over all\n");
  for (const auto& [name, dtype, body] : kCases) {
    std::printf("%-10s %s", name, dtype);
    for (int64_t m : {2, 3, 4, 8, 12, 15, 17, 40}) {
      const Graph graph = parse(str("graph @main(%x: ", dtype, "[n, ", m, "]) {\n  ", body, "\n  return %r\n}\n"));
      const int64_t n = 200'000 / m;
      kernel::BackendCaps caps = llvm_backend::caps();
      caps.short_row = 0;
      const double rows = nanoseconds(graph, compiled(graph, caps), str("n=", n), n * m);
      caps.short_row = 1 << 30;
      const double loops = nanoseconds(graph, compiled(graph, caps), str("n=", n), n * m);
      std::printf("  %lld: %.2f / %.2f", static_cast<long long>(m), rows, loops);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

void measure_modes() {
  struct Case {
    const char *program, *sizes;
  };
  constexpr Case kCases[] = {
      {"several_outputs", "n=100000"},
      {"row_producer", "n=1000,m=1000"},
      {"slice_differences", "n=100000"},
      {"slice_write", "n=100001,m=100000"},
      {"gather_read_often", "n=85,k=100000"},
      {"scatter_returned", "n=85,k=100000"},
      {"reductions", "n=100000"},
      {"softmax_last", "n=1000,m=1000"},
      {"softmax_first", "n=1000,m=1000"},
      {"var_last", "n=1000,m=1000"},
      {"running_sum", "n=100000"},
      {"concat", "n=100000,m=100000"},
      {"dot", "n=100000"},
      {"hierarchical", "k=85,n=919"},
      {"hierarchical", "k=85,n=1000000"},
      {"logistic", "n=10000"},
  };
  std::printf("%-18s %-18s  kernels, elements read and written, us: full | greedy | none\n", "", "");
  for (const auto& [name, sizes] : kCases) {
    const std::string path = str(INLAY_SOURCE_DIR, "/tests/programs/fusion/", name, ".inlay");
    const Graph graph = parse(parse_test_file(read_file(path), path).graph_text);
    std::printf("%-18s %-18s", name, sizes);
    for (const fuse::Mode mode : {fuse::Mode::full, fuse::Mode::greedy, fuse::Mode::none}) {
      const Program program = compiled(graph, llvm_backend::caps(), mode);
      Random random(1);
      Call call(program, random_inputs(graph, given(graph, sizes), random));
      const kernel::KernelCounts counts = kernel::count(program.kernels);
      std::printf(" | %d %lld %lld %.4g", counts.kernels, static_cast<long long>(counts.reads.evaluate(call.symbols)),
                  static_cast<long long>(counts.writes.evaluate(call.symbols)), call.seconds() * 1e6);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace inlay::tool

int main(int argc, char** argv) {
  const auto asked = [&](std::string_view what) {
    return argc < 2 || std::any_of(argv + 1, argv + argc, [&](const char* word) { return word == what; });
  };
  if (asked("cost")) inlay::tool::measure_cost();
  if (asked("body")) inlay::tool::measure_body();
  if (asked("rows")) inlay::tool::measure_rows();
  if (asked("modes")) inlay::tool::measure_modes();
}
