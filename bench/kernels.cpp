// What the generated loops cost by themselves: called with memory given, beside C compilers on the same arrays.
//
// Prints Google Benchmark's report; run.py reads its JSON and takes the least CPU time of the repetitions.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "compiler/compile.h"
#include "ir/text.h"

extern "C" {
void exp_mul_add_clang(size_t n, const double* x, const double* y, const double* z, double* out);
void exp_mul_add_gcc(size_t n, const double* x, const double* y, const double* z, double* out);
void triad_clang(size_t n, double scalar, const double* b, const double* c, double* a);
void triad_gcc(size_t n, double scalar, const double* b, const double* c, double* a);
}

namespace inlay {
namespace {

constexpr size_t kElements = 100'000;

// Where an array begins: at a cache line, as STREAM's static arrays do, or 16 bytes behind one, as malloc and so NumPy
// place most of theirs. Then every 64-byte access touches two lines.
enum class Begins { at_line, as_malloc };

// Filled with numbers whose exp is ordinary.
class Array {
 public:
  explicit Array(size_t size, Begins begins = Begins::at_line)
      : block_(new(std::align_val_t{64}) double[size + 2]), data_(block_ + (begins == Begins::at_line ? 0 : 2)) {
    for (size_t i = 0; i < size; ++i) data_[i] = static_cast<double>(i % 1000) / 500.0 - 1.0;
  }
  ~Array() { ::operator delete[](block_, std::align_val_t{64}); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  double* data() { return data_; }

 private:
  double* block_;
  double* data_;
};

// Runs a text program whose parameters are arrays of `size` doubles and whose one symbol is their length.
void run_program(benchmark::State& state, std::string_view text, size_t num_params, size_t num_outputs, size_t size,
                 Begins begins = Begins::at_line) {
  const runtime::Executable program = compile(parse(text));
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<const void*> params;
  std::vector<void*> outputs;
  for (size_t i = 0; i < num_params + num_outputs; ++i) {
    arrays.push_back(std::make_unique<Array>(size, begins));
    i < num_params ? params.push_back(arrays.back()->data()) : outputs.push_back(arrays.back()->data());
  }
  std::vector<int64_t> symbols(program.object().symbols.size(), static_cast<int64_t>(size));
  runtime::Executable::Failure failure;
  for (auto _ : state) {
    if (program.run(params.data(), outputs.data(), symbols.data(), nullptr, failure) != 0) {
      state.SkipWithError("the program failed");
      break;
    }
    benchmark::ClobberMemory();
  }
}

void exp_mul_add_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%x: f64[n], %y: f64[n], %z: f64[n]) {
    %e = exp %x
    %m = mul %e, %y
    %r = add %m, %z
    return %r
  })",
              3, 1, kElements);
}

void triad_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%b: f64[n], %c: f64[n]) {
    %three = literal 3.0 : f64
    %m = mul %c, %three
    %r = add %b, %m
    return %r
  })",
              2, 1, kElements);
}

// The work of the Python row `call`, whose cost is what that row takes above this: on arrays that lie as NumPy's do.
template <size_t size>
void five_in_two_out_inlay(benchmark::State& state) {
  run_program(state, R"(graph @main(%a: f64[n], %b: f64[n], %c: f64[n], %d: f64[n], %e: f64[n]) {
    %p = mul %a, %b
    %q = mul %c, %d
    %r = add %p, %e
    %s = add %q, %e
    return %r, %s
  })",
              5, 2, size, Begins::as_malloc);
}

template <auto function>
void exp_mul_add_peer(benchmark::State& state) {
  Array x(kElements), y(kElements), z(kElements), out(kElements);
  for (auto _ : state) {
    function(kElements, x.data(), y.data(), z.data(), out.data());
    benchmark::ClobberMemory();
  }
}

template <auto function>
void triad_peer(benchmark::State& state) {
  Array a(kElements), b(kElements), c(kElements);
  for (auto _ : state) {
    function(kElements, 3.0, b.data(), c.data(), a.data());
    benchmark::ClobberMemory();
  }
}

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

const auto add = [](const char* name, auto function) {
  return benchmark::RegisterBenchmark(name, function)
      ->Repetitions(15)
      ->MinTime(0.02)
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("least", least)
      ->ReportAggregatesOnly();
};

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  using namespace inlay;
  add("exp_mul_add/inlay", exp_mul_add_inlay);
  add("exp_mul_add/clang", exp_mul_add_peer<exp_mul_add_clang>);
  add("exp_mul_add/gcc", exp_mul_add_peer<exp_mul_add_gcc>);
  add("triad/inlay", triad_inlay);
  add("triad/clang", triad_peer<triad_clang>);
  add("triad/gcc", triad_peer<triad_gcc>);
  add("five_in_two_out_8/inlay", five_in_two_out_inlay<8>);
  add("five_in_two_out_919/inlay", five_in_two_out_inlay<919>);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
