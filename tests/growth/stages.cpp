// What growth_test counts: compiles graphs of one family, and prints what ended, in order.
//
//   growth_stages FAMILY stages|lower|emit NODES...
//
// stages: each stage of lowering, at whose end Instrument::add_seconds runs; lower: all of them as one; emit: what
// comes before emitting, and that. At the end of those `ended` runs.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "graphs.h"

namespace inlay {
namespace {

Options all_options() {
  Options options;
  options.rewrite = {};
  options.fuse = fuse::Mode::full;
  options.order = memory::StepOrder::memory;
  options.planning.planner = memory::Planner::search;
  options.backend = "llvm";
  options.dump_directory.clear();
  options.verify = false;
  return options;
}

/// Not inlined: callgrind counts from one call of it to the next.
[[gnu::noinline]] void ended(const char* nodes, std::string_view what) { std::cout << nodes << ' ' << what << '\n'; }

void count(const GraphFamily& family, std::string_view what, const char* nodes) {
  const Options options = all_options();
  const Lowered program = lower(family.graph_of(std::atoi(nodes)), options);
  if (what == "stages") {
    for (const auto& stage : program.seconds) std::cout << nodes << ' ' << stage.first << '\n';
    return;
  }
  ended(nodes, what == "lower" ? what : "before");
  if (what != "emit") return;
  backend_of(options).emit(program.kernels, program.plan, options, KeepTexts::no);
  ended(nodes, what);
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  for (const inlay::GraphFamily& family : inlay::graph_families()) {
    if (argc < 3 || family.name != std::string_view(argv[1])) continue;
    for (int i = 3; i < argc; ++i) inlay::count(family, argv[2], argv[i]);
  }
}
