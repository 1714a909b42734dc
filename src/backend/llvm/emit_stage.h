#pragma once
// One loop nest while it is being written.
//
// Loops over the outer axes of the stage are plain; the innermost runs in vectors: whole ones first, then one pass
// under a mask for what is left. Statements are emitted at their level (kernel/nest.h), so nothing is computed in a
// loop that does not change in it, without any pass of LLVM to find that out.
#include "backend/llvm/emit_columns.h"
#include "backend/llvm/emit_rows.h"
#include "backend/llvm/emit_turns.h"

namespace inlay::llvm_backend {

class StageEmitter {
 public:
  StageEmitter(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
               const StagePart& part);
  void emit();
  /// What lane_states are of two parts of the points that follow each other, at the addresses of the first's.
  void emit_merge(Value* states, Value* later);
  void emit_no_lane_states(Value* states);
  uint64_t lane_state_bytes() const;

 private:
  void emit_level(int level);
  Value* lines_leave_cache(Value* rows);
  void emit_loop(int level);
  std::vector<uint64_t> lane_state_offsets() const;
  std::vector<Value*> lane_state_places(Value* states) const;
  std::vector<Value*> load_lane_states(Value* states);
  void store_lane_states(Value* states, llvm::ArrayRef<Value*> values);
  void emit_plain_loop(int level, Range range);
  void emit_vector_axis();
  void emit_aligned(Value* begin, Value* end);

  NestState nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  Value* block_points_ = nullptr;  // how many points a block has, but for the last

  AccessEmitter access_;
  ScatterEmitter scatter_;
  DivisionEmitter divisions_;
  SumRegisters sums_;
  SquaresEmitter squares_;
  FoldEmitter folds_;
  StatementEmitter statements_;
  PassEmitter passes_;
  TurnEmitter turns_;
  ColumnEmitter columns_;
  RowEmitter rows_;
};

}  // namespace inlay::llvm_backend
