#pragma once
// Everything that can run a graph, behind one face: the two oracles and the backends.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lower.h"
#include "reference/tensor.h"

namespace inlay::tool {

struct Judge {
  std::string name;   // "reference", "kernel", "kernel/greedy", "llvm", ...
  /// Outputs for these inputs; throws Error as a call would.
  std::function<std::vector<reference::Tensor>(std::span<const reference::Tensor>)> run;
};

/// The reference first, then every other that this build has. The graph must outlive them.
/// Throws Error(internal) with what a verifier says against the program on its way.
std::vector<Judge> make_judges(const Graph& graph, const JudgeOptions& options = {});
Judge reference_judge(const Graph& graph);

}  // namespace inlay::tool
