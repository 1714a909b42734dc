#pragma once
// What the measured loops share: arrays, a run of a text program, and how a figure is taken.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "compiler/compile.h"
#include "ir/text.h"

namespace inlay::bench {

constexpr size_t kElements = 100'000;

// Where an array begins: at a cache line, as STREAM's static arrays do, or 16 bytes behind one, as malloc and so NumPy
// place most of theirs. Then every 64-byte access touches two lines.
enum class Begins { at_line, as_malloc };

struct Range {
  double from = -1, to = 1;
};

// Filled with numbers of a range, a thousand different ones.
class Array {
 public:
  explicit Array(size_t size, Range range = {}, Begins begins = Begins::at_line)
      : block_(new(std::align_val_t{64}) double[size + 2]), data_(block_ + (begins == Begins::at_line ? 0 : 2)) {
    for (size_t i = 0; i < size; ++i)
      data_[i] = range.from + static_cast<double>(i % 1000) / 1000.0 * (range.to - range.from);
  }
  ~Array() { ::operator delete[](block_, std::align_val_t{64}); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  double* data() { return data_; }

 private:
  double* block_;
  double* data_;
};

// Runs a text program whose parameters and results are arrays of at most `size` doubles. `symbols`: the sizes of its
// symbols; when not given, each is `size`.
inline void run_program(benchmark::State& state, std::string_view text, size_t num_params, size_t num_outputs,
                        size_t size, Range range = {}, Begins begins = Begins::at_line,
                        std::vector<int64_t> symbols = {}) {
  const runtime::Executable program = compile_program(parse(text)).executable;
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<const void*> params;
  std::vector<void*> outputs;
  for (size_t i = 0; i < num_params + num_outputs; ++i) {
    arrays.push_back(std::make_unique<Array>(size, range, begins));
    i < num_params ? params.push_back(arrays.back()->data()) : outputs.push_back(arrays.back()->data());
  }
  if (symbols.empty()) symbols.assign(program.object().symbols.size(), static_cast<int64_t>(size));
  runtime::Executable::Failure failure;
  for (auto _ : state) {
    if (program.run(params.data(), outputs.data(), symbols.data(), nullptr, failure) != 0) {
      state.SkipWithError("the program failed");
      break;
    }
    benchmark::ClobberMemory();
  }
}

inline double minimum(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

inline const auto add = [](const char* name, auto function) {
  return benchmark::RegisterBenchmark(name, function)
      ->Repetitions(15)
      ->MinTime(0.02)
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("minimum", minimum)
      ->ReportAggregatesOnly();
};

// The rows of scalars.def.
void add_scalars();

// Loops that are bound by memory, at three sizes.
void add_movement();

}  // namespace inlay::bench
