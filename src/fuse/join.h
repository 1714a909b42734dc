#pragma once
// Two kernels become one where the second one waits for the first: what stands between them and has no part in either
// does not keep them apart.
#include <functional>

#include "kernel/kernel.h"

namespace inlay::fuse {

/// Makes the second kernel stages of the first, or leaves both as they are and returns false.
using TryJoin = std::function<bool(kernel::Kernel& first, kernel::Kernel& second)>;

/// What stands in a body was joined when that was fused. Offers each other kernel to those that it waits for, the last
/// one first; neither is 0-d arithmetic. What the second one waits for besides comes before both, the rest stays in
/// order. Steps that can fail keep theirs.
void join_kernels(kernel::KernelProgram& program, const TryJoin& try_join);

/// Adds the stages of `second`, and its outputs that `first` does not have.
void append(kernel::Kernel& first, kernel::Kernel second);

template <class Holds>
bool any_statement(const kernel::Kernel& kernel, Holds holds) {
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Statement& statement : stage.statements) {
      if (std::invoke(holds, statement)) return true;
    }
  }
  return false;
}

}  // namespace inlay::fuse
