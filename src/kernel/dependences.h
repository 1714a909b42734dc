#pragma once
// Dependences: which step of a program waits for which.
//
// A step that reads waits for the last writer of the bytes; a step that writes also waits for all that have read them
// since. A step that takes an index for checked waits for the steps that check at its site: before them it would write
// anywhere. A step that needs a size found during the run waits for the step that finds it. A body runs or not as a
// whole: its steps wait for its beginning, and readers of its results wait for its end.
#include <optional>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "support/small_vector.h"

namespace inlay::kernel {

/// The last uses of each buffer as one goes through the steps. Buffers are roots.
class LastUses {
 public:
  explicit LastUses(const KernelProgram& program)
      : writer_(program.buffers.size()), readers_(program.buffers.size()), checkers_(program.sites.size()) {}

  void add(StepId step, const StepAccess& access);

  /// Returns the last step that wrote the buffer; none if no step has.
  StepId writer(BufferId root) const { return writer_[root]; }

  /// Visits the last writer and all readers since.
  template <class Visit>
  void for_each_use(BufferId root, Visit visit) const {
    if (writer_[root].valid()) visit(writer_[root]);
    for (StepId reader : readers_[root]) visit(reader);
  }

  /// Visits the steps that a step with this access waits for; some of them more than once.
  template <class Visit>
  void for_each_before(const StepAccess& access, Visit visit) const {
    for (BufferId b : access.reads) {
      if (writer_[b].valid()) visit(writer_[b]);
    }
    for (BufferId b : access.writes) for_each_use(b, visit);
    for (SiteId site : access.checked_before) {
      for (StepId checker : checkers_[site]) visit(checker);
    }
  }

 private:
  IdMap<BufferId, StepId> writer_;
  IdMap<BufferId, std::vector<StepId>> readers_;  // since the last write
  IdMap<SiteId, std::vector<StepId>> checkers_;
};

/// The dependences of all steps of a program.
class Dependences {
 public:
  explicit Dependences(const KernelProgram& program);

  /// Returns the marker before the innermost body that holds the step; none outside of bodies.
  StepId body_of(StepId step) const { return body_of_[step]; }

  /// Returns the steps that wait for `first` and that `second` waits for, in order. For a loop or cond that holds
  /// neither of the two, its beginning represents all of its body. Returns nothing if there is too much to look
  /// through.
  std::optional<std::vector<StepId>> between(StepId first, StepId second) const;

 private:
  void wait(StepId step, StepId before) {
    if (before.valid() && before != step) before_[step].push_back(before);
  }

  IdMap<StepId, SmallVector<StepId, 4>> before_;  // the steps that it waits for directly
  IdMap<StepId, StepId> body_of_;
  std::vector<RegionSpan> regions_;
};

}  // namespace inlay::kernel
