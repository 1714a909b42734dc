#pragma once
// The rows of ops/folds.def over registers of one width.
#include "backend/llvm/scalar.h"
#include "ops/fold_merge.h"

namespace inlay::llvm_backend {

/// How FoldMerge computes with registers.
struct FoldRegisters {
  FunctionEmitter& f;
  int width;
  Value* number(const Literal& literal) { return splat(f, constant(f.b, literal), width); }
  Value* op(ScalarOp op, DType dtype, std::span<Value* const> operands) {
    return emit_op(f, op, dtype, {operands.data(), operands.size()}, nullptr);
  }
  Value* cast(Value* x, DType from, DType to) { return emit_cast(f, x, from, to); }
};

/// The states of a fold that has met no point.
inline std::vector<Value*> states_of_nothing(FunctionEmitter& f, Fold fold, std::vector<DType> dtypes, int width) {
  FoldRegisters emit{f, width};
  return FoldMerge<Value*, FoldRegisters>(fold, std::move(dtypes), emit).nothing();
}

/// The states of the points of both, the later part being `b`.
inline std::vector<Value*> merged_states(FunctionEmitter& f, Fold fold, std::vector<DType> dtypes,
                                         llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(f.b);
  if (a.size() > 1) f.b.clearFastMathFlags();  // several ops round as they stand in the row
  FoldRegisters emit{f, width_of(a[0])};
  return FoldMerge<Value*, FoldRegisters>(fold, std::move(dtypes), emit)
      .merged({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace inlay::llvm_backend
