#include "transform/name_kernels.h"

namespace inlay::transform {

using kernel::Kernel;
using kernel::KernelProgram;

KernelProgram name_kernels(KernelProgram program, LoopPassContext&) {
  int next = 0;
  for (kernel::Step& step : program.steps) {
    Kernel* kernel = std::get_if<Kernel>(&step);
    if (kernel && !kernel->is_scalar()) kernel->name = str("k", next++);
  }
  return program;
}

}  // namespace inlay::transform
