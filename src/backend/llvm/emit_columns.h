#pragma once
// The loops of a stage that folds rows, see emit_columns.cpp.
#include "backend/llvm/emit_pass.h"

namespace inlay::llvm_backend {

class ColumnEmitter {
 public:
  ColumnEmitter(NestState& nest, AccessEmitter& access, DivisionEmitter& divisions, StatementEmitter& statements,
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

  /// The loop over rows, which opens at `level`, and what is in it.
  void emit_columns(int level);

 private:
  void for_each_strip(llvm::ArrayRef<int> numbers_of_vectors,
                      llvm::function_ref<void(llvm::MutableArrayRef<Lanes>)> visit);
  void fold_rows(int level, Range rows);
  std::vector<Value*> states_of_rows(int level, Range rows, llvm::MutableArrayRef<Lanes> strip);
  std::vector<Value*> nothing(std::size_t vectors) const;
  Value* end_of(Value* begin, int64_t most, Value* end);

  /// What the stack has of the columns of a vector of the chunk.
  std::vector<Value*> places_of(Value* point);
  std::vector<Value*> states(llvm::ArrayRef<Value*> places);
  void set_states(llvm::ArrayRef<Value*> places, llvm::ArrayRef<Value*> states);

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
  Range chunk_;  // of columns
};

}  // namespace inlay::llvm_backend
