#pragma once
// What a pass from KernelProgram to KernelProgram is told besides its program.
//
// A loop pass takes kernels as fuse makes them, each a loop nest that stores or folds, and gives kernels that compute
// the same: fewer of them, with fewer buffers, or in another order. compiler/passes.cpp has the list. A pass knows no
// graph.
#include "kernel/caps.h"
#include "kernel/kernel.h"
#include "support/pass_context.h"

namespace inlay::transform {

struct LoopPassContext {
  const kernel::BackendCaps& caps;
  PassContext& pass;  // counts what is done, and may say that no more is

  /// May the pass change one thing more? Counts it.
  bool fires(const char* pass_name) { return pass.fires(pass_name, Close::bitwise); }
};

}  // namespace inlay::transform
