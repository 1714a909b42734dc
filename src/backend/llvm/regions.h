#pragma once
// The loops and conds that are open while the steps of a program are emitted.
#include <optional>

#include "backend/llvm/function.h"
#include "kernel/regions.h"

namespace inlay::llvm_backend {

class RegionEmitter {
 public:
  RegionEmitter(FunctionEmitter& f, const std::vector<kernel::RegionSpan>& regions) : f_(f), regions_(regions) {}

  bool is_in_region() const { return !open_.empty(); }  // of this function

  void begin_loop(kernel::StepId step, const kernel::LoopBegin& loop);
  void end_loop(const kernel::LoopEnd& loop);
  void begin_cond(kernel::StepId step, const kernel::CondBegin& cond);
  void begin_else();
  void end_cond();
  /// The next step may find sizes, which are known to the end of the body.
  void begin_finding();

 private:
  /// What was known before the body found sizes.
  struct Outside {
    llvm::Instruction* spine;
    Sizes::Known sizes;
    std::vector<Value*> addresses;
  };
  struct Open {
    kernel::RegionSpan span;
    llvm::BasicBlock *head = nullptr, *after = nullptr;  // of a loop: where each pass begins; of a cond: its else
    std::vector<Value*> before, at_head;  // 0-d values before the region; at a pass's begin, or after `then`
    llvm::BasicBlock* then_end = nullptr;
    llvm::PHINode *step = nullptr, *go_on = nullptr;
    bool again = false;  // does a condition end it?
    std::vector<std::pair<BufferId, llvm::PHINode*>> carried;
    std::optional<Outside> outside;
  };

  Open& open(kernel::StepId begin);
  void close(std::vector<Value*> scalars);
  void forget_found(Open& region);
  Value* condition(BufferId buffer);

  FunctionEmitter& f_;
  const std::vector<kernel::RegionSpan>& regions_;
  std::vector<Open> open_;
};

}  // namespace inlay::llvm_backend
