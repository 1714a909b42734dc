// What the way from a graph to planned kernels costs, by the number of nodes: rewrite, fuse, memory; no machine code.
//
// The graph looks like the gradient of a large model: vectors of one data set, parameters that are gathered and
// scattered into by one index, sums over the data, and 0-d arithmetic between them, each made of recent values.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "compiler/compile.h"
#include "ir/builder.h"

namespace inlay {
namespace {

class Model {
 public:
  explicit Model(int nodes) {
    const Dim n = b_.symbol("n");
    rows_ = {b_.param("x", {DType::f64, {n}}), b_.param("y", {DType::f64, {n}})};
    groups_ = {b_.param("a", {DType::f64, {85}}), b_.param("b", {DType::f64, {85}})};
    numbers_ = {b_.param("s", {DType::f64, {}})};
    index_ = b_.bound("g", {DType::i64, {n}}, {.has_range = true, .least = 0, .greatest = 84});
    for (int i = 0; i < nodes; ++i) grow(std::uniform_int_distribution<int>(0, 99)(random_));
    for (const ValueId v : {rows_.back(), groups_.back(), sum_of_numbers()}) b_.output(v);
  }
  Graph finish() && { return std::move(b_).finish(); }

 private:
  void grow(int kind) {
    if (kind < 45) {
      rows_.push_back(b_.scalar(kind < 15   ? ScalarOp::add_
                                : kind < 30 ? ScalarOp::mul_
                                            : ScalarOp::sub_,
                                {recent(rows_), recent(rows_)}));
    } else if (kind < 55) {
      rows_.push_back(b_.scalar(kind < 50 ? ScalarOp::exp_ : ScalarOp::sigmoid_, {recent(rows_)}));
    } else if (kind < 65) {
      rows_.push_back(b_.scalar(ScalarOp::mul_, {recent(rows_), recent(numbers_)}));
    } else if (kind < 72) {
      rows_.push_back(b_.gather(recent(groups_), {IndexItem::through(index_)}));
    } else if (kind < 77) {
      groups_.push_back(b_.scatter(Combine::add, recent(groups_), {IndexItem::through(index_)}, recent(rows_)));
    } else if (kind < 82) {
      groups_.push_back(b_.scalar(ScalarOp::add_, {recent(groups_), recent(groups_)}));
    } else if (kind < 90) {
      numbers_.push_back(b_.reduce(Combine::add, recent(rows_), {0}, DType::f64));
    } else {
      numbers_.push_back(b_.scalar(ScalarOp::mul_, {recent(numbers_), recent(numbers_)}));
    }
  }

  ValueId recent(const std::vector<ValueId>& values) {
    const auto back = std::min<std::size_t>(std::geometric_distribution<int>(0.25)(random_), values.size() - 1);
    return values[values.size() - 1 - back];
  }

  ValueId sum_of_numbers() {
    ValueId sum = numbers_.front();
    for (std::size_t i = 1; i < numbers_.size(); ++i) sum = b_.scalar(ScalarOp::add_, {sum, numbers_[i]});
    return sum;
  }

  GraphBuilder b_;
  std::mt19937_64 random_{17};
  std::vector<ValueId> rows_, groups_, numbers_;
  ValueId index_;
};

void lower_nodes(benchmark::State& state) {
  const Graph graph = Model(static_cast<int>(state.range(0))).finish();
  for (auto _ : state) {
    const Lowered program = lower(graph);
    benchmark::DoNotOptimize(program.plan.sharing);
    double fuse = 0, memory = 0;
    for (const auto& [name, seconds] : program.seconds) {
      if (name == "fuse") fuse = seconds;
      if (name == "memory") memory = seconds;
    }
    state.counters["fuse_ms"] = 1e3 * fuse;
    state.counters["memory_ms"] = 1e3 * memory;
  }
}
BENCHMARK(lower_nodes)->Arg(500)->Arg(1000)->Arg(2000)->Arg(5000)->Arg(20000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace inlay

BENCHMARK_MAIN();
