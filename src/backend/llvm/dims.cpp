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
  Value* right = size(atom.operands->second);
  switch (atom.kind) {
    case Dim::Atom::Kind::symbol: break;
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

}  // namespace inlay::llvm_backend
