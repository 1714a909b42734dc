// Divisions by what a loop does not change: one number for all its points, or one for each column while it passes rows.
// See uniform_division.cpp.
#include "backend/llvm/emit_division.h"

#include <algorithm>

#include "kernel/live.h"
#include "kernel/tiles.h"

namespace inlay::llvm_backend {

using kernel::Statement;
using Kind = Statement::Kind;

Value* DivisionEmitter::divide_by_prepared(const Statement& division, llvm::ArrayRef<Value*> operands, Lanes& lanes) {
  const bool is_real = division.dtype == DType::f64 || division.dtype == DType::f32;
  if (!is_real || lanes.width == 1 || !f_.engine.facts().fma) return nullptr;
  const uint32_t divisor = division.operands[1].index;
  if (const auto found = column_divisors_.find(divisor); found != column_divisors_.end()) {
    UniformDivisor here = found->second;
    for_each_part(here, [&](Value*& part) {
      llvm::Type* type = operands[0]->getType();
      part = b_.CreateAlignedLoad(type, column_address(part, lanes.point, type), alignment_of(division.dtype));
    });
    return divide(f_, operands[0], here, lanes.active);
  }
  // Preparing the divisor takes a division itself.
  const Dim& points = plan_.vector_extent();
  const bool may_be_few = plan_.vectors_pass_tile() && !kernel::rows_at_once(nest_.kernel).is_constant();
  const bool is_worth_it = !may_be_few && (!points.is_constant() || points.constant() >= 4 * plan_.width);
  if (plan_.varies(division.operands[1]) || !is_worth_it) return nullptr;
  if (!divisors_.contains(divisor)) {
    Value* number = nest_.uniform.registers[divisor];
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    // Where it is computed: what does not change from row to row is prepared before the first.
    if (auto* computed = llvm::dyn_cast<llvm::Instruction>(number)) {
      b_.SetInsertPoint(*computed->getInsertionPointAfterDef());
    } else if (nest_.hoist) {
      b_.SetInsertPoint(nest_.hoist);
    }
    divisors_[divisor] = prepare_divisor(f_, number, lanes.width);
  }
  return divide(f_, operands[0], divisors_[divisor], lanes.active);
}

/// A tile of columns is passed row by row, and each row divided by the same numbers: what the division needs of them is
/// made once for the tile, on the stack.
void DivisionEmitter::prepare_column_divisors(llvm::function_ref<void(std::size_t, Lanes&)> emit_statement) {
  constexpr int64_t kFewRows = 4;
  const Dim& rows = plan_.loop(plan_.innermost() - 2).extent;
  if (!plan_.vectors_pass_tile() || (rows.is_constant() && rows.constant() < kFewRows)) return;
  std::vector<const Statement*> divisions;
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const Statement& s = nest_.statement(i);
    const bool is_real = s.dtype == DType::f64 || s.dtype == DType::f32;
    if (!plan_.statements[i].live || s.kind != Kind::op || s.op != ScalarOp::div_ || !is_real) continue;
    if (is_of_column(s.operands[1])) divisions.push_back(&s);
  }
  if (divisions.empty() || !f_.engine.facts().fma) return;

  const Loop loop = open_loop(b_, nest_.part.tile.begin, {});
  Lanes lanes = nest_.lanes_before(nest_.part.tile.end, loop.point);
  for (std::size_t i : needed_by(divisions)) emit_statement(i, lanes);
  for (const Statement* division : divisions) {
    const kernel::RegisterId divisor = division->operands[1];
    if (column_divisors_.contains(divisor.index)) continue;
    UniformDivisor parts = prepare_divisor(f_, nest_.operand(divisor, lanes), plan_.width);
    for_each_part(parts, [&](Value*& part) {
      Value* vector = part;
      llvm::Type* type = vector->getType();
      part = f_.frame.stack(type->getScalarType(), static_cast<uint64_t>(nest_.kernel.tile + plan_.width));
      b_.CreateAlignedStore(vector, column_address(part, loop.point, type), alignment_of(division->dtype));
    });
    column_divisors_[divisor.index] = parts;
  }
  close_loop(b_, loop, f_.i64(plan_.width), nest_.part.tile.end, {});
}

/// What makes the divisors, in order.
std::vector<std::size_t> DivisionEmitter::needed_by(llvm::ArrayRef<const Statement*> divisions) const {
  std::vector<bool> needed(plan_.register_levels.size());
  for (const Statement* division : divisions) needed[division->operands[1].index] = true;
  std::vector<std::size_t> out;
  for (std::size_t i = nest_.stage.statements.size(); i-- > 0;) {
    const Statement& s = nest_.statement(i);
    if (!s.result.valid() || !needed[s.result.index] || !plan_.varies(s.result)) continue;
    out.push_back(i);
    for (kernel::RegisterId r : s.operands) needed[r.index] = true;
  }
  std::ranges::reverse(out);
  return out;
}

Value* DivisionEmitter::column_address(Value* table, Value* point, llvm::Type* type) {
  return b_.CreateGEP(type->getScalarType(), table, b_.CreateSub(point, nest_.part.tile.begin));
}

/// Is it another number in each column, and the same in each row?
bool DivisionEmitter::is_of_column(kernel::RegisterId r) const {
  const Statement* made = kernel::maker_of(nest_.stage, r);
  return plan_.of_column[static_cast<std::size_t>(made - nest_.stage.statements.data())];
}

}  // namespace inlay::llvm_backend
