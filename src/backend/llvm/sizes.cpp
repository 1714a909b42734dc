#include "backend/llvm/sizes.h"

#include <algorithm>

#include "inlay/runtime.h"
#include "support/error.h"

namespace inlay::llvm_backend {
namespace {

bool is_one_atom(const Dim& dim) {
  if (dim.is_constant() || dim.constant_part() != 0 || dim.terms().size() != 1) return false;
  const Dim::Term& term = dim.terms()[0];
  return term.coefficient == 1 && term.factors.size() == 1;
}

/// Towards minus infinity; a divisor of 0 gives 0, as Dim::evaluate has it. The least number divided by -1, where the
/// instruction would end the process, gives itself: that it does not fit is told elsewhere (`tested_size`), where what
/// is divided may have wrapped around besides.
Value* floor_quotient(llvm::IRBuilder<>& b, Value* left, Value* right) {
  Value* zero = b.getInt64(0);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(right);
  const bool is_positive = constant && constant->getValue().isStrictlyPositive();
  if (is_positive && constant->getValue().isPowerOf2()) return b.CreateAShr(left, constant->getValue().logBase2());
  const auto rest_of = [&](Value* quotient, Value* divisor) {
    return b.CreateSub(left, b.CreateMul(quotient, divisor));
  };
  const auto one_less_if = [&](Value* quotient, Value* below) {
    return b.CreateSub(quotient, b.CreateZExt(below, b.getInt64Ty()));
  };
  if (is_positive) {
    Value* quotient = b.CreateSDiv(left, right);
    return one_less_if(quotient, b.CreateICmpSLT(rest_of(quotient, right), zero));
  }
  const auto is = [&](int64_t value) { return b.CreateICmpEQ(right, b.getInt64(static_cast<uint64_t>(value))); };
  Value *none = is(0), *negates = is(-1);
  Value* divisor = b.CreateSelect(b.CreateOr(none, negates), b.getInt64(1), right);
  Value* quotient = b.CreateSDiv(left, divisor);
  Value* rest = rest_of(quotient, divisor);
  Value* below = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(rest, divisor), zero));
  return b.CreateSelect(none, zero, b.CreateSelect(negates, b.CreateNeg(left), one_less_if(quotient, below)));
}

}  // namespace

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
  if (is_one_atom(dim)) return atom_value(dim.terms()[0].factors[0]);
  Value* total = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    Value* product = nullptr;
    for (const Dim::Atom& atom : term.factors) {
      Value* value = factor(atom);
      product = product ? b_.CreateMul(product, value) : value;
    }
    if (term.coefficient != 1) product = b_.CreateMul(product, b_.getInt64(term.coefficient));
    total = total ? b_.CreateAdd(total, product) : product;
  }
  return dim.constant_part() == 0 ? total : b_.CreateAdd(total, b_.getInt64(dim.constant_part()));
}

/// Sums share their quotients, clamps and symbols: each is computed once.
Value* Sizes::factor(const Dim::Atom& atom) {
  switch (atom.kind) {
    case Dim::Atom::Kind::symbol: return atom_value(atom);
    case Dim::Atom::Kind::sum: return of(atom.operands->first);
    case Dim::Atom::Kind::floor_div:
    case Dim::Atom::Kind::min:
    case Dim::Atom::Kind::max: break;
  }
  return of(Dim::of_atom(atom));
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
    case Dim::Atom::Kind::floor_div: return floor_quotient(b_, left, right);
  }
  INLAY_CHECK(false, "a size of no kind");
  return nullptr;
}

/// The size, kept as what `of` gives; `overflows`, null at first, gets a bit: does it, or a part of it, not fit?
Value* Sizes::tested_size(const Dim& dim, Value*& overflows) {
  if (const auto tested = std::ranges::find(tested_, dim, &std::pair<Dim, Value*>::first); tested != tested_.end()) {
    return tested->second;
  }
  const auto also = [&](Value* bit) { overflows = overflows ? b_.CreateOr(overflows, bit) : bit; };
  const auto exact = [&](llvm::Intrinsic::ID operation, Value* left, Value* right) {
    if (!left) return right;
    Value* both = b_.CreateBinaryIntrinsic(operation, left, right);
    also(b_.CreateExtractValue(both, 1));
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
      if (atom.kind == Dim::Atom::Kind::floor_div && !atom.operands->second.is_constant()) {
        Value* least = b_.CreateICmpEQ(of(atom.operands->first), b_.getInt64(uint64_t{1} << 63));
        also(b_.CreateAnd(least, b_.CreateICmpEQ(of(atom.operands->second), b_.getInt64(UINT64_MAX))));
      }
      product = exact(llvm::Intrinsic::smul_with_overflow, product, factor(atom));
    }
    total = exact(llvm::Intrinsic::sadd_with_overflow, total, product);
  }
  known_.emplace_back(dim, total);
  tested_.emplace_back(dim, total);
  return total;
}

void Sizes::forget_all_but(Known known) {
  tested_.resize(known.num_tested);
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
