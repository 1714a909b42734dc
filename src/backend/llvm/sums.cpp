#include "backend/llvm/sums.h"

namespace inlay::llvm_backend {

using kernel::Statement;

SumRegisters::SumRegisters(NestState& nest) : nest_(nest) {
  for (std::size_t i = 0; i < nest.plan.statements.size(); ++i) {
    if (!nest.plan.statements[i].live || !nest.plan.statements[i].accumulates) continue;
    statements_.insert(statements_.end(), nest.statement(i).num_states(), i);
  }
  values.resize(statements_.size());
}

std::vector<std::size_t> SumRegisters::sums_of_squares() const {
  std::vector<std::size_t> out;
  for_each_fold([&](std::size_t k, std::size_t) {
    if (fold_of(k).fold == Fold::moments) out.push_back(k);
  });
  return out;
}

bool SumRegisters::is_tree_sum(std::size_t sum) const {
  const Statement& fold = fold_of(sum);
  const bool adds = fold.fold == Fold::add || fold.fold == Fold::mul;
  const bool adds_exponentials = fold.fold == Fold::log_sum_exp && fold.opens_fold();
  return nest_.plan.by_turns && (adds || adds_exponentials) && !fold.result.valid() &&
         (is_float(fold.dtype) || is_complex(fold.dtype));
}

bool SumRegisters::is_squares_state(std::size_t sum) const {
  const bool is_of_squares = fold_of(sum).fold == Fold::moments;
  return is_of_squares && sum + 1 < size() && statement_of(sum + 1) == statement_of(sum);
}

bool SumRegisters::follows_exponentials(std::size_t sum) const {
  const Statement& fold = fold_of(sum);
  return fold.fold == Fold::log_sum_exp && !fold.opens_fold();
}

/// Which state of which fold is it?
const FoldState& SumRegisters::state_of(std::size_t sum) const {
  const std::size_t i = statement_of(sum);
  const auto first = std::ranges::find(statements_, i);
  const std::size_t hidden = sum - static_cast<std::size_t>(first - statements_.begin());
  return facts(nest_.statement(i).fold).states[static_cast<std::size_t>(nest_.statement(i).state) + hidden];
}

Value* SumRegisters::nothing_of(std::size_t sum) const {
  const Statement& fold = fold_of(sum);
  const FoldState& state = state_of(sum);
  // (The step of its own for moments counts in their dtype.)
  const bool counts = state.dtype == FoldState::Class::count && fold.fold != Fold::moments;
  const Literal nothing = identity_of(state.combine, counts ? DType::f64 : fold.dtype);
  return splat(nest_.f, constant(nest_.f.b, nothing), nest_.plan.width);
}

std::vector<Value*> SumRegisters::emptied(std::vector<Value*> all) const {
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::size_t k = n % size();
    if (is_of_part(k)) all[n] = is_tree_sum(k) ? nothing_of(k) : number_like(all[n], 0);
  }
  return all;
}

std::vector<Value*> SumRegisters::sets() const {
  std::vector<Value*> all = values;
  for (int u = 1; u < nest_.plan.unroll; ++u) {
    for (std::size_t k = 0; k < size(); ++k) {
      // What is the maximum so far may be met again. Squares have begun anew.
      const bool same = follows_exponentials(k) || fold_of(k).fold == Fold::moments;
      all.push_back(same ? values[k] : nothing_of(k));
    }
  }
  return all;
}

}  // namespace inlay::llvm_backend
