#pragma once
// Divisions by what a loop does not change, see emit_division.cpp.
#include <map>

#include "backend/llvm/nest_state.h"

namespace inlay::llvm_backend {

class DivisionEmitter {
 public:
  explicit DivisionEmitter(NestState& nest) : nest_(nest), f_(nest.f), b_(nest.b), plan_(nest.plan) {}

  /// Null: nothing is prepared, and it is to be divided.
  Value* divide_by_prepared(const kernel::Statement& division, llvm::ArrayRef<Value*> operands, Lanes& lanes);
  /// Before the loop over rows, which passes a tile of columns. `emit_statement` emits what the divisors need.
  void prepare_column_divisors(llvm::function_ref<void(std::size_t, Lanes&)> emit_statement);
  /// Behind the vector loop.
  void forget_divisors() { divisors_.clear(); }

 private:
  bool is_of_column(kernel::RegisterId r) const;
  std::vector<std::size_t> needed_by(llvm::ArrayRef<const kernel::Statement*> divisions) const;
  Value* column_address(Value* table, Value* point, llvm::Type* type);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  std::map<uint32_t, UniformDivisor> divisors_;         // by register
  std::map<uint32_t, UniformDivisor> column_divisors_;  // by register: addresses of their vectors in the tile
};

}  // namespace inlay::llvm_backend
