// What growth_test counts: lowers graphs of one family and prints each stage that ended, in order.
//
//   growth_stages FAMILY NODES...
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "compiler/compile.h"
#include "graphs.h"

int main(int argc, char** argv) {
  inlay::Options options;
  options.rewrite = {};
  options.fuse = inlay::fuse::Mode::full;
  options.order = inlay::memory::StepOrder::memory;
  options.planning.planner = inlay::memory::Planner::search;
  options.backend = "llvm";
  options.dump_directory.clear();
  options.verify = false;
  for (const inlay::GraphFamily& family : inlay::graph_families()) {
    if (argc < 2 || std::strcmp(family.name, argv[1]) != 0) continue;
    for (int i = 2; i < argc; ++i) {
      const inlay::Lowered program = inlay::lower(family.graph_of(std::atoi(argv[i])), options);
      for (const auto& stage : program.seconds) std::cout << argv[i] << ' ' << stage.first << '\n';
    }
  }
}
