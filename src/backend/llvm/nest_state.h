#pragma once
// Where the nest of a stage is while it is being written, and what is known there.
#include <llvm/ADT/STLFunctionalExtras.h>

#include "backend/llvm/lanes.h"
#include "backend/llvm/stage_plan.h"

namespace inlay::llvm_backend {

/// The points of an axis that a loop passes.
struct Range {
  Value *begin = nullptr, *end = nullptr;
};

/// Where a stage runs: in the kernel's outer loops, and of a loop of its own which points.
struct StagePart {
  llvm::ArrayRef<Value*> outer_points;  // where the kernel's outer loops are
  Range tile;                           // the points of its last outer axis, where it is tiled
  int cut_level = -1;                   // the loop that opens there passes `block` alone
  Range block;
  Value* lane_states = nullptr;  // where sums begin and end, lane by lane; null: at the elements that they are of
  Value* is_end = nullptr;       // with those: their elements get what the lanes have come to
};

class NestState {
 public:
  NestState(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
            const StagePart& part);

  const kernel::Statement& statement(std::size_t i) const { return stage.statements[i]; }
  /// What the loop that opens at `level` passes.
  Range range_of(int level);
  Value*& point_of(int axis) { return points_[static_cast<std::size_t>(axis)]; }

  Lanes lanes_at(Value* point) const;
  /// Those of them that stand before `end` count.
  Lanes lanes_before(Value* end, Value* point) const;
  Value* operand(kernel::RegisterId r, Lanes& lanes);
  /// What `emit` emits stands just before the vector loop.
  Value* hoisted(llvm::function_ref<Value*()> emit);
  /// Before the vector loop: a block of its own, so that what the loop turns out to need can still be put there.
  void enter_vectors(const char* name);
  /// Behind the vector loop: what does not vary in it is `outside` again.
  void leave_vectors(Lanes outside);

  FunctionEmitter& f;
  llvm::IRBuilder<>& b;
  const kernel::Kernel& kernel;
  const kernel::Stage& stage;
  StagePlan plan;
  const StagePart part;                // (its outer points are the caller's, and gone)
  Lanes uniform;                       // what does not vary in the vector loop
  Value* block = nullptr;              // where the block of the vector axis begins; null: there is one
  llvm::Instruction* hoist = nullptr;  // just before the vector loop

 private:
  std::vector<Value*> points_;  // by axis; of the vector axis: none
  std::vector<Value*> splats_;  // by register
};

}  // namespace inlay::llvm_backend
