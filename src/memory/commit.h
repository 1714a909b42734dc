#pragma once
// May bytes that are the caller's be written at a step?
//
// A call that fails has changed none of them. So they are written only after everything that can fail: no later step
// can, and the writing step itself only in stages before those that write.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "memory/liveness.h"
#include "memory/plan.h"

namespace inlay::memory {

class Commit {
 public:
  Commit(const kernel::KernelProgram& program, const Liveness& liveness);

  /// Empty: whatever writes `buffer` may write it in the bytes of `given`, a parameter. Otherwise why not, as a clause
  /// about that. Both are roots.
  std::string why_not(kernel::BufferId buffer, kernel::BufferId given) const;

 private:
  std::string why_not(kernel::BufferId buffer, kernel::BufferId given, kernel::StepId step) const;

  const kernel::KernelProgram& program_;
  const Liveness& liveness_;
  kernel::StepId last_failing_;  // none: no step can fail
  std::vector<kernel::RegionSpan> loops_;
};

/// By output: nothing can fail once a byte of its memory has been written, be it by what is made there for the output.
/// So a caller's own memory may be given for it; for any other one it is to be computed elsewhere and copied at the
/// end.
std::vector<bool> written_last(const kernel::KernelProgram& program, const Sharing& sharing);

/// By step: may a byte of an output, or of a donated parameter, have been written before it has ended? An interruption
/// from there on is one that the caller's own memory would show.
std::vector<bool> may_have_written(const kernel::KernelProgram& program, const Sharing& sharing);

}  // namespace inlay::memory
