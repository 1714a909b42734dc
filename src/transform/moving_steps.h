#pragma once
// The steps of a program while a pass moves some of them.
//
// A step keeps its id, so that what is known of it stays true, and lists of ids give the order: of all steps, and of
// those that name a buffer. What a pass asks about the steps between two it asks only those that can have a part in it,
// in a time that does not grow with the distance.
#include <initializer_list>
#include <span>
#include <vector>

#include "kernel/kernel.h"

namespace inlay::transform {

class MovingSteps {
 public:
  explicit MovingSteps(kernel::KernelProgram& program);

  using Steps = std::span<const kernel::StepId>;  // in order, until one moves or changes

  /// The steps from `first` to `last`, each of the two included: all; those that name the buffer with this root or a
  /// view of it; those that bind sizes.
  Steps all(kernel::StepId first, kernel::StepId last) const { return between(order_, first, last); }
  Steps naming(kernel::BufferId root, kernel::StepId first, kernel::StepId last) const {
    return between(naming_[root], first, last);
  }
  Steps binding(kernel::StepId first, kernel::StepId last) const { return between(binding_, first, last); }

  /// All steps that name the buffer or a view of it.
  Steps naming(kernel::BufferId root) const { return naming_[root]; }

  bool is_before(kernel::StepId a, kernel::StepId b) const { return at_[a] < at_[b]; }

  /// The step has changed: of these buffers it may name others.
  void changed(kernel::StepId step, std::initializer_list<kernel::BufferId> buffers);

  void add_before(kernel::StepId other, kernel::Step step);
  void move_behind(kernel::StepId other, kernel::StepId step);

  /// Gives the steps to the program in their order. Nothing can be asked after that.
  void finish();

 private:
  Steps between(const std::vector<kernel::StepId>& list, kernel::StepId first, kernel::StepId last) const;
  void add(std::vector<kernel::StepId>& list, kernel::StepId step) const;
  void remove(std::vector<kernel::StepId>& list, kernel::StepId step) const;
  void add_to_lists(kernel::StepId step);
  int64_t label_before(std::size_t index);

  kernel::KernelProgram& program_;
  IdMap<kernel::StepId, int64_t> at_;  // grows along the program, with gaps for what will stand between
  std::vector<kernel::StepId> order_, binding_;
  IdMap<kernel::BufferId, std::vector<kernel::StepId>> naming_;  // by root
};

}  // namespace inlay::transform
