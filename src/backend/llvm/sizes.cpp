#include "backend/llvm/sizes.h"

#include <optional>

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

Value* KnownSizes::find(const Dim& dim) const {
  const auto found = values_.find(dim);
  return found == values_.end() ? nullptr : found->second;
}

std::optional<KnownSizes::Step> KnownSizes::step_to(const Dim& dim) const {
  constexpr std::size_t kLooks = 4;
  if (dim.terms().size() < 3) return std::nullopt;
  for (std::size_t i = sizes_.size(); i-- > 0 && i + kLooks >= sizes_.size();) {
    if (sizes_[i].terms().size() + 1 != dim.terms().size()) continue;
    Dim rest = dim - sizes_[i];
    if (rest.constant_part() == 0 && rest.terms().size() == 1) return Step{values_.at(sizes_[i]), std::move(rest)};
  }
  return std::nullopt;
}

void KnownSizes::add(const Dim& dim, Value* value) {
  if (values_.emplace(dim, value).second) sizes_.push_back(dim);
}

void KnownSizes::forget_all_but(std::size_t count) {
  for (; sizes_.size() > count; sizes_.pop_back()) values_.erase(sizes_.back());
}

Value* Sizes::of(const Dim& dim) {
  if (dim.is_constant()) return b_.getInt64(dim.constant());
  if (Value* known = known_.find(dim)) return known;
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  frame_.go_to_spine();
  Value* value = dim_value(dim);
  known_.add(dim, value);
  return value;
}

Value* Sizes::dim_value(const Dim& dim) {
  if (is_one_atom(dim)) return atom_value(dim.terms()[0].factors[0]);
  if (const auto step = known_.step_to(dim)) return b_.CreateAdd(step->before, term_value(step->rest.terms()[0]));
  Value* total = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    Value* value = term_value(term);
    total = total ? b_.CreateAdd(total, value) : value;
  }
  return dim.constant_part() == 0 ? total : b_.CreateAdd(total, b_.getInt64(dim.constant_part()));
}

Value* Sizes::term_value(const Dim::Term& term) {
  Value* product = nullptr;
  for (const Dim::Atom& atom : term.factors) {
    Value* value = factor(atom);
    product = product ? b_.CreateMul(product, value) : value;
  }
  return term.coefficient == 1 ? product : b_.CreateMul(product, b_.getInt64(term.coefficient));
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
  if (Value* tested = tested_.find(dim)) return tested;
  Value* total = nullptr;
  if (const auto step = tested_.step_to(dim)) {
    Value* rest = tested_term(step->rest.terms()[0], overflows);
    total = exact(llvm::Intrinsic::sadd_with_overflow, step->before, rest, overflows);
  } else {
    if (dim.constant_part() != 0) total = b_.getInt64(dim.constant_part());
    for (const Dim::Term& term : dim.terms()) {
      total = exact(llvm::Intrinsic::sadd_with_overflow, total, tested_term(term, overflows), overflows);
    }
  }
  known_.add(dim, total);
  tested_.add(dim, total);
  return total;
}

Value* Sizes::tested_term(const Dim::Term& term, Value*& overflows) {
  Value* product = term.coefficient == 1 ? nullptr : b_.getInt64(term.coefficient);
  for (const Dim::Atom& atom : term.factors) {
    if (atom.kind != Dim::Atom::Kind::symbol) {
      for (const Dim* operand : {&atom.operands->first, &atom.operands->second}) {
        if (operand->may_overflow()) tested_size(*operand, overflows);
      }
    }
    if (atom.kind == Dim::Atom::Kind::floor_div && !atom.operands->second.is_constant()) {
      Value* least = b_.CreateICmpEQ(of(atom.operands->first), b_.getInt64(uint64_t{1} << 63));
      also(b_.CreateAnd(least, b_.CreateICmpEQ(of(atom.operands->second), b_.getInt64(UINT64_MAX))), overflows);
    }
    product = exact(llvm::Intrinsic::smul_with_overflow, product, factor(atom), overflows);
  }
  return product;
}

/// The operation's number; `left` null: `right`.
Value* Sizes::exact(llvm::Intrinsic::ID operation, Value* left, Value* right, Value*& overflows) {
  if (!left) return right;
  Value* both = b_.CreateBinaryIntrinsic(operation, left, right);
  also(b_.CreateExtractValue(both, 1), overflows);
  return b_.CreateExtractValue(both, 0);
}

void Sizes::also(Value* bit, Value*& overflows) { overflows = overflows ? b_.CreateOr(overflows, bit) : bit; }

void Sizes::forget_all_but(Known known) {
  tested_.forget_all_but(known.num_tested);
  known_.forget_all_but(known.num_sizes);
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
