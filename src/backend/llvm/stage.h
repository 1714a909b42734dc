#pragma once
// One loop nest while it is being written.
//
// Loops over the outer axes of the stage are plain; the innermost runs in vectors: whole ones first, then one pass
// under a mask for what is left. Statements are emitted at their level (stage_plan.h), so nothing is computed in a loop
// that does not change in it, without any pass of LLVM to find that out.
#include "backend/llvm/emit_division.h"
#include "backend/llvm/emit_fold.h"
#include "backend/llvm/emit_scatter.h"

namespace inlay::llvm_backend {

class StageEmitter {
 public:
  /// `outer_points`: where the kernel's outer loops are. `tile`: the points of its last outer axis, where it is tiled.
  StageEmitter(FunctionEmitter& f, const kernel::Kernel& kernel, const kernel::Stage& stage, StagePlan plan,
               llvm::ArrayRef<Value*> outer_points, Range tile);
  void emit();

 private:
  // ---- emit_stage.cpp: loops
  void emit_level(int level);
  void emit_loop(int level);
  void emit_uniform(int level);
  void emit_vector_axis();
  void emit_vectors(Value* begin, Value* end, int64_t apart);
  std::vector<Value*> emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets);
  void emit_summing(Value* begin, Value* end);
  void emit_masked(Value* begin, Value* end);
  void emit_aligned(Value* begin, Value* end);
  void emit_body(Lanes& lanes, std::vector<Value*>& sums);
  void emit_statement(std::size_t i, Lanes& lanes);
  Value* emit_value(const kernel::Statement& statement, std::size_t i, Lanes& lanes);
  Value* emit_operation(const kernel::Statement& statement, Lanes& lanes);
  bool roots_wait() const;
  void emit_check(const kernel::Statement& statement, Lanes& lanes);

  Value* emit_load(std::size_t i, Lanes& lanes);
  bool also_reads(const kernel::Stage& stage, std::size_t i) const;
  Dim to_next_turn(std::size_t i) const;
  void fetch_ahead(std::size_t i, const Place& place, const Lanes& lanes);
  void fetch(Value* address, int locality, bool to_write);
  void emit_store(std::size_t i, Lanes& lanes);
  bool packs(std::size_t i) const;
  void store_if(Value* predicate, std::size_t i, Value* value, Lanes& lanes);

  void look_ahead(Value* begin, Value* end);

  // ---- emit_turns.cpp: sums as trees
  static constexpr uint64_t kVectorBytes = 64;
  bool is_stacked(std::size_t sum) const;
  std::vector<Value*> put_together(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  Value* added_to(std::size_t sum, llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  Value* stacked(std::size_t sum, Value* level);
  void unstack(Value* least, Value* height);
  Value* height_after(Value* count);
  Value* level_of_turn(Value* count, Value* height);
  void stack_sums(Value* level, Value* height);
  struct Turn {
    Value* quarter = nullptr;     // its points
    Value* is_quarter = nullptr;  // null: it always is
  };
  Value* emit_turns(Value* begin, Value* end);
  bool passes_in_order() const;
  Turn begin_turn(const Loop& turns, Value* quarter, Value* in_quarters, Value* whole);
  void emit_block(Value* begin, Value* in_quarters, Value* whole);
  void emit_blocks(Value* begin, Value* in_quarters, Value* whole);
  /// What was passed before the turns begin.
  struct Pages {
    Value *end = nullptr, *turns = nullptr;
  };
  Pages emit_pages(Value* begin, Value* end);
  void emit_group(Value* begin);
  std::vector<Value*> added_to_each(llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> values);
  void emit_turn(Value* begin, Value* quarter);

  // ---- emit_columns.cpp: folds of rows
  void emit_columns(int level);
  void emit_strips(int level, Range rows, Range columns, bool masked);
  std::vector<Value*> fold_rows(int level, Range rows, llvm::ArrayRef<Lanes> strip);
  std::vector<Value*> merged_columns(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);

  const kernel::Statement& statement(std::size_t i) const { return nest_.statement(i); }

  NestState nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  StagePlan& plan_;
  AccessEmitter access_;
  ScatterEmitter scatter_;
  DivisionEmitter divisions_;
  Value* block_points_ = nullptr;  // how many points a block has, but for the last
  SumRegisters sums_;
  SquaresEmitter squares_;
  FoldEmitter folds_;
};

}  // namespace inlay::llvm_backend
