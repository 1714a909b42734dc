// What the way from a graph to planned kernels costs, by the number of nodes: rewrite, fuse, memory; no machine code.
#include <string>

#include <benchmark/benchmark.h>

#include "compiler/compile.h"
#include "graphs.h"

namespace inlay {
namespace {

void lower_nodes(benchmark::State& state, Graph (*graph_of)(int nodes)) {
  const Graph graph = graph_of(static_cast<int>(state.range(0)));
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

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  for (const inlay::GraphFamily& family : inlay::graph_families()) {
    benchmark::RegisterBenchmark((std::string("lower_nodes/") + family.name).c_str(), inlay::lower_nodes,
                                 family.graph_of)
        ->Arg(2000)
        ->Arg(20000)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
