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
  const char* name;  // of the pass that runs
  const kernel::BackendCaps& caps;
  PassContext& pass;  // counts what is done, and may say that no more is

  /// May the pass change one thing more?
  bool allows() const { return pass.allows(name, Close::bitwise); }
  /// It has: counts it.
  void fired() { pass.fired(name); }
  /// May it, and then it does.
  bool fires() { return pass.fires(name, Close::bitwise); }
};

}  // namespace inlay::transform
