// Sums of squares about the mean, in registers. Within a quarter (emit_turns.cpp) each lane has a mean of its own,
// which goes along from point to point (Welford), and the number of its points; quarters, and at last the lanes, are
// put together by these numbers (Chan). A mean is one of differences from the first point of the row: it is rounded to
// little where the numbers are close to each other, however large they are; and where the first is far from the others,
// the squares are large.
#include <bit>

#include "backend/llvm/stage.h"
#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

std::vector<std::size_t> StageEmitter::sums_of_squares() const {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < sums_.size(); k += num_states(sum_statements_[k])) {
    if (nest_.statement(sum_statements_[k]).fold == Fold::moments) out.push_back(k);
  }
  return out;
}

/// Squares, mean or count: all but the first point, which stays what it is.
bool StageEmitter::is_squares_state(std::size_t sum) const {
  const bool is_of_squares = nest_.statement(sum_statements_[sum]).fold == Fold::moments;
  return is_of_squares && sum + 1 < sums_.size() && sum_statements_[sum + 1] == sum_statements_[sum];
}

StageEmitter::Moments StageEmitter::moments(llvm::ArrayRef<Value*> sums, std::size_t k) {
  return {sums[k], sums[k + 1], sums[k + 2]};
}

void StageEmitter::Moments::put(std::vector<Value*>& sums, std::size_t k) const {
  sums[k] = squares;
  sums[k + 1] = mean;
  sums[k + 2] = count;
}

/// All lanes have met as many whole vectors. While more of them are passed they are counted in one number: one division
/// serves all vectors of a pass.
void StageEmitter::count_as_numbers() {
  for (std::size_t k : sums_of_squares()) {
    const DType dtype = nest_.statement(sum_statements_[k]).dtype;
    sums_[k + 2] = emit_cast(f_, lane_of(f_, sums_[k + 2], f_.i64(0)), dtype, DType::f64);
  }
}

/// Whole vectors are passed from `begin` on.
void StageEmitter::look_for_first(Value* begin) {
  squares_passes_.clear();
  for (std::size_t k : sums_of_squares()) {
    squares_passes_[k].none_before = b_.CreateAnd(squares_are_new_.at(k), b_.CreateICmpEQ(begin, row_begin_));
  }
}

Value* StageEmitter::at_least_one(Value* count) {
  Value* one = number_like(count, 1);
  return b_.CreateSelect(b_.CreateFCmpOGT(count, one), count, one);
}

/// Of the first vector of a pass: its points are one more in each lane.
void StageEmitter::count_for_squares(std::vector<Value*>& sums) {
  for (auto& [k, pass] : squares_passes_) {
    const Statement& fold = nest_.statement(sum_statements_[k]);
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
  const Statement& fold = nest_.statement(sum_statements_[sum]);
  Value *&squares = sums[sum], *&mean = sums[sum + 1], *&count = sums[sum + 2], *&first = sums[sum + kFirstState];
  Value* x = folded(fold, lanes);
  const auto meet_first = [&](Value* is_first) {
    first = b_.CreateSelect(is_first, splat(f_, lane_of(f_, x, f_.i64(0)), lanes.width), first);
  };
  Value* weight = nullptr;
  if (lanes.active) {
    Value* of_first_lane = lane_of(f_, count, f_.i64(0));
    Value* is_empty = b_.CreateFCmpOEQ(of_first_lane, number_like(of_first_lane, 0));
    meet_first(b_.CreateAnd(is_empty, squares_are_new_.at(sum)));
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

/// The sets of sums that the vectors of one pass had, all of as many points; by pairs, as other sums.
void StageEmitter::merge_squares(std::size_t sum, llvm::ArrayRef<Value*> sets) {
  std::vector<Moments> parts;
  for (std::size_t at = sum; at < sets.size(); at += sums_.size()) parts.push_back(moments(sets, at));
  INLAY_CHECK(std::has_single_bit(parts.size()), "halves of ", parts.size(), " sets of sums");
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (std::size_t a = 0; a < parts.size() / 2; ++a) parts[a] = joined(parts[2 * a], parts[2 * a + 1]);
  }
  parts[0].count = in_lanes(parts[0].count, parts[0].mean);
  parts[0].put(sums_, sum);
  sums_[sum + kFirstState] = sets[sum + kFirstState];
}

/// A count of all lanes, as a vector of counts like `mean`; a vector of them as it is.
Value* StageEmitter::in_lanes(Value* count, Value* mean) {
  if (count->getType() == mean->getType()) return count;
  const DType dtype = mean->getType()->getScalarType()->isFloatTy() ? DType::f32 : DType::f64;
  return splat(f_, emit_cast(f_, count, DType::f64, dtype), width_of(mean));
}

/// Of two parts. One without a point adds nothing, however far the other's mean is from the first point.
StageEmitter::Moments StageEmitter::joined(const Moments& a, const Moments& b) {
  Value* count = b_.CreateFAdd(a.count, b.count);
  Value *of_a = in_lanes(a.count, a.mean), *of_b = in_lanes(b.count, b.mean);
  Value* weight = b_.CreateFDiv(of_b, at_least_one(b_.CreateFAdd(of_a, of_b)));
  Value* error = b_.CreateFSub(b.mean, a.mean);
  Value* pairs = b_.CreateFMul(of_a, weight);
  Value* between = b_.CreateFMul(b_.CreateFMul(error, error), pairs);
  between = b_.CreateSelect(b_.CreateFCmpOGT(pairs, number_like(pairs, 0)), between, number_like(between, 0));
  return {b_.CreateFAdd(b_.CreateFAdd(a.squares, b.squares), between),
          b_.CreateFAdd(a.mean, b_.CreateFMul(error, weight)), count};
}

/// By halves, as other sums.
Value* StageEmitter::squares_of_lanes(std::size_t sum) {
  Moments all = {sums_[sum], sums_[sum + 1], sums_[sum + 2]};
  for (int width = width_of(all.squares) / 2; width >= 1; width /= 2) {
    const auto half = [&](int first) {
      return Moments{some_lanes(f_, all.squares, first, width), some_lanes(f_, all.mean, first, width),
                     some_lanes(f_, all.count, first, width)};
    };
    all = joined(half(0), half(width));
  }
  return lane_of(f_, all.squares, f_.i64(0));
}

}  // namespace inlay::llvm_backend
