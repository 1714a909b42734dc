#pragma once
// What stands at a point of a stage: values, stores, checks.
#include "backend/llvm/emit_division.h"
#include "backend/llvm/emit_fold.h"
#include "backend/llvm/emit_scatter.h"

namespace inlay::llvm_backend {

class StatementEmitter {
 public:
  StatementEmitter(NestState& nest, AccessEmitter& access, ScatterEmitter& scatter, DivisionEmitter& divisions,
                   FoldEmitter& folds)
      : nest_(nest),
        f_(nest.f),
        b_(nest.b),
        plan_(nest.plan),
        access_(access),
        scatter_(scatter),
        divisions_(divisions),
        folds_(folds) {}

  /// Everything at `level` but the vector loop; at the innermost level only where there is no loop at all.
  void emit_uniform(int level);
  void emit_statement(std::size_t i, Lanes& lanes);

 private:
  Value* emit_value(const kernel::Statement& statement, std::size_t i, Lanes& lanes);
  Value* emit_operation(const kernel::Statement& statement, Lanes& lanes);
  bool roots_wait() const;
  void emit_check(const kernel::Statement& statement, Lanes& lanes);

  Value* emit_load(std::size_t i, Lanes& lanes);
  bool also_reads(const kernel::Stage& stage, std::size_t i) const;
  Dim to_next_turn(std::size_t i) const;
  Value* to_later_rows(std::size_t i) const;
  void fetch_ahead(std::size_t i, const Place& place, const Lanes& lanes);
  void fetch(Value* address, int locality, bool to_write);

  void emit_store(std::size_t i, Lanes& lanes);
  bool packs(std::size_t i) const;
  void store_if(Value* predicate, std::size_t i, Value* value, Lanes& lanes);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  AccessEmitter& access_;
  ScatterEmitter& scatter_;
  DivisionEmitter& divisions_;
  FoldEmitter& folds_;
};

}  // namespace inlay::llvm_backend
