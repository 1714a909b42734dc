#pragma once
// Which step of a program waits for which.
//
// A step that reads waits for the one that wrote the bytes last; one that writes waits for that one too, and for all
// that have read them since. What needs a size that is found on the way waits for the step that finds it. A body is
// passed or not as a whole: what stands in it waits for its beginning, and what reads its results for its end.
#include <optional>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "support/small_vector.h"

namespace inlay::kernel {

/// Who used the bytes of each buffer last, as one goes through the steps. Buffers are roots.
class LastUses {
 public:
  explicit LastUses(const KernelProgram& program) : writer_(program.buffers.size()), readers_(program.buffers.size()) {}

  void add(StepId step, const StepAccess& access);

  /// None: no step so far.
  StepId writer(BufferId root) const { return writer_[root]; }

  /// Visits the last writer, and all that have read what it wrote.
  template <class Visit>
  void for_each_use(BufferId root, Visit visit) const {
    if (writer_[root].valid()) visit(writer_[root]);
    for (StepId reader : readers_[root]) visit(reader);
  }

  /// Visits the steps that one with this access waits for; some of them more than once.
  template <class Visit>
  void for_each_before(const StepAccess& access, Visit visit) const {
    for (BufferId b : access.reads) {
      if (writer_[b].valid()) visit(writer_[b]);
    }
    for (BufferId b : access.writes) for_each_use(b, visit);
  }

 private:
  IdMap<BufferId, StepId> writer_;
  IdMap<BufferId, std::vector<StepId>> readers_;  // since then
};

/// What all the steps of a program wait for.
class Dependences {
 public:
  explicit Dependences(const KernelProgram& program);

  /// The marker before the innermost body that the step stands in; none outside of bodies.
  StepId body_of(StepId step) const { return body_of_[step]; }

  /// The steps that wait for `first` and that `second` waits for, in order; of a loop or a cond beside them its
  /// beginning stands for all that is in it. None where there is too much to look through.
  std::optional<std::vector<StepId>> between(StepId first, StepId second) const;

 private:
  void wait(StepId step, StepId before) {
    if (before.valid() && before != step) before_[step].push_back(before);
  }

  IdMap<StepId, SmallVector<StepId, 4>> before_;  // it waits for these, at once
  IdMap<StepId, StepId> body_of_;
  std::vector<RegionSpan> regions_;
};

}  // namespace inlay::kernel
