#include "backend/llvm/sizes.h"

#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {

Value* Sizes::of(const Dim& dim) {
  if (dim.is_constant()) return b_.getInt64(dim.constant());
  for (const auto& [known, value] : known_) {
    if (known == dim) return value;
  }
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  frame_.go_to_spine();
  Value* value = dim_value(dim);
  known_.emplace_back(dim, value);
  return value;
}

Value* Sizes::dim_value(const Dim& dim) {
  Value* total = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    Value* product = nullptr;
    for (const Dim::Atom& atom : term.factors) {
      Value* factor = atom_value(atom);
      product = product ? b_.CreateMul(product, factor) : factor;
    }
    if (term.coefficient != 1) product = b_.CreateMul(product, b_.getInt64(term.coefficient));
    total = total ? b_.CreateAdd(total, product) : product;
  }
  return dim.constant_part() == 0 ? total : b_.CreateAdd(total, b_.getInt64(dim.constant_part()));
}

Value* Sizes::atom_value(const Dim::Atom& atom) {
  if (atom.kind == Dim::Atom::Kind::symbol) {
    Value*& known = symbols_[atom.symbol.index];
    if (!known) {
      Value* symbols = frame_.call_field(offsetof(InlayCall, symbols), b_.getPtrTy());
      known = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), symbols, atom.symbol.index));
    }
    return known;
  }
  Value* left = of(atom.operands->first);
  if (atom.kind == Dim::Atom::Kind::sum) return left;
  Value* right = of(atom.operands->second);
  switch (atom.kind) {
    case Dim::Atom::Kind::symbol:
    case Dim::Atom::Kind::sum: break;
    case Dim::Atom::Kind::min: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, right);
    case Dim::Atom::Kind::max: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, right);
    case Dim::Atom::Kind::floor_div: {
      // Towards minus infinity; a divisor of 0 gives 0, as Dim::evaluate has it.
      Value* none = b_.CreateICmpEQ(right, b_.getInt64(0));
      Value* divisor = b_.CreateSelect(none, b_.getInt64(1), right);
      Value* quotient = b_.CreateSDiv(left, divisor);
      Value* rest = b_.CreateSub(left, b_.CreateMul(quotient, divisor));
      Value* below = b_.CreateAnd(b_.CreateICmpNE(rest, b_.getInt64(0)),
                                  b_.CreateICmpSLT(b_.CreateXor(rest, divisor), b_.getInt64(0)));
      Value* floored = b_.CreateSub(quotient, b_.CreateZExt(below, b_.getInt64Ty()));
      return b_.CreateSelect(none, b_.getInt64(0), floored);
    }
  }
  INLAY_CHECK(false, "a size of no kind");
  return nullptr;
}

/// The size, kept as what `of` gives; `overflows`, null at first, gets a bit: does it, or a part of it, not fit?
Value* Sizes::tested_size(const Dim& dim, Value*& overflows) {
  const auto exact = [&](llvm::Intrinsic::ID operation, Value* left, Value* right) {
    if (!left) return right;
    Value* both = b_.CreateBinaryIntrinsic(operation, left, right);
    Value* bit = b_.CreateExtractValue(both, 1);
    overflows = overflows ? b_.CreateOr(overflows, bit) : bit;
    return b_.CreateExtractValue(both, 0);
  };
  Value* total = dim.constant_part() == 0 ? nullptr : b_.getInt64(dim.constant_part());
  for (const Dim::Term& term : dim.terms()) {
    Value* product = term.coefficient == 1 ? nullptr : b_.getInt64(term.coefficient);
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
  known_.emplace_back(dim, total);
  return total;
}

void Sizes::forget_all_but(Known known) {
  known_.resize(known.num_sizes);
  symbols_ = std::move(known.symbols);
}

void Sizes::require_fit(std::span<const Dim> sizes) {
  if (sizes.empty()) return;
  frame_.begin_step();
  Value* overflows = nullptr;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    frame_.go_to_spine();
    for (const Dim& size : sizes) tested_size(size, overflows);
  }
  if (!overflows) return;
  ends_.return_unless_ok(b_.CreateSelect(overflows, b_.getInt32(INLAY_SIZE_OVERFLOW), b_.getInt32(INLAY_OK)));
}

}  // namespace inlay::llvm_backend
