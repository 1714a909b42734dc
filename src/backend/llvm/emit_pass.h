#pragma once
// The passes of the vector loop: all that stands in it, at the points of a vector or of several.
#include "backend/llvm/emit_statement.h"

namespace inlay::llvm_backend {

class PassEmitter {
 public:
  PassEmitter(NestState& nest, StatementEmitter& statements, SumRegisters& sums, SquaresEmitter& squares,
              FoldEmitter& folds)
      : nest_(nest),
        f_(nest.f),
        b_(nest.b),
        plan_(nest.plan),
        statements_(statements),
        sums_(sums),
        squares_(squares),
        folds_(folds) {}

  void emit_body(Lanes& lanes, std::vector<Value*>& sums);
  /// `unroll` vectors, the points of one and of the next `apart` from each other. Returns their sets of sums.
  std::vector<Value*> emit_vectors_at(Value* point, Value* apart, llvm::ArrayRef<llvm::PHINode*> sets);
  /// From `begin` to `end`, a multiple of what is passed at a time: `unroll` vectors, the points of one vector and of
  /// the next `apart` from each other. (Sums of squares go by turns.)
  void emit_vectors(Value* begin, Value* end, int64_t apart);
  /// The points that no longer fill what is passed at a time.
  void emit_masked(Value* begin, Value* end);
  /// The maximum of the first points, before any is summed: without that each of the first vectors has a greater one.
  void look_ahead(Value* begin, Value* end);

 private:
  std::vector<std::size_t> sums_that_look_ahead() const;

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  StatementEmitter& statements_;
  SumRegisters& sums_;
  SquaresEmitter& squares_;
  FoldEmitter& folds_;
};

}  // namespace inlay::llvm_backend
