// The loop of a stage that sums floats: its points in the order of a tree that depends on their number and the lanes
// alone, so a sum is the same number whatever else its loop does, and its error grows with the logarithm of its length.
//
// The points are passed in blocks of 64 vectors, the last of which may be shorter. A block has four quarters of as many
// whole vectors each; a lane adds up its points of a quarter one after the other. What the quarters make goes onto a
// stack as a binary counter counts: equal numbers of quarters become one. The fewer than four vectors that are left
// over are added up by themselves, and last.
//
// A short body passes several quarters at a time (a turn), so that additions do not wait for each other; a long one
// passes the points in their order with a register for each sum. The tree is the same.
#include "backend/llvm/emit_turns.h"

#include <algorithm>
#include <bit>

#include "backend/llvm/emit_exponentials.h"
#include "backend/llvm/scalar.h"
#include "kernel/stopping.h"

namespace inlay::llvm_backend {

using kernel::Statement;

constexpr int kQuarters = StagePlan::kQuarters, kVectorsOfBlock = StagePlan::kVectorsOfBlock;
constexpr int kMostLevels = 40;  // of the stack: nobody passes 2^40 turns

static std::vector<Value*> values_of(const Loop& loop) { return {loop.carried.begin(), loop.carried.end()}; }

/// What the stack keeps: of a part what it has for itself, and the maximum that exponentials are less of.
bool TurnEmitter::is_stacked(std::size_t sum) const { return sums_.is_of_part(sum) || sums_.follows_exponentials(sum); }

/// What `sum` was of older points (the sums of which are `older`) and is of newer ones, which follow those: so their
/// maximum is that of both.
Value* TurnEmitter::added_to(std::size_t sum, llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer) {
  const Statement& fold = sums_.fold_of(sum);
  Value* before = older[sum];
  if (fold.fold == Fold::log_sum_exp) before = at_maximum(f_, fold, {before, older[sum + 1]}, newer[sum + 1]);
  return emit_combine(f_, fold.combine(), fold.dtype, before, newer[sum]);
}

/// `older` and `newer` are the sums of two parts that follow each other: the sums of both.
std::vector<Value*> TurnEmitter::put_together(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer) {
  std::vector<Value*> out = newer.vec();
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (sums_.is_tree_sum(k)) out[k] = added_to(k, older, newer);
  }
  for (std::size_t k : sums_.sums_of_squares()) joined(f_, Moments::of(older, k), Moments::of(newer, k)).put(out, k);
  return out;
}

/// Where the stack has what `sum` was at `level`.
Value* TurnEmitter::stacked(std::size_t sum, Value* level) {
  const llvm::DataLayout& layout = f_.module.getDataLayout();
  uint64_t before = 0, all = 0;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (!is_stacked(k)) continue;
    if (k == sum) before = all;
    all += llvm::alignTo(layout.getTypeAllocSize(sums_.nothing_of(k)->getType()).getFixedValue(), kVectorBytes);
  }
  // A turn passes four vectors at least.
  const Dim points = plan_.num_points();
  const uint64_t turns = points.is_constant() ? static_cast<uint64_t>(points.constant() / plan_.width) : UINT64_MAX;
  Value* stack = f_.frame.sum_stack(all * std::min<uint64_t>(kMostLevels, std::bit_width(turns) + 1));
  Value* offset =
      b_.CreateAdd(b_.CreateMul(level, f_.i64(static_cast<int64_t>(all))), f_.i64(static_cast<int64_t>(before)));
  return b_.CreateGEP(b_.getInt8Ty(), stack, offset);
}

/// What is above `minimum` of the stack's `height` levels is added to the sums.
void TurnEmitter::unstack(Value* minimum, Value* height) {
  const std::vector<Value*> before = sums_.values;
  const Branch branch = open_if(b_, b_.CreateICmpSGT(height, minimum));
  const Loop loop = open_loop(b_, minimum, before);
  Value* level = b_.CreateSub(b_.CreateAdd(height, minimum), b_.CreateAdd(loop.point, f_.i64(1)));
  std::vector<Value*> older = before;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    sums_[k] = loop.carried[k];
    if (!is_stacked(k)) continue;
    older[k] = b_.CreateAlignedLoad(before[k]->getType(), stacked(k, level), llvm::Align(kVectorBytes));
  }
  sums_.values = put_together(older, sums_.values);
  close_loop(b_, loop, f_.i64(1), height, sums_.values);
  sums_.values = close_if(b_, branch, sums_.values, before);
}

/// How many levels the stack has once `count` turns have been put on it.
Value* TurnEmitter::height_after(Value* count) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, count); }

/// The level that turn `count` goes to: of as many turns as what lies on top, it is added to that.
Value* TurnEmitter::level_of_turn(Value* count, Value* height) {
  return b_.CreateSub(height, b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, count, b_.getTrue()));
}

/// The sums take in what is above `level`, and are put there.
void TurnEmitter::stack_sums(Value* level, Value* height) {
  unstack(level, height);
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (is_stacked(k)) b_.CreateAlignedStore(sums_[k], stacked(k, level), llvm::Align(kVectorBytes));
  }
}

void TurnEmitter::emit_summing(Value* begin, Value* end) {
  const std::vector<Value*> before = sums_.values;
  if (!nest_.part.lane_states) sums_.values = sums_.emptied(sums_.values);
  squares_.begin_row(begin, before);
  passes_.emit_masked(emit_turns(begin, end), end);
  std::vector<std::size_t> of_rows;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (plan_.statements[sums_.statement_of(k)].opened + 1 < plan_.innermost()) of_rows.push_back(k);
  }
  if (of_rows.empty()) return;
  const std::vector<Value*> all = put_together(before, sums_.values);
  for (std::size_t k : of_rows) sums_[k] = all[k];
}

/// Passes all that is whole, but where several quarters are passed at a time what is less than a vector for each.
/// Returns where that begins.
Value* TurnEmitter::emit_turns(Value* begin, Value* end) {
  Value* points = b_.CreateSub(end, begin);
  Value* in_quarters = b_.CreateAdd(begin, b_.CreateAnd(points, f_.i64(-kQuarters * plan_.width)));
  Value* whole = passes_in_order() ? b_.CreateAdd(begin, b_.CreateAnd(points, f_.i64(-plan_.width))) : in_quarters;
  Value* has_any = b_.CreateICmpSGT(whole, begin);
  if (never_holds(has_any)) return whole;
  const Branch branch = open_if(b_, has_any);
  const std::vector<Value*> before = sums_.values;
  const Dim& most = plan_.vector_extent();
  if (most.is_constant() && most.constant() < (kVectorsOfBlock + 1) * plan_.width) {
    emit_block(begin, in_quarters, whole);
  } else {
    emit_blocks(begin, in_quarters, whole);
  }
  sums_.values = close_if(b_, branch, sums_.values, before);
  return whole;
}

/// Then what is left over is one turn more.
bool TurnEmitter::passes_in_order() const { return plan_.unroll == 1; }

/// A turn of a quarter's length. Behind the last quarter: of what is left over, which is added to the sums as they are.
TurnEmitter::Turn TurnEmitter::begin_turn(const Loop& turns, Value* quarter, Value* in_quarters, Value* whole) {
  Turn turn{.quarter = quarter};
  if (passes_in_order()) {
    turn.is_quarter = b_.CreateICmpSLT(turns.point, in_quarters);
    turn.quarter = b_.CreateSelect(turn.is_quarter, quarter, b_.CreateSub(whole, turns.point));
  }
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    sums_[k] = !sums_.is_of_part(k) ? turns.carried[k]
               : turn.is_quarter    ? select(f_, turn.is_quarter, sums_.nothing_of(k), turns.carried[k])
                                    : sums_.nothing_of(k);
  }
  return turn;
}

/// No more than one block, as is known: its quarters become one in registers.
void TurnEmitter::emit_block(Value* begin, Value* in_quarters, Value* whole) {
  Value* quarter = b_.CreateLShr(b_.CreateSub(in_quarters, begin), f_.i64(2));
  if (plan_.unroll == kQuarters) return emit_turn(begin, quarter);
  // And what the first and the last turns were, and how many.
  std::vector<Value*> carried = sums_.values;
  carried.insert(carried.end(), sums_.values.begin(), sums_.values.end());
  carried.insert(carried.end(), sums_.values.begin(), sums_.values.end());
  carried.push_back(f_.i64(0));
  const std::size_t first = sums_.size(), last = 2 * first;
  const Loop turns = open_loop(b_, begin, carried);
  const Turn turn = begin_turn(turns, quarter, in_quarters, whole);
  emit_turn(turns.point, turn.quarter);

  Value* count = turns.carried.back();
  Value* is_second = b_.CreateICmpEQ(count, f_.i64(1));
  Value* is_fourth = b_.CreateICmpEQ(count, f_.i64(3));
  const std::vector<Value*> so_far = values_of(turns), now = sums_.values;
  const auto firsts = llvm::ArrayRef(so_far).slice(first, first), lasts = llvm::ArrayRef(so_far).slice(last, first);
  Value* ends_half = b_.CreateOr(is_second, is_fourth);
  std::vector<Value*> both = put_together(lasts, now);
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (sums_.is_of_part(k)) both[k] = select(f_, ends_half, both[k], now[k]);
    if (is_stacked(k)) {
      carried[last + k] = both[k];
      carried[first + k] = select(f_, is_second, both[k], firsts[k]);
    }
  }
  const std::vector<Value*> all = put_together(firsts, both);
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    carried[k] = sums_[k] = sums_.is_of_part(k) ? select(f_, is_fourth, all[k], both[k]) : all[k];
  }
  carried.back() = b_.CreateAdd(count, f_.i64(1));
  close_loop(b_, turns, b_.CreateMul(turn.quarter, f_.i64(plan_.unroll)), whole, carried);
}

void TurnEmitter::emit_blocks(Value* begin, Value* in_quarters, Value* whole) {
  const Pages pages = plan_.page > 0 ? emit_pages(begin, in_quarters) : Pages{.end = begin, .turns = f_.i64(0)};
  std::vector<Value*> carried = sums_.values;  // and how many turns there were
  carried.push_back(pages.turns);
  const Loop turns = open_loop(b_, pages.end, carried);
  if (kernel::looks_within(nest_.kernel, nest_.stage, plan_)) f_.ends.checkpoint();
  const int64_t block = static_cast<int64_t>(kVectorsOfBlock) * plan_.width;
  Value* block_begin = turns.point;
  if (plan_.unroll < kQuarters) {
    block_begin = b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(turns.point, begin), f_.i64(-block)));
  }
  Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateSub(in_quarters, block_begin), f_.i64(block));
  const Turn turn = begin_turn(turns, b_.CreateLShr(left, f_.i64(2)), in_quarters, whole);
  emit_turn(turns.point, turn.quarter);

  // After the last turn the stack is what it has come to; what is left over behind it is added to no level.
  Value* passed = b_.CreateMul(turn.quarter, f_.i64(plan_.unroll));
  Value* count = b_.CreateAdd(turns.carried.back(), f_.i64(1));
  Value* height = height_after(turns.carried.back());
  Value* is_last = b_.CreateICmpSGE(b_.CreateAdd(turns.point, passed), in_quarters);
  Value* level = b_.CreateSelect(is_last, f_.i64(0), level_of_turn(count, height));
  if (turn.is_quarter) level = b_.CreateSelect(turn.is_quarter, level, height);
  stack_sums(level, height);
  carried = sums_.values;
  carried.push_back(count);
  close_loop(b_, turns, passed, whole, carried);
}

/// As many quarters as are passed at a time, from `begin` on; sums_ becomes what they make together.
void TurnEmitter::emit_turn(Value* begin, Value* quarter) {
  squares_.count_as_numbers();
  squares_.look_for_first(begin);
  const Loop loop = open_loop(b_, begin, sums_.sets());
  const std::vector<Value*> next = passes_.emit_vectors_at(loop.point, quarter, loop.carried);
  close_loop(b_, loop, f_.i64(plan_.width), b_.CreateAdd(begin, quarter), next);
  folds_.merge_sets(next);
}

/// `values`, of several sets of sums, behind what came before them.
std::vector<Value*> TurnEmitter::added_to_each(llvm::ArrayRef<Value*> so_far, llvm::ArrayRef<Value*> values) {
  std::vector<Value*> out;
  const std::size_t size = sums_.size();
  for (std::size_t n = 0; n < values.size(); n += size) {
    const std::vector<Value*> both = put_together(so_far.slice(n, size), values.slice(n, size));
    out.insert(out.end(), both.begin(), both.end());
  }
  return out;
}

/// Several blocks side by side, a half of each and of that its quarters; sums_ becomes what they make together.
void TurnEmitter::emit_group(Value* begin) {
  const int64_t block = static_cast<int64_t>(kVectorsOfBlock) * plan_.width;
  sums_.values = sums_.emptied(sums_.values);
  squares_.count_as_numbers();
  const Loop halves = open_loop(b_, begin, sums_.sets());
  const Loop quarters = open_loop(b_, halves.point, sums_.emptied(values_of(halves)));
  squares_.look_for_first(quarters.point);
  const Loop loop = open_loop(b_, quarters.point, sums_.emptied(values_of(quarters)));
  std::vector<Value*> next = passes_.emit_vectors_at(loop.point, f_.i64(block), loop.carried);
  close_loop(b_, loop, f_.i64(plan_.width), b_.CreateAdd(quarters.point, f_.i64(block / 4)), next);
  next = added_to_each(values_of(quarters), next);
  close_loop(b_, quarters, f_.i64(block / 4), b_.CreateAdd(halves.point, f_.i64(block / 2)), next);
  next = added_to_each(values_of(halves), next);
  close_loop(b_, halves, f_.i64(block / 2), b_.CreateAdd(begin, f_.i64(block)), next);
  folds_.merge_sets(next);
}

/// Of a long loop groups of blocks, as long as another turn follows: where they end, and how many turns they were.
TurnEmitter::Pages TurnEmitter::emit_pages(Value* begin, Value* end) {
  const int64_t group = static_cast<int64_t>(kVectorsOfBlock) * plan_.width * plan_.unroll;
  Value* is_long = b_.CreateICmpSGE(f_.sizes.of(plan_.num_points()), f_.i64(plan_.pages_from));
  Value* points = b_.CreateAnd(b_.CreateSub(b_.CreateSub(end, begin), f_.i64(1)), f_.i64(-group));
  const Branch branch = open_if(b_, b_.CreateAnd(is_long, b_.CreateICmpSGT(points, f_.i64(0))));
  // The sums, and a number behind them: of groups, then where they end and of turns.
  std::vector<Value*> without = sums_.values, carried = sums_.values;
  without.insert(without.end(), {begin, f_.i64(0)});
  carried.push_back(f_.i64(0));
  const Loop groups = open_loop(b_, begin, carried);
  if (kernel::looks_within(nest_.kernel, nest_.stage, plan_)) f_.ends.checkpoint();
  sums_.values.assign(groups.carried.begin(), groups.carried.end() - 1);
  emit_group(groups.point);

  Value* count = b_.CreateAdd(groups.carried.back(), f_.i64(1));
  carried = sums_.values;
  carried.push_back(count);
  Value* height = height_after(groups.carried.back());
  stack_sums(level_of_turn(count, height), height);
  Value* pages_end = b_.CreateAdd(begin, points);
  close_loop(b_, groups, f_.i64(group), pages_end, carried);
  carried.pop_back();
  carried.insert(carried.end(), {pages_end, b_.CreateMul(count, f_.i64(kQuarters))});
  carried = close_if(b_, branch, carried, without);
  sums_.values.assign(carried.begin(), carried.end() - 2);
  return {.end = carried[sums_.size()], .turns = carried.back()};
}

}  // namespace inlay::llvm_backend
