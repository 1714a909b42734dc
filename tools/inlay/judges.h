#pragma once
// Everything that can run a graph, behind one face: the two oracles and the backend.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "oracle/reference/tensor.h"

namespace inlay::tool {

struct Judge {
  std::string name;
  /// Outputs for these inputs; throws Error as a call would.
  std::function<std::vector<reference::Tensor>(std::span<const reference::Tensor>)> run;
};

/// One compilation, judged at every stage of its way:
///   reference      the graph as it was written
///   rewritten      the reference on the graph after rewriting
///   kernel         the kernels, each buffer alone in memory
///   kernel/naive   the kernels on planned bytes, one storage after the other
///   kernel/greedy  the kernels on planned bytes
///   llvm, or c     machine code of the backend that the options name, where it is available
///   llvm/guarded   the same, with guards round each storage and nothing shared but what the plan shares, asked to stop
///                  all the time and let go on
///   llvm/threads   the same kernels cut into the smallest blocks, as for one thread and as for several, on one and on
///                  others, with the same bytes
/// The first one that is wrong says which stage is.
struct Judges {
  std::shared_ptr<const Lowered> program;
  std::vector<Judge> list;

  const Judge& named(const std::string& name) const;
};

/// The graph must outlive them. Verifies after every stage.
Judges make_judges(const Graph& graph, Options options = {});

/// Of kernels that were read from a dump: those that begin with `kernel`, and the backend.
Judges make_judges(const kernel::KernelProgram& kernels, Options options = {});

Judge reference_judge(const Graph& graph);

}  // namespace inlay::tool
