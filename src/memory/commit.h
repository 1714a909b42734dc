#pragma once
// Decides whether a step may write bytes of the caller.
//
// A call that fails has changed none of them. So they are written only after everything that can fail: no later step
// can fail, and the writing step itself only in stages before those that write.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "memory/liveness.h"
#include "memory/plan.h"

namespace inlay::memory {

class Commit {
 public:
  Commit(const kernel::KernelProgram& program, const Liveness& liveness);

  /// Says why the steps that write `buffer` may not write it in the bytes of `given`, a parameter, as a clause about
  /// `given`; empty if they may. Both are roots.
  std::string why_not(kernel::BufferId buffer, kernel::BufferId given) const;

 private:
  std::string why_not(kernel::BufferId buffer, kernel::BufferId given, kernel::StepId step) const;

  const kernel::KernelProgram& program_;
  const Liveness& liveness_;
  kernel::StepId last_failing_;            // none: no step can fail
  std::vector<kernel::RegionSpan> loops_;  // around that step
};

/// Returns, by output, whether nothing can fail once a byte of its memory is written, also by a value that is made
/// there first. Only then the caller's own memory may be passed for the output; otherwise it is computed elsewhere and
/// copied at the end.
std::vector<bool> written_last(const kernel::KernelProgram& program, const Sharing& sharing);

/// Returns, by step, whether a byte of an output or of a donated parameter may have been written before the step ends.
/// An interruption after that would be visible in the caller's memory.
std::vector<bool> may_have_written(const kernel::KernelProgram& program, const Sharing& sharing);

}  // namespace inlay::memory
