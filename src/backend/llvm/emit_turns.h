#pragma once
// The loop of a stage that sums floats, see emit_turns.cpp.
#include "backend/llvm/emit_pass.h"

namespace inlay::llvm_backend {

class TurnEmitter {
 public:
  TurnEmitter(NestState& nest, SumRegisters& sums, SquaresEmitter& squares, FoldEmitter& folds, PassEmitter& passes)
      : nest_(nest),
        f_(nest.f),
        b_(nest.b),
        plan_(nest.plan),
        sums_(sums),
        squares_(squares),
        folds_(folds),
        passes_(passes) {}

  /// The vector loop, from `begin` to `end`.
  void emit_summing(Value* begin, Value* end);

 private:
  static constexpr uint64_t kVectorBytes = 64;
  bool is_stacked(std::size_t sum) const;
  std::vector<Value*> put_together(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  Value* added_to(std::size_t sum, llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  std::vector<Value*> added_to_each(llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> values);

  // ---- the stack
  Value* stacked(std::size_t sum, Value* level);
  void unstack(Value* minimum, Value* height);
  Value* height_after(Value* count);
  Value* level_of_turn(Value* count, Value* height);
  void stack_sums(Value* level, Value* height);

  // ---- turns
  struct Turn {
    Value* quarter = nullptr;     // its points
    Value* is_quarter = nullptr;  // null: it always is
  };
  Value* emit_turns(Value* begin, Value* end);
  bool passes_in_order() const;
  Turn begin_turn(const Loop& turns, Value* quarter, Value* in_quarters, Value* whole);
  void emit_turn(Value* begin, Value* quarter);
  void emit_block(Value* begin, Value* in_quarters, Value* whole);
  void emit_blocks(Value* begin, Value* in_quarters, Value* whole);
  /// What was passed before the turns begin.
  struct Pages {
    Value *end = nullptr, *turns = nullptr;
  };
  Pages emit_pages(Value* begin, Value* end);
  void emit_group(Value* begin);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  SumRegisters& sums_;
  SquaresEmitter& squares_;
  FoldEmitter& folds_;
  PassEmitter& passes_;
};

}  // namespace inlay::llvm_backend
