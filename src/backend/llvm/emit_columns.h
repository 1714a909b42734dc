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
  void emit_strips(int level, Range rows, Range columns, bool masked);
  std::vector<Value*> fold_rows(int level, Range rows, llvm::ArrayRef<Lanes> strip);

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
