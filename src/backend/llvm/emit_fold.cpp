// Sums: what a fold or an accumulating store leaves out of its map is summed in registers, one sum for each lane, and
// the lanes are put together once at the end. (Floats are so reassociated; PyTensor and NumPy do not promise an order
// either. In which order a lane adds: emit_turns.cpp.)
#include <algorithm>
#include <limits>

#include "backend/llvm/stage.h"
#include "ops/fold_merge.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

/// The least that is finite.
static Literal least_number(DType dtype) {
  const double least =
      dtype == DType::f32 ? std::numeric_limits<float>::lowest() : std::numeric_limits<double>::lowest();
  return Literal::of_float(dtype, least);
}

/// So many points tell how large the numbers are.
constexpr int kLookAhead = 128;

void StageEmitter::open_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sum_statements_[k]].opened != level) continue;
    const Statement& fold = nest_.statement(sum_statements_[k]);
    sums_[k] = fold.result.valid() ? access_.state(sum_statements_[k]) : nothing_of(k);
  }
}

void StageEmitter::add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  if (fold.result.valid()) return run_on(sum, lanes, sums);
  if (fold.fold != Fold::none && !fold.opens_fold()) return;  // all states with the first
  if (!plan_.by_columns) {                                    // these make one number of all lanes
    if (fold.fold == Fold::log_sum_exp) return add_exponentials(sum, lanes, sums);
    if (fold.fold == Fold::moments) return add_square(sum, lanes, sums);
  }
  const std::vector<Value*> next =
      fold.fold == Fold::none ? std::vector{with_point(sum, lanes, sums[sum])} : states_with_point(sum, lanes, sums);
  for (std::size_t k = 0; k < next.size(); ++k) {
    sums[sum + k] = lanes.active ? select(f_, lanes.active, next[k], sums[sum + k]) : next[k];
  }
}

/// `so_far` and one point more. What is a product is multiplied and added with one rounding, whatever else reads it.
Value* StageEmitter::with_point(std::size_t sum, Lanes& lanes, Value* so_far) {
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const auto made = std::ranges::find(nest_.stage.statements, fold.operands[0], &Statement::result);
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
struct StageEmitter::Registers {
  FunctionEmitter& f;
  int width;
  Value* number(const Literal& literal) { return splat(f, f.constant(literal), width); }
  Value* op(ScalarOp op, DType dtype, std::span<Value* const> operands) {
    return emit_op(f, op, dtype, {operands.data(), operands.size()}, nullptr);
  }
  Value* cast(Value* x, DType from, DType to) { return emit_cast(f, x, from, to); }
};

/// What the fold that statement `i` opens makes of two parts, by the row.
std::vector<Value*> StageEmitter::merged_states(std::size_t i, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Registers emit{f_, width_of(a[0])};
  return FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).merged(a, b);
}

std::vector<DType> StageEmitter::fold_dtypes(std::size_t i) const {
  std::vector<DType> stored;
  for (const Statement& s : states_with(nest_.stage, i)) stored.push_back(s.dtype);
  return state_dtypes(nest_.statement(i).fold, stored);
}

/// The states of the points where the lanes are.
std::vector<Value*> StageEmitter::lifted(std::size_t i, Lanes& lanes) {
  std::vector<Value*> x;
  for (const Statement& s : states_with(nest_.stage, i)) x.push_back(folded(s, lanes));
  Registers emit{f_, lanes.width};
  return FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).lifted(x);
}

std::vector<Value*> StageEmitter::states_with_point(std::size_t sum, Lanes& lanes, llvm::ArrayRef<Value*> sums) {
  const std::size_t i = sum_statements_[sum];
  return merged_states(i, sums.slice(sum, facts(nest_.statement(i).fold).states.size()), lifted(i, lanes));
}

/// Which state of which fold of several is it?
const FoldState& StageEmitter::state_of(std::size_t sum) const {
  const std::size_t i = sum_statements_[sum];
  const auto first = std::ranges::find(sum_statements_, i);
  const std::size_t hidden = sum - static_cast<std::size_t>(first - sum_statements_.begin());
  return facts(nest_.statement(i).fold).states[static_cast<std::size_t>(nest_.statement(i).state) + hidden];
}

/// Is it the greatest that exponentials are less than?
bool StageEmitter::follows_exponentials(std::size_t sum) const {
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  return fold.fold == Fold::log_sum_exp && !fold.opens_fold();
}

/// What the fold adds, in the fold's dtype.
Value* StageEmitter::folded(const Statement& fold, Lanes& lanes) {
  const kernel::RegisterId r = fold.operands[0];
  return emit_cast(f_, nest_.operand(r, lanes), plan_.register_dtypes[r.index], fold.dtype);
}

/// The greatest of the first points, before any is summed: without that each of the first vectors has a greater one.
/// (What an outer loop sums over too is summed in part when its next row begins.)
void StageEmitter::look_ahead(Value* begin, Value* end) {
  std::vector<std::size_t> greatest;  // numbers of sums
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    const bool begins_here = plan_.statements[sum_statements_[k]].opened + 1 == plan_.innermost();
    if (follows_exponentials(k) && begins_here) greatest.push_back(k);
  }
  const auto must_run_once = [&](std::size_t i) {
    const bool runs_on = nest_.statement(i).result.valid();  // a running sum
    const bool writes = nest_.statement(i).is_write() && (runs_on || !plan_.statements[i].accumulates);
    return plan_.statements[i].live && (nest_.statement(i).can_fail() || writes);
  };
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    if (must_run_once(i)) greatest.clear();
  }
  if (greatest.empty()) return;
  Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b_.CreateNSWAdd(begin, f_.i64(kLookAhead)));
  first = b_.CreateAnd(first, f_.i64(-plan_.width));
  const Branch branch = f_.open_if(b_.CreateICmpSGT(first, begin));
  std::vector<Value*> before, values;
  for (std::size_t k : greatest) before.push_back(sums_[k]);
  const Loop loop = f_.open_loop(begin, before);
  Lanes lanes = nest_.lanes_at(loop.point);
  for (std::size_t i = 0; i < plan_.statements.size(); ++i) {
    const kernel::NestStatement& facts = plan_.statements[i];
    if (facts.live && facts.level == plan_.innermost() && !facts.accumulates) emit_statement(i, lanes);
  }
  for (std::size_t n = 0; n < greatest.size(); ++n) {
    const Statement& other = nest_.statement(sum_statements_[greatest[n]]);
    Value* x = folded(other, lanes);
    Value* is_greater = emit_op(f_, ScalarOp::gt_, other.dtype, {x, loop.carried[n]}, nullptr);
    values.push_back(select(f_, is_greater, x, loop.carried[n]));
  }
  f_.close_loop(loop, f_.i64(plan_.width), first, values);
  for (std::size_t n = 0; n < greatest.size(); ++n) {
    const Statement& other = nest_.statement(sum_statements_[greatest[n]]);
    values[n] = splat(f_, reduce_lanes(f_, Combine::max, other.dtype, values[n]), plan_.width);
  }
  values = f_.close_if(branch, values, before);
  for (std::size_t n = 0; n < greatest.size(); ++n) sums_[greatest[n]] = values[n];
}

/// All lanes have one greatest number, which is seldom less than the next ones: then what was summed is less of a
/// greater one. So a point takes one exponential.
void StageEmitter::add_exponentials(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  const Statement& other = (&fold)[1];
  Value* x = folded(other, lanes);
  Value* nothing = splat(f_, f_.constant(identity_of(Combine::max, other.dtype)), lanes.width);
  if (lanes.active) x = select(f_, lanes.active, x, nothing);
  const Both before = {sums[sum], sums[sum + 1]};
  Value* is_less = emit_op(f_, ScalarOp::le_, other.dtype, {x, at_least_finite(other.dtype, before.extreme)}, nullptr);
  const Branch branch = f_.open_if(any_lane(f_, b_.CreateNot(is_less)));
  Value* both = emit_combine(f_, Combine::max, other.dtype, before.extreme, x);
  Value* greatest = splat(f_, reduce_lanes(f_, Combine::max, other.dtype, both), lanes.width);
  const std::vector<Value*> now =
      f_.close_if(branch, {at_extreme(fold, before, greatest), greatest}, {before.state, before.extreme});
  sums[sum + 1] = now[1];
  sums[sum] = emit_op(f_, ScalarOp::add_, fold.dtype, {now[0], exponential(fold, x, now[1])}, nullptr);
}

/// What is -inf is far below the least number, and so exp of its difference from that is 0.
Value* StageEmitter::at_least_finite(DType dtype, Value* x) {
  Value* least = splat(f_, f_.constant(least_number(dtype)), width_of(x));
  return select(f_, emit_op(f_, ScalarOp::lt_, dtype, {x, least}, nullptr), least, x);
}

/// exp(x - greatest), in the fold's dtype.
Value* StageEmitter::exponential(const Statement& fold, Value* x, Value* greatest) {
  const DType dtype = (&fold)[1].dtype;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  Value* difference = emit_op(f_, ScalarOp::sub_, dtype, {x, at_least_finite(dtype, greatest)}, nullptr);
  return emit_cast(f_, emit_op(f_, ScalarOp::exp_, dtype, {difference}, nullptr), dtype, fold.dtype);
}

/// The sum as if it had met the greatest number `met`.
Value* StageEmitter::at_extreme(const Statement& fold, const Both& both, Value* met) {
  return emit_op(f_, ScalarOp::mul_, fold.dtype, {both.state, exponential(fold, both.extreme, met)}, nullptr);
}

/// The sets of sums that the vectors of one pass had, as one: sum k of set u is sums[u * num_sums + k].
Value* StageEmitter::merged(std::size_t k, llvm::ArrayRef<Value*> sums) {
  std::vector<Value*> parts;
  for (std::size_t at = k; at < sums.size(); at += sums_.size()) parts.push_back(sums[at]);
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (std::size_t a = 0; a < parts.size() / 2; ++a) parts[a] = added(k, parts[2 * a], parts[2 * a + 1]);
  }
  return parts[0];
}

/// Likewise of all states of a fold.
void StageEmitter::merge_states_of_sets(std::size_t k, llvm::ArrayRef<Value*> sets) {
  const std::size_t i = sum_statements_[k], count = facts(nest_.statement(i).fold).states.size();
  std::vector<Value*> all = sets.slice(k, count).vec();
  for (std::size_t at = k + sums_.size(); at < sets.size(); at += sums_.size()) {
    all = merged_states(i, all, sets.slice(at, count));
  }
  std::ranges::copy(all, sums_.begin() + static_cast<std::ptrdiff_t>(k));
}

/// By halves, as other sums.
std::vector<Value*> StageEmitter::states_of_lanes(std::size_t k) {
  const std::size_t i = sum_statements_[k], count = facts(nest_.statement(i).fold).states.size();
  std::vector<Value*> all = llvm::ArrayRef(sums_).slice(k, count).vec();
  if (nest_.statement(i).fold == Fold::log_sum_exp) return joined_lanes(k);
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

/// Each lane of a log-sum-exp as if it had met the greatest of all.
std::vector<Value*> StageEmitter::joined_lanes(std::size_t k) {
  const Statement& fold = nest_.statement(sum_statements_[k]);
  const Statement& other = (&fold)[1];
  Value* extreme = reduce_lanes(f_, other.combine, other.dtype, sums_[k + 1]);
  Value* met = at_extreme(fold, {sums_[k], sums_[k + 1]}, splat(f_, extreme, width_of(sums_[k])));
  return {reduce_lanes(f_, fold.combine, fold.dtype, met), extreme};
}

void StageEmitter::finish_sums(int level) {
  for (std::size_t k = 0; k < sums_.size(); k += num_states(sum_statements_[k])) {
    const std::size_t i = sum_statements_[k];
    if (plan_.statements[i].opened != level) continue;
    if (nest_.statement(i).result.valid()) {
      access_.set_state(i, sums_[k]);
      continue;
    }
    if (nest_.statement(i).fold == Fold::moments) {
      access_.combine_into(i, squares_of_lanes(k), nest_.uniform);
      continue;
    }
    if (nest_.statement(i).fold != Fold::none) {
      if (nest_.statement(i).opens_fold()) set_states(i, merged_states(i, states(i), states_of_lanes(k)));
      continue;
    }
    access_.combine_into(i, reduce_lanes(f_, nest_.statement(i).combine, nest_.statement(i).dtype, sums_[k]),
                         nest_.uniform);
  }
}

/// The sum is one element, and each lane has what it is there.
void StageEmitter::run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  Value* value = nest_.operand(fold.operands[0], lanes);
  if (lanes.active) {
    Value* nothing = splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), lanes.width);
    value = select(f_, lanes.active, value, nothing);
  }
  Value* running = lanes_so_far(fold, value, sums[sum]);
  lanes.registers[fold.result.index] = running;
  sums[sum] = lanes.width == 1 ? running : lane_of(f_, running, f_.i64(lanes.width - 1));
}

/// Lane l: `before`, then lanes 0 to l. Integers by doubling the distance, log(width) steps; what rounds one after the
/// other, as the oracles do.
Value* StageEmitter::lanes_so_far(const Statement& fold, Value* value, Value* before) {
  const int width = width_of(value);
  const auto combined = [&](Value* a, Value* b) { return emit_combine(f_, fold.combine, fold.dtype, a, b); };
  if (width == 1) return combined(before, value);
  if (!is_float(fold.dtype) && !is_complex(fold.dtype)) {
    Value* nothing = splat(f_, f_.constant(identity_of(fold.combine, fold.dtype)), width);
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
std::vector<Value*> StageEmitter::states(std::size_t i) {
  Registers emit{f_, 1};
  std::vector<Value*> out = FoldMerge<Value*, Registers>(nest_.statement(i).fold, fold_dtypes(i), emit).nothing();
  for (std::size_t k = 0; k < facts(nest_.statement(i).fold).num_stored; ++k) out[k] = access_.state(i + k);
  return out;
}

void StageEmitter::set_states(std::size_t i, llvm::ArrayRef<Value*> values) {
  for (std::size_t k = 0; k < facts(nest_.statement(i).fold).num_stored; ++k) access_.set_state(i + k, values[k]);
}

/// Where each lane has its own element; or there is but one point.
void StageEmitter::fold_states(std::size_t i, Lanes& lanes) {
  if (plan_.loops.empty()) return set_states(i, merged_states(i, states(i), lifted(i, lanes)));
  merge_into_memory(i, lifted(i, lanes), lanes);
}

/// What the fold that statement `i` opens has in memory, each lane an element of its own, and `states`.
void StageEmitter::merge_into_memory(std::size_t i, llvm::ArrayRef<Value*> states, Lanes& lanes) {
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
