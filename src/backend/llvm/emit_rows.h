#pragma once
// The loop over short rows that are folded, see emit_rows.cpp.
#include "backend/llvm/emit_pass.h"

namespace inlay::llvm_backend {

class RowEmitter {
 public:
  RowEmitter(NestState& nest, AccessEmitter& access, DivisionEmitter& divisions, StatementEmitter& statements,
             SumRegisters& sums, FoldEmitter& folds, PassEmitter& passes)
      : nest_(nest),
        f_(nest.f),
        b_(nest.b),
        plan_(nest.plan),
        access_(access),
        divisions_(divisions),
        statements_(statements),
        sums_(sums),
        folds_(folds),
        passes_(passes) {}

  /// Where the rows of the loop that opens at `level` are short, all of them, or all but what is left over of
  /// several. Returns those that are left to pass.
  Range emit_short_rows(int level);

 private:
  /// Calls `row` with the first of each `step` rows, and looks in between whether to end.
  void pass_rows(int level, Range rows, int step, llvm::function_ref<void()> row);
  void emit_row(int level, Value* end_of_whole, const Lanes& rest, Value* has_rest);
  using Rows = std::vector<std::vector<Value*>>;  // of each, or of several side by side, all states
  void emit_rows_at_once(int level, const Lanes& vector, Value* end);
  Rows states_of_rows(int level, const Lanes& first, Value* end);
  void pass_rest(int level, std::vector<Value*>& states, llvm::ArrayRef<Value*> points, llvm::ArrayRef<Lanes> uniform,
                 int64_t passed, Value* end);
  bool pass_in_one_loop() const;
  bool merges_long() const;
  std::vector<Value*> reduced(std::size_t k, std::size_t count, const Rows& rows, Value* end);
  Rows halves(const Rows& parts, llvm::ArrayRef<int> lanes);
  bool lie_side_by_side(int level) const;
  void begin_row(int level);
  void leave_row(const Lanes& outside);
  void forget_row(const Lanes& outside);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  AccessEmitter& access_;
  DivisionEmitter& divisions_;
  StatementEmitter& statements_;
  SumRegisters& sums_;
  FoldEmitter& folds_;
  PassEmitter& passes_;
};

}  // namespace inlay::llvm_backend
