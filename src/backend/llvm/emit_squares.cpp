// Sums of squares about the mean, in registers. Each lane has a mean of its own, which goes along from point to point
// (Welford), and counts its points; the lanes are put together by their counts (Chan). A mean is one of differences
// from the first point that there was: so what it is rounded to is small where the numbers are close to each other,
// however large they are; and where the first is far from the others, the squares are large.
#include <bit>

#include "backend/llvm/stage.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Pair;
using kernel::Statement;

/// A loop over whole vectors begins anew, so that it counts in one number: one division serves all vectors of a pass.
void StageEmitter::begin_squares() {
  squares_passes_.clear();
  for (std::size_t k = 0; k < sums_.size(); k += num_states(sum_statements_[k])) {
    if (statement(sum_statements_[k]).pair != Pair::squares) continue;
    Value*& count = sums_[k + 2];
    Value* of_first_lane = lane_of(f_, count, f_.i64(0));
    squares_passes_[k].none_before = b_.CreateFCmpOEQ(of_first_lane, number_like(of_first_lane, 0));
    sums_[k] = sums_[k + 1] = number_like(sums_[k], 0);
    count = f_.constant(Literal::of(DType::f64, 0));
  }
}

Value* StageEmitter::at_least_one(Value* count) {
  Value* one = number_like(count, 1);
  return b_.CreateSelect(b_.CreateFCmpOGT(count, one), count, one);
}

/// Of the first vector of a pass: its points are one more in each lane.
void StageEmitter::count_for_squares(std::vector<Value*>& sums) {
  for (auto& [k, pass] : squares_passes_) {
    const Statement& fold = statement(sum_statements_[k]);
    Value* count = sums[k + 2];
    Value* counted = sums[k + 2] = b_.CreateFAdd(count, number_like(count, 1));
    pass.is_first = b_.CreateAnd(b_.CreateFCmpOEQ(count, number_like(count, 0)), pass.none_before);
    Value* weight = b_.CreateFDiv(number_like(count, 1), counted);
    pass.weight = splat(f_, emit_cast(f_, weight, DType::f64, fold.dtype), plan_.width);
    pass.has_first = false;
  }
}

/// Of another vector of a pass: what the first has counted.
void StageEmitter::follow_first_set(const std::vector<Value*>& first, std::vector<Value*>& sums) const {
  for (const auto& [k, pass] : squares_passes_) {
    sums[k + 2] = first[k + 2];
    sums[k + kFirstState] = first[k + kFirstState];
  }
}

void StageEmitter::add_square(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = statement(sum_statements_[sum]);
  Value *&squares = sums[sum], *&mean = sums[sum + 1], *&count = sums[sum + 2], *&first = sums[sum + kFirstState];
  Value* x = folded(fold, lanes);
  const auto meet_first = [&](Value* is_first) {
    first = b_.CreateSelect(is_first, splat(f_, lane_of(f_, x, f_.i64(0)), lanes.width), first);
  };
  Value* weight = nullptr;
  if (lanes.active) {
    Value* of_first_lane = lane_of(f_, count, f_.i64(0));
    meet_first(b_.CreateFCmpOEQ(of_first_lane, number_like(of_first_lane, 0)));
    Value* counted = b_.CreateFAdd(count, number_like(count, 1));
    weight = b_.CreateFDiv(number_like(count, 1), counted);
    count = select(f_, lanes.active, counted, count);
  } else {
    WholePass& pass = squares_passes_.at(sum);
    if (!pass.has_first) meet_first(pass.is_first);
    pass.has_first = true;
    weight = pass.weight;
  }
  Value* difference = difference_of(fold.dtype, x, first);
  Value* error = b_.CreateFSub(difference, mean);
  Value* next = b_.CreateFAdd(mean, b_.CreateFMul(error, weight));
  Value* grown = b_.CreateFAdd(squares, b_.CreateFMul(error, b_.CreateFSub(difference, next)));
  mean = lanes.active ? select(f_, lanes.active, next, mean) : next;
  squares = lanes.active ? select(f_, lanes.active, grown, squares) : grown;
}

/// a - b, of a as it is: a product that is too large is infinite, not a part of this.
Value* StageEmitter::difference_of(DType dtype, Value* a, Value* b) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return emit_op(f_, ScalarOp::sub_, dtype, {a, b}, nullptr);
}

/// The sets of sums that the vectors of one pass had, all of as many points, and what was before the loop.
void StageEmitter::merge_squares(std::size_t sum, llvm::ArrayRef<Value*> sets, llvm::ArrayRef<Value*> before) {
  const DType dtype = statement(sum_statements_[sum]).dtype;
  std::vector<Moments> parts;
  for (std::size_t at = sum; at < sets.size(); at += sums_.size()) parts.push_back({sets[at], sets[at + 1], nullptr});
  INLAY_CHECK(std::has_single_bit(parts.size()), "halves of ", parts.size(), " sets of sums");
  Value* count = sets[sum + 2];
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    Value* half = emit_cast(f_, b_.CreateFMul(count, number_like(count, 0.5)), DType::f64, dtype);
    for (std::size_t a = 0, b = parts.size() / 2; b < parts.size(); ++a, ++b) {
      Value* error = b_.CreateFSub(parts[b].mean, parts[a].mean);
      Value* between = b_.CreateFMul(b_.CreateFMul(error, error), splat(f_, half, plan_.width));
      parts[a].squares = b_.CreateFAdd(b_.CreateFAdd(parts[a].squares, parts[b].squares), between);
      parts[a].mean = b_.CreateFAdd(parts[a].mean, b_.CreateFMul(error, number_like(error, 0.5)));
    }
    count = b_.CreateFMul(count, number_like(count, 2));
  }
  parts[0].count = splat(f_, emit_cast(f_, count, DType::f64, dtype), plan_.width);
  const Moments all = joined({before[sum], before[sum + 1], before[sum + 2]}, parts[0]);
  sums_[sum] = all.squares;
  sums_[sum + 1] = all.mean;
  sums_[sum + 2] = all.count;
  sums_[sum + kFirstState] = sets[sum + kFirstState];
}

StageEmitter::Moments StageEmitter::joined(const Moments& a, const Moments& b) {
  Value* count = b_.CreateFAdd(a.count, b.count);
  Value* weight = b_.CreateFDiv(b.count, at_least_one(count));
  Value* error = b_.CreateFSub(b.mean, a.mean);
  Value* between = b_.CreateFMul(b_.CreateFMul(error, error), b_.CreateFMul(a.count, weight));
  return {b_.CreateFAdd(b_.CreateFAdd(a.squares, b.squares), between),
          b_.CreateFAdd(a.mean, b_.CreateFMul(error, weight)), count};
}

/// By halves, as other sums.
Value* StageEmitter::squares_of_lanes(std::size_t sum) {
  Moments all = {sums_[sum], sums_[sum + 1], sums_[sum + 2]};
  for (int width = width_of(all.squares) / 2; width >= 1; width /= 2) {
    const auto half = [&](int first) {
      return Moments{some_lanes(all.squares, first, width), some_lanes(all.mean, first, width),
                     some_lanes(all.count, first, width)};
    };
    all = joined(half(0), half(width));
  }
  return lane_of(f_, all.squares, f_.i64(0));
}

}  // namespace inlay::llvm_backend
