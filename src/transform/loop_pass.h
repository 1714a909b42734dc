#pragma once
// What a pass from KernelProgram to KernelProgram is told besides its program.
//
// A loop pass takes kernels as fuse makes them, each a loop nest that stores or folds, and gives kernels that compute
// the same: fewer of them, with fewer buffers, or in another order. compiler/passes.cpp has the list. A pass knows no
// graph.
#include <utility>

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

using LoopPassFunction = kernel::KernelProgram(kernel::KernelProgram program, LoopPassContext& context);

/// Runs passes on copies of a program, to see what they would make of it: all that is not switched off, counted
/// nowhere.
class Trial {
 public:
  explicit Trial(const LoopPassContext& of) : caps_(of.caps), options_(of.pass.options()) {
    options_.max_rewrites = PassOptions().max_rewrites;
  }
  kernel::KernelProgram run(const char* name, LoopPassFunction* pass, kernel::KernelProgram program) const {
    PassContext counts(options_);
    LoopPassContext context{name, caps_, counts};
    return pass(std::move(program), context);
  }

 private:
  const kernel::BackendCaps& caps_;
  PassOptions options_;
};

}  // namespace inlay::transform
