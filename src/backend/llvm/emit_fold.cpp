// Sums: what a fold or an accumulating store leaves out of its map is summed in registers, one sum for each lane, and
// the lanes are put together once at the end. (Floats are so reassociated; PyTensor and NumPy do not promise an order
// either. In which order a lane adds: emit_turns.cpp.)
#include "backend/llvm/emit_fold.h"

#include <algorithm>

#include "backend/llvm/emit_exponentials.h"
#include "backend/llvm/fold_registers.h"
#include "kernel/live.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

void FoldEmitter::open_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sums_.statement_of(k)].opened != level) continue;
    const std::size_t i = sums_.statement_of(k);
    const bool runs = nest_.statement(i).result.valid();
    sums_[k] = runs ? access_.element(i, access_.memory_of(i, nest_.uniform), nest_.uniform) : sums_.nothing_of(k);
  }
}

void FoldEmitter::add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = sums_.fold_of(sum);
  if (fold.result.valid()) return run_on(sum, lanes, sums);
  if (fold.state > 0) return;  // all states with the first
  if (!plan_.by_columns) {     // these make one number of all lanes
    if (fold.fold == Fold::moments) return squares_.add_square(sum, folded(fold, lanes), lanes, sums);
    if (fold.fold == Fold::log_sum_exp) {
      const SumOfExponentials before = {sums[sum], sums[sum + 1]};
      const auto now = add_exponentials(f_, fold, before, folded((&fold)[1], lanes), lanes.active);
      sums[sum] = now.sum;
      sums[sum + 1] = now.maximum;
      return;
    }
  }
  const std::vector<Value*> next = states_with_point(sum, lanes, sums);
  for (std::size_t k = 0; k < next.size(); ++k) {
    sums[sum + k] = lanes.active ? select(f_, lanes.active, next[k], sums[sum + k]) : next[k];
  }
}

/// What a sum adds, where that is a product: it is multiplied and added with one rounding, whatever else reads it.
const Statement* FoldEmitter::added_product(const Statement& fold) const {
  const Statement* made = kernel::maker_of(nest_.stage, fold.operands[0]);
  const bool is_product = made->kind == Statement::Kind::op && made->dtype == fold.dtype &&
                          (made->op == ScalarOp::mul_ || made->op == ScalarOp::square_);
  const bool is_real = fold.dtype == DType::f32 || fold.dtype == DType::f64;
  return fold.fold == Fold::add && is_real && is_product ? made : nullptr;
}

std::vector<DType> FoldEmitter::fold_dtypes(std::size_t i) const {
  std::vector<DType> stored;
  for (const Statement& s : states_with(nest_.stage, i)) stored.push_back(s.dtype);
  return state_dtypes(nest_.statement(i).fold, stored);
}

/// The states of the points where the lanes are.
std::vector<Value*> FoldEmitter::lifted(std::size_t i, Lanes& lanes) {
  std::vector<Value*> x;
  for (const Statement& s : states_with(nest_.stage, i)) x.push_back(folded(s, lanes));
  FoldRegisters emit{f_, lanes.width};
  return FoldMerge<Value*, FoldRegisters>(nest_.statement(i).fold, fold_dtypes(i), emit).lifted(x);
}

/// What was met so far and one point more.
std::vector<Value*> FoldEmitter::states_with_point(std::size_t sum, Lanes& lanes, llvm::ArrayRef<Value*> sums) {
  const std::size_t i = sums_.statement_of(sum);
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  if (const Statement* product = added_product(nest_.statement(i))) {
    Value* a = nest_.operand(product->operands[0], lanes);
    Value* b = nest_.operand(product->operands.back(), lanes);
    return {b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sums[sum]->getType()}, {a, b, sums[sum]})};
  }
  const auto before = sums.slice(sum, facts(nest_.statement(i).fold).states.size());
  if (before.size() > 1 && have_met_nothing(sum, before)) return lifted(i, lanes);
  return merged_states(i, before, lifted(i, lanes));
}

/// Is it known that these states, from that of `sum` on, have met no point?
bool FoldEmitter::have_met_nothing(std::size_t sum, llvm::ArrayRef<Value*> states) const {
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (states[k] != sums_.nothing_of(sum + k)) return false;
  }
  return true;
}

void FoldEmitter::merge_sets(const std::vector<Value*>& sets) {
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    if (sums_.fold_of(k).fold == Fold::moments) return squares_.merge_squares(k, sets);
    std::ranges::copy(states_of_sets(k, count, sets), sums_.values.begin() + static_cast<std::ptrdiff_t>(k));
  });
}

/// The sets that the vectors of one pass had, as one, by pairs: those of the fold with sum k.
std::vector<Value*> FoldEmitter::states_of_sets(std::size_t k, std::size_t count, llvm::ArrayRef<Value*> sets) {
  std::vector<std::vector<Value*>> parts;
  for (std::size_t at = k; at < sets.size(); at += sums_.size()) parts.push_back(sets.slice(at, count).vec());
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (std::size_t a = 0; a < parts.size() / 2; ++a) {
      parts[a] = merged_states(sums_.statement_of(k), parts[2 * a], parts[2 * a + 1]);
    }
  }
  return parts[0];
}

/// By halves.
std::vector<Value*> FoldEmitter::states_of_lanes(std::size_t k, std::size_t count) {
  const std::size_t i = sums_.statement_of(k);
  const Statement& fold = nest_.statement(i);
  std::vector<Value*> all = llvm::ArrayRef(sums_.values).slice(k, count).vec();
  if (fold.fold == Fold::log_sum_exp) {
    const SumOfExponentials both = joined_lanes(f_, fold, {all[0], all[1]});
    return {both.sum, both.maximum};
  }
  if (count == 1) return {reduce_lanes(f_, fold.combine(), fold.dtype, all[0])};
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
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    const std::size_t i = sums_.statement_of(k);
    const Statement& fold = nest_.statement(i);
    if (plan_.statements[i].opened != level) return;
    if (fold.result.valid()) {
      return access_.set_element(i, access_.memory_of(i, nest_.uniform), sums_[k], nest_.uniform);
    }
    if (fold.fold == Fold::moments) return access_.combine_into(i, squares_.squares_of_lanes(k), nest_.uniform);
    merge_into(i, states_of_lanes(k, count), nest_.uniform);
  });
}

/// The sum is one element, and each lane has what it is there.
void FoldEmitter::run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = sums_.fold_of(sum);
  Value* value = nest_.operand(fold.operands[0], lanes);
  if (lanes.active) {
    Value* nothing = splat(f_, constant(b_, exact_identity_of(fold.combine(), fold.dtype)), lanes.width);
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
  const auto combined = [&](Value* a, Value* b) { return emit_combine(f_, fold.combine(), fold.dtype, a, b); };
  if (width == 1) return combined(before, value);
  if (!is_float(fold.dtype) && !is_complex(fold.dtype)) {
    Value* nothing = splat(f_, constant(b_, identity_of(fold.combine(), fold.dtype)), width);
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

Value* FoldEmitter::folded(const Statement& fold, Lanes& lanes) {
  const kernel::RegisterId r = fold.operands[0];
  return emit_cast(f_, nest_.operand(r, lanes), plan_.register_dtypes[r.index], fold.dtype);
}

std::vector<Value*> FoldEmitter::merged_states(std::size_t i, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b) {
  return llvm_backend::merged_states(f_, nest_.statement(i).fold, fold_dtypes(i), a, b);
}

std::vector<Value*> FoldEmitter::merged_parts(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer) {
  std::vector<Value*> out(sums_.size());
  sums_.for_each_fold([&](std::size_t k, std::size_t count) {
    std::ranges::copy(merged_states(sums_.statement_of(k), older.slice(k, count), newer.slice(k, count)), &out[k]);
  });
  return out;
}

void FoldEmitter::merge_parts_into_memory(llvm::ArrayRef<Value*> sums, Lanes& lanes) {
  sums_.for_each_fold(
      [&](std::size_t k, std::size_t count) { merge_into(sums_.statement_of(k), sums.slice(k, count), lanes); });
}

void FoldEmitter::fold_states(std::size_t i, Lanes& lanes) { merge_into(i, lifted(i, lanes), lanes); }

/// Each lane is an element of its own, or there is one.
void FoldEmitter::merge_into(std::size_t i, llvm::ArrayRef<Value*> states, Lanes& lanes) {
  std::vector<std::optional<Place>> places;
  for (std::size_t k = 0; k < facts(nest_.statement(i).fold).num_stored; ++k) {
    places.push_back(access_.memory_of(i + k, lanes));
  }
  merge_into(i, places, states, lanes);
}

/// (Hidden states have met no point before the loop.)
void FoldEmitter::merge_into(std::size_t i, llvm::ArrayRef<std::optional<Place>> places, llvm::ArrayRef<Value*> states,
                             Lanes& lanes) {
  std::vector<Value*> before = states_of_nothing(f_, nest_.statement(i).fold, fold_dtypes(i), lanes.width);
  for (std::size_t k = 0; k < places.size(); ++k) before[k] = access_.element(i + k, places[k], lanes);
  const std::vector<Value*> now = merged_states(i, before, states);
  for (std::size_t k = 0; k < places.size(); ++k) access_.set_element(i + k, places[k], now[k], lanes);
}

}  // namespace inlay::llvm_backend
