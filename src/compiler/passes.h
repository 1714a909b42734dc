#pragma once
// The two lists of passes: on graphs, and on kernels. fuse/fuse.h comes between the lists; compile.cpp shows the whole
// route.
#include <optional>
#include <span>
#include <string_view>

#include "compiler/options.h"
#include "ir/graph.h"
#include "kernel/kernel.h"
#include "transform/loop_pass.h"

namespace inlay {

/// The fusion modes (fuse::Mode) that a pass runs in; `single_precision`: in all, where that is asked for.
enum class PassIn : uint8_t { all_modes, full_fusion, single_precision };

struct GraphPass {
  using In = PassIn;
  const char* name;
  const char* what;                                                       // for readers of the list
  std::optional<Graph> (*run)(const Graph& graph, PassContext& context);  // nothing: the graph stays as it is
  In in = In::all_modes;
};

/// Makes a GraphPass of a pass that returns a new graph whether anything changes or not.
template <Graph (*pass)(const Graph&, PassContext&)>
std::optional<Graph> anew(const Graph& graph, PassContext& context) {
  return pass(graph, context);
}

struct LoopPass {
  enum class Of : uint8_t { bodies_too, whole };  // whole: not the bodies of loops and conds by themselves
  using In = PassIn;
  struct Context : transform::LoopPassContext {
    const Options& options;
    std::optional<memory::Sharing>& sharing;  // of the program, if an earlier pass has decided it
    std::string order_gain;                   // what the order of the steps saves (memory/step_order.h)
  };
  const char* name;
  const char* what;
  kernel::KernelProgram (*run)(kernel::KernelProgram program, Context& context);
  In in = In::all_modes;
  Of of = Of::bodies_too;
  bool is_needed = false;  // cannot be switched off: it changes no loop, and later steps rely on it
};

/// Returns the program with its sharing, which is moved out of `sharing`, or decided if no pass has set it.
memory::SharedProgram shared(kernel::KernelProgram program, std::optional<memory::Sharing>& sharing,
                             const Options& options);

std::span<const GraphPass> graph_passes();
std::span<const LoopPass> loop_passes();

/// Returns the passes of a list up to and including the one of that name; all if the list does not have it.
template <class Pass>
std::span<const Pass> up_to(std::string_view name, std::span<const Pass> list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::string_view(list[i].name) == name) return list.first(i + 1);
  }
  return list;
}

/// Returns only the pass of that name; nothing if the list does not have it.
template <class Pass>
std::span<const Pass> only(std::string_view name, std::span<const Pass> list) {
  const std::span<const Pass> found = up_to(name, list);
  return !found.empty() && std::string_view(found.back().name) == name ? found.last(1) : list.first(0);
}

/// Throws Error(unknown-name), with the nearest name, if neither list has a pass of that name and it is not `fuse`.
void require_pass(std::string_view name);

}  // namespace inlay
