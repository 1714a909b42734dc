// Sums: what a fold or an accumulating store leaves out of its map is summed in registers, one sum for each lane, and
// the lanes are put together once at the end. (Floats are so reassociated; PyTensor and NumPy do not promise an order
// either. In which order a lane adds: emit_turns.cpp.)
#include "backend/llvm/emit_fold.h"

#include <algorithm>

#include "backend/llvm/emit_exponentials.h"
#include "kernel/live.h"
#include "ops/fold_merge.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

void FoldEmitter::open_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sums_.statement_of(k)].opened != level) continue;
    const Statement& fold = sums_.fold_of(k);
    sums_[k] = fold.result.valid() ? access_.state(sums_.statement_of(k)) : sums_.nothing_of(k);
  }
}

void FoldEmitter::add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = sums_.fold_of(sum);
  if (fold.result.valid()) return run_on(sum, lanes, sums);
  if (fold.fold != Fold::none && !fold.opens_fold()) return;  // all states with the first
  if (!plan_.by_columns) {                                    // these make one number of all lanes
    if (fold.fold == Fold::moments) return squares_.add_square(sum, folded(fold, lanes), lanes, sums);
    if (fold.fold == Fold::log_sum_exp) {
      const SumOfExponentials before = {sums[sum], sums[sum + 1]};
      const auto now = add_exponentials(f_, fold, before, folded((&fold)[1], lanes), lanes.active);
      sums[sum] = now.sum;
      sums[sum + 1] = now.greatest;
      return;
    }
  }
  const std::vector<Value*> next =
      fold.fold == Fold::none ? std::vector{with_point(sum, lanes, sums[sum])} : states_with_point(sum, lanes, sums);
  for (std::size_t k = 0; k < next.size(); ++k) {
    sums[sum + k] = lanes.active ? select(f_, lanes.active, next[k], sums[sum + k]) : next[k];
  }
}

/// `so_far` and one point more. What is a product is multiplied and added with one rounding, whatever else reads it.
Value* FoldEmitter::with_point(std::size_t sum, Lanes& lanes, Value* so_far) {
  const Statement& fold = sums_.fold_of(sum);
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const Statement* made = kernel::maker_of(nest_.stage, fold.operands[0]);
  const bool is_product = made->kind == Statement::Kind::op && made->dtype == fold.dtype &&
                          (made->op == ScalarOp::mul_ || made->op == ScalarOp::square_);
  const bool is_real = fold.dtype == DType::f32 || fold.dtype == DType::f64;
  if (fold.combine == Combine::add && is_real && is_product) {
    Value* a = nest_.operand(made->operands[0], lanes);
    Value* b = nest_.operand(made->operands.back(), lanes);
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {so_far->getType()}, {a, b, so_far});
  }
  return added(sum, so_far, folded(fold, lanes));
}

/// How FoldMerge computes with registers.
struct FoldEmitter::Registers {
  FunctionEmitter& f;
  int width;
  Value* number(const Literal& literal) { return splat(f, constant(f.b, literal), width); }
  Value* op(ScalarOp op, DType dtype, std::span<Value* const> operands) {
    return emit_op(f, op, dtype, {operands.data(), operands.size()}, nullptr);
  }
  Value* cast(Value* x, DType from, DType to) { return emit_cast(f, x, from, to); }
};

std::vector<DType> FoldEmitter::fold_dtypes(std::size_t i) const {
  std::vector<DType> stored;
  for (const Statement& s : states_with(nest_.stage, i)) stored.push_back(s.dtype);
  return state_dtypes(nest_.statement(i).fold, stored);
}

/// The states of the points where the lanes are.
std::vector<Value*> FoldEmitter::lifted(std::size_t i, Lanes& lanes) {
  std::vector<Value*> x;
  for (const Statement& s : states_with(nest_.stage, i)) x.push_back(folded(s, lanes));
  Registers emit{f_, lanes.width};
  return FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).lifted(x);
}

std::vector<Value*> FoldEmitter::states_with_point(std::size_t sum, Lanes& lanes, llvm::ArrayRef<Value*> sums) {
  const std::size_t i = sums_.statement_of(sum);
  return merged_states(i, sums.slice(sum, facts(nest_.statement(i).fold).states.size()), lifted(i, lanes));
}

void FoldEmitter::merge_sets(const std::vector<Value*>& sets) {
  sums_.for_each_fold([&](std::size_t k, std::size_t) {
    switch (sums_.fold_of(k).fold) {
      case Fold::none: sums_[k] = merged(k, sets); return;
      case Fold::moments: return squares_.merge_squares(k, sets);
      default: return merge_states_of_sets(k, sets);
    }
  });
}

Value* FoldEmitter::added(std::size_t sum, Value* a, Value* b) {
  const Statement& fold = sums_.fold_of(sum);
  return emit_combine(f_, fold.combine, fold.dtype, a, b);
}

/// The sets of sums that the vectors of one pass had, as one: sum k of set u is sums[u * num_sums + k].
Value* FoldEmitter::merged(std::size_t k, llvm::ArrayRef<Value*> sums) {
  std::vector<Value*> parts;
  for (std::size_t at = k; at < sums.size(); at += sums_.size()) parts.push_back(sums[at]);
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (std::size_t a = 0; a < parts.size() / 2; ++a) parts[a] = added(k, parts[2 * a], parts[2 * a + 1]);
  }
  return parts[0];
}

/// Likewise of all states of a fold.
void FoldEmitter::merge_states_of_sets(std::size_t k, llvm::ArrayRef<Value*> sets) {
  const std::size_t i = sums_.statement_of(k), count = facts(nest_.statement(i).fold).states.size();
  std::vector<Value*> all = sets.slice(k, count).vec();
  for (std::size_t at = k + sums_.size(); at < sets.size(); at += sums_.size()) {
    all = merged_states(i, all, sets.slice(at, count));
  }
  std::ranges::copy(all, sums_.values.begin() + static_cast<std::ptrdiff_t>(k));
}

/// By halves, as other sums.
std::vector<Value*> FoldEmitter::states_of_lanes(std::size_t k) {
  const std::size_t i = sums_.statement_of(k), count = facts(nest_.statement(i).fold).states.size();
  std::vector<Value*> all = llvm::ArrayRef(sums_.values).slice(k, count).vec();
  if (nest_.statement(i).fold == Fold::log_sum_exp) {
    const SumOfExponentials both = joined_lanes(f_, nest_.statement(i), {all[0], all[1]});
    return {both.sum, both.greatest};
  }
  for (int width = width_of(all[0]) / 2; width >= 1; width /= 2) {
    const auto half = [&](int first) {
      std::vector<Value*> out;
      for (Value* state : all)
        out.push_back(width == 1 ? lane_of(f_, state, f_.i64(first)) : some_lanes(f_, state, first, width));
      return out;
    };
    all = merged_states(i, half(0), half(width));
  }
  return all;
}

void FoldEmitter::finish_sums(int level) {
  sums_.for_each_fold([&](std::size_t k, std::size_t) {
    const std::size_t i = sums_.statement_of(k);
    const Statement& fold = nest_.statement(i);
    if (plan_.statements[i].opened != level) return;
    if (fold.result.valid()) return access_.set_state(i, sums_[k]);
    switch (fold.fold) {
      case Fold::none:
        return access_.combine_into(i, reduce_lanes(f_, fold.combine, fold.dtype, sums_[k]), nest_.uniform);
      case Fold::moments: return access_.combine_into(i, squares_.squares_of_lanes(k), nest_.uniform);
      default: return set_states(i, merged_states(i, states(i), states_of_lanes(k)));
    }
  });
}

/// The sum is one element, and each lane has what it is there.
void FoldEmitter::run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = sums_.fold_of(sum);
  Value* value = nest_.operand(fold.operands[0], lanes);
  if (lanes.active) {
    Value* nothing = splat(f_, constant(b_, identity_of(fold.combine, fold.dtype)), lanes.width);
    value = select(f_, lanes.active, value, nothing);
  }
  Value* running = lanes_so_far(fold, value, sums[sum]);
  lanes.registers[fold.result.index] = running;
  sums[sum] = lanes.width == 1 ? running : lane_of(f_, running, f_.i64(lanes.width - 1));
}

/// Lane l: `before`, then lanes 0 to l. Integers by doubling the distance, log(width) steps; what rounds one after the
/// other, as the oracles do.
Value* FoldEmitter::lanes_so_far(const Statement& fold, Value* value, Value* before) {
  const int width = width_of(value);
  const auto combined = [&](Value* a, Value* b) { return emit_combine(f_, fold.combine, fold.dtype, a, b); };
  if (width == 1) return combined(before, value);
  if (!is_float(fold.dtype) && !is_complex(fold.dtype)) {
    Value* nothing = splat(f_, constant(b_, identity_of(fold.combine, fold.dtype)), width);
    for (int distance = 1; distance < width; distance *= 2) {
      llvm::SmallVector<int, 16> shifted;
      for (int lane = 0; lane < width; ++lane) shifted.push_back(lane < distance ? width + lane : lane - distance);
      value = combined(b_.CreateShuffleVector(value, nothing, shifted), value);
    }
    return combined(splat(f_, before, width), value);
  }
  std::vector<Value*> results;
  for (int lane = 0; lane < width; ++lane) {
    before = combined(before, lane_of(f_, value, f_.i64(lane)));
    results.push_back(before);
  }
  return from_lanes(f_, results);
}

/// The states in memory, or in registers of the function, before the loop; hidden ones have met no point.
std::vector<Value*> FoldEmitter::states(std::size_t i) {
  Registers emit{f_, 1};
  std::vector<Value*> out = FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).nothing();
  for (std::size_t k = 0; k < facts(nest_.statement(i).fold).num_stored; ++k) out[k] = access_.state(i + k);
  return out;
}

void FoldEmitter::set_states(std::size_t i, llvm::ArrayRef<Value*> values) {
  for (std::size_t k = 0; k < facts(nest_.statement(i).fold).num_stored; ++k) access_.set_state(i + k, values[k]);
}

Value* FoldEmitter::folded(const Statement& fold, Lanes& lanes) {
  const kernel::RegisterId r = fold.operands[0];
  return emit_cast(f_, nest_.operand(r, lanes), plan_.register_dtypes[r.index], fold.dtype);
}

std::vector<Value*> FoldEmitter::merged_states(std::size_t i, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Registers emit{f_, width_of(a[0])};
  return FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).merged(a, b);
}

std::vector<Value*> FoldEmitter::merged_parts(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer) {
  std::vector<Value*> out(sums_.size());
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    if (sums_.fold_of(k).fold == Fold::none) {
      out[k] = added(k, older[k], newer[k]);
    } else {
      std::ranges::copy(merged_states(sums_.statement_of(k), older.slice(k, count), newer.slice(k, count)), &out[k]);
    }
  });
  return out;
}

void FoldEmitter::merge_parts_into_memory(llvm::ArrayRef<Value*> sums, Lanes& lanes) {
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    const std::size_t i = sums_.statement_of(k);
    if (nest_.statement(i).fold == Fold::none) {
      access_.combine_into(i, sums[k], lanes);
    } else {
      merge_into_memory(i, sums.slice(k, count), lanes);
    }
  });
}

void FoldEmitter::fold_states(std::size_t i, Lanes& lanes) {
  if (plan_.loops.empty()) return set_states(i, merged_states(i, states(i), lifted(i, lanes)));
  merge_into_memory(i, lifted(i, lanes), lanes);
}

/// What the fold that statement `i` opens has in memory, each lane an element of its own, and `states`.
void FoldEmitter::merge_into_memory(std::size_t i, llvm::ArrayRef<Value*> states, Lanes& lanes) {
  std::vector<Place> places;
  std::vector<Value*> before;
  for (std::size_t k = i; k < i + states.size(); ++k) {
    places.push_back(access_.place(k, lanes));
    before.push_back(load(f_, places.back(), nest_.statement(k).dtype, lanes));
  }
  const std::vector<Value*> now = merged_states(i, before, states);
  for (std::size_t k = 0; k < places.size(); ++k) store(f_, places[k], nest_.statement(i + k).dtype, now[k], lanes);
}

}  // namespace inlay::llvm_backend
