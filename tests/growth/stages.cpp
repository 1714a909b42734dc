// What growth_test counts: compiles graphs of one family, and prints what ended, in order.
//
//   growth_stages FAMILY WHAT NODES...
//
// WHAT is `stages`: each stage of lowering, at whose end Instrument::add_seconds runs; `lower`: all of them as one; or
// a row of kParts: what comes before it, and that. At the end of those `ended` runs.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string_view>

#include "backend/c/backend.h"
#include "compiler/backends.h"
#include "compiler/compile.h"
#include "explain/memory_map.h"
#include "export/export.h"
#include "graphs.h"
#include "ir/text.h"
#include "kernel/text.h"
#include "onnx/import.h"

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
  ended(nodes, what);
}

// Each makes what its part needs, and returns what is counted.

using Part = std::function<void()>;

std::shared_ptr<const Lowered> lowered(const Graph& graph) {
  return std::make_shared<const Lowered>(lower(graph, all_options()));
}

Part single_precision(const Graph& graph) {
  return [&graph] { run_pass(graph, "single-precision", all_options()); };
}

Part emit(const Graph& graph) {
  return [program = lowered(graph), options = all_options()] {
    backend_of(options).emit(program->kernels, program->plan, options, KeepTexts::no);
  };
}

Part emit_c(const Graph& graph) {
  return [program = lowered(graph)] { c_backend::source_of(program->kernels, program->plan); };
}

/// The placements that are tried, for sizes of 100.
Part plan_by_max(const Graph& graph) {
  const auto program = lowered(graph);
  const std::vector<int64_t> symbols(program->kernels.symbols.size(), 100);
  return [storages = memory::storages_of_segment(program->plan.sharing, 0, symbols)] {
    memory::plan(memory::Planner::max, storages);
  };
}

Part explain_all(const Graph& graph) {
  return [program = lowered(graph)] {
    print(program->graph);
    kernel::print(program->kernels);
    explain::memory_map(program->kernels, program->plan);
    explain::stored_table(program->kernels, program->plan);
    program->apart();
  };
}

/// All of it: what is exported is read, and lowered for other options.
Part export_c(const Graph& graph) {
  return [text = print(graph)] {
    exported(text, "graph", {.name = "graph", .kind = ExportKind::c, .options = all_options()});
  };
}

/// A network as long as the graph.
Part import_onnx(const Graph& graph) {
  onnx::Model model{.file = "network", .ir_version = 10, .opsets = {{"", 21}}};
  const int64_t f32 = onnx::type_of_dtype(DType::f32);
  const auto vector = [&](const std::string& name) {
    return onnx::Declared{name, onnx::Declared::Kind::tensor, f32, {{{{}, "n"}}}};
  };
  model.graph.inputs = {vector("x0")};
  const std::size_t count = graph.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    constexpr const char* kOps[] = {"Add", "Softmax", "Mul", "Relu"};
    onnx::Node node{.name = str("node", i), .op = kOps[i % 4], .inputs = {str("x", i)}, .outputs = {str("x", i + 1)}};
    if (i % 2 == 0) node.inputs.push_back(str("x", i / 2));
    model.graph.nodes.push_back(std::move(node));
  }
  model.graph.outputs = {vector(str("x", count))};
  return [model = std::move(model)] { onnx::import_model(model); };
}

struct NamedPart {
  std::string_view name;
  Part (*of)(const Graph& graph);
};
constexpr NamedPart kParts[] = {{"single-precision", single_precision},
                                {"emit", emit},
                                {"emit-c", emit_c},
                                {"max", plan_by_max},
                                {"explain", explain_all},
                                {"export", export_c},
                                {"import-onnx", import_onnx}};

void count_part(const GraphFamily& family, const NamedPart& part, const char* nodes) {
  const Graph graph = family.graph_of(std::atoi(nodes));
  const Part run = part.of(graph);
  ended(nodes, "before");
  run();
  ended(nodes, part.name);
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  for (const inlay::GraphFamily& family : inlay::graph_families()) {
    if (argc < 3 || family.name != std::string_view(argv[1])) continue;
    const auto* const part = std::ranges::find(inlay::kParts, std::string_view(argv[2]), &inlay::NamedPart::name);
    for (int i = 3; i < argc; ++i) {
      part == std::end(inlay::kParts) ? inlay::count(family, argv[2], argv[i])
                                      : inlay::count_part(family, *part, argv[i]);
    }
  }
}
