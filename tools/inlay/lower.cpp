#include "lower.h"

#include "fuse/fuse.h"

namespace inlay::tool {

kernel::KernelProgram lower(const Graph& graph, const JudgeOptions& options) {
  kernel::BackendCaps caps;
  caps.support = [](ScalarOp, DType) { return kernel::Support::vector; };
  return fuse::fuse(graph, caps, options.fusing == Fusing::none ? fuse::Mode::none : fuse::Mode::all);
}

}  // namespace inlay::tool
