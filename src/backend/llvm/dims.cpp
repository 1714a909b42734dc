// Sizes as machine code: a Dim is evaluated where the function's spine is, once, and kept.
#include "backend/llvm/function.h"
#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {

Value* FunctionEmitter::size(const Dim& dim) {
  if (dim.is_constant()) return i64(dim.constant());
  for (const auto& [known, value] : sizes_) {
    if (known == dim) return value;
  }
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(spine_);
  Value* value = dim_value(dim);
  sizes_.emplace_back(dim, value);
  return value;
}

Value* FunctionEmitter::dim_value(const Dim& dim) {
  Value* total = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    Value* product = nullptr;
    for (const Dim::Atom& atom : term.factors) {
      Value* factor = atom_value(atom);
      product = product ? b.CreateMul(product, factor) : factor;
    }
    if (term.coefficient != 1) product = b.CreateMul(product, i64(term.coefficient));
    total = total ? b.CreateAdd(total, product) : product;
  }
  return dim.constant_part() == 0 ? total : b.CreateAdd(total, i64(dim.constant_part()));
}

Value* FunctionEmitter::atom_value(const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::symbol) {
    Value*& known = symbols_[atom.symbol.index];
    if (!known) {
      Value* symbols = call_field(offsetof(InlayCall, symbols), b.getPtrTy());
      known = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), symbols, atom.symbol.index));
    }
    return known;
  }
  Value* left = size(atom.operands->first);
  if (atom.kind == Dim::Atom::Kind::sum) return left;
  Value* right = size(atom.operands->second);
  switch (atom.kind) {
    case Dim::Atom::Kind::symbol:
    case Dim::Atom::Kind::sum: break;
    case Dim::Atom::Kind::min: return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, right);
    case Dim::Atom::Kind::max: return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, right);
    case Dim::Atom::Kind::floor_div: {
      // Towards minus infinity; a divisor of 0 gives 0, as Dim::evaluate has it.
      Value* none = b.CreateICmpEQ(right, i64(0));
      Value* divisor = b.CreateSelect(none, i64(1), right);
      Value* quotient = b.CreateSDiv(left, divisor);
      Value* rest = b.CreateSub(left, b.CreateMul(quotient, divisor));
      Value* below = b.CreateAnd(b.CreateICmpNE(rest, i64(0)), b.CreateICmpSLT(b.CreateXor(rest, divisor), i64(0)));
      Value* floored = b.CreateSub(quotient, b.CreateZExt(below, b.getInt64Ty()));
      return b.CreateSelect(none, i64(0), floored);
    }
  }
  INLAY_CHECK(false, "a size of no kind");
  return nullptr;
}

/// The size, kept as what `size` gives; `overflows`, null at first, gets a bit: does it, or a part of it, not fit?
Value* FunctionEmitter::tested_size(const Dim& dim, Value*& overflows) {
  const auto exact = [&](llvm::Intrinsic::ID operation, Value* left, Value* right) {
    if (!left) return right;
    Value* both = b.CreateBinaryIntrinsic(operation, left, right);
    Value* bit = b.CreateExtractValue(both, 1);
    overflows = overflows ? b.CreateOr(overflows, bit) : bit;
    return b.CreateExtractValue(both, 0);
  };
  Value* total = dim.constant_part() == 0 ? nullptr : i64(dim.constant_part());
  for (const Dim::Term& term : dim.terms()) {
    Value* product = term.coefficient == 1 ? nullptr : i64(term.coefficient);
    for (const Dim::Atom& atom : term.factors) {
      if (atom.kind != Dim::Atom::Kind::symbol) {
        for (const Dim* operand : {&atom.operands->first, &atom.operands->second}) {
          if (operand->may_overflow()) tested_size(*operand, overflows);
        }
      }
      product = exact(llvm::Intrinsic::smul_with_overflow, product, atom_value(atom));
    }
    total = exact(llvm::Intrinsic::sadd_with_overflow, total, product);
  }
  sizes_.emplace_back(dim, total);
  return total;
}

void FunctionEmitter::require_fit(std::span<const Dim> sizes) {
  if (sizes.empty()) return;
  begin_step();
  Value* overflows = nullptr;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(spine_);
    for (const Dim& size : sizes) tested_size(size, overflows);
  }
  if (overflows) return_unless_ok(b.CreateSelect(overflows, b.getInt32(INLAY_SIZE_OVERFLOW), b.getInt32(INLAY_OK)));
}

}  // namespace inlay::llvm_backend
