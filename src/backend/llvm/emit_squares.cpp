// Sums of squares about the mean, in registers. Within a quarter (emit_turns.cpp) each lane has a mean of its own,
// which goes along from point to point (Welford), and the number of its points; quarters, and at last the lanes, are
// put together by these numbers (Chan). A mean is one of differences from the first point of the row: it is rounded to
// little where the numbers are close to each other, however large they are; and where the first is far from the others,
// the squares are large.
#include "backend/llvm/emit_squares.h"

#include <bit>

#include "support/error.h"

namespace inlay::llvm_backend {

using kernel::Statement;

namespace {

Value* at_least_one(FunctionEmitter& f, Value* count) {
  Value* one = number_like(count, 1);
  return f.b.CreateSelect(f.b.CreateFCmpOGT(count, one), count, one);
}

/// A count of all lanes, as a vector of counts like `mean`; a vector of them as it is.
Value* in_lanes(FunctionEmitter& f, Value* count, Value* mean) {
  if (count->getType() == mean->getType()) return count;
  const DType dtype = mean->getType()->getScalarType()->isFloatTy() ? DType::f32 : DType::f64;
  return splat(f, emit_cast(f, count, DType::f64, dtype), width_of(mean));
}

}  // namespace

void Moments::put(std::vector<Value*>& sums, std::size_t k) const {
  sums[k] = squares;
  sums[k + 1] = mean;
  sums[k + 2] = count;
}

Moments joined(FunctionEmitter& f, const Moments& a, const Moments& b) {
  Value* count = f.b.CreateFAdd(a.count, b.count);
  Value *of_a = in_lanes(f, a.count, a.mean), *of_b = in_lanes(f, b.count, b.mean);
  Value* weight = f.b.CreateFDiv(of_b, at_least_one(f, f.b.CreateFAdd(of_a, of_b)));
  Value* error = f.b.CreateFSub(b.mean, a.mean);
  Value* pairs = f.b.CreateFMul(of_a, weight);
  Value* between = f.b.CreateFMul(f.b.CreateFMul(error, error), pairs);
  between = f.b.CreateSelect(f.b.CreateFCmpOGT(pairs, number_like(pairs, 0)), between, number_like(between, 0));
  return {f.b.CreateFAdd(f.b.CreateFAdd(a.squares, b.squares), between),
          f.b.CreateFAdd(a.mean, f.b.CreateFMul(error, weight)), count};
}

void SquaresEmitter::begin_row(Value* begin, llvm::ArrayRef<Value*> before) {
  row_begin_ = begin;
  for (std::size_t k : sums_.sums_of_squares()) {
    Value* count = lane_of(f_, before[k + 2], f_.i64(0));
    are_new_[k] = b_.CreateFCmpOEQ(count, number_like(count, 0));
  }
}

void SquaresEmitter::count_as_numbers() {
  for (std::size_t k : sums_.sums_of_squares()) {
    const DType dtype = sums_.fold_of(k).dtype;
    sums_[k + 2] = emit_cast(f_, lane_of(f_, sums_[k + 2], f_.i64(0)), dtype, DType::f64);
  }
}

void SquaresEmitter::look_for_first(Value* begin) {
  passes_.clear();
  for (std::size_t k : sums_.sums_of_squares()) {
    passes_[k].none_before = b_.CreateAnd(are_new_.at(k), b_.CreateICmpEQ(begin, row_begin_));
  }
}

void SquaresEmitter::count(std::vector<Value*>& sums) {
  for (auto& [k, pass] : passes_) {
    const Statement& fold = sums_.fold_of(k);
    Value* count = sums[k + 2];
    Value* counted = sums[k + 2] = b_.CreateFAdd(count, number_like(count, 1));
    pass.is_first = b_.CreateAnd(b_.CreateFCmpOEQ(count, number_like(count, 0)), pass.none_before);
    Value* weight = b_.CreateFDiv(number_like(count, 1), counted);
    pass.weight = splat(f_, emit_cast(f_, weight, DType::f64, fold.dtype), nest_.plan.width);
    pass.has_first = false;
  }
}

void SquaresEmitter::follow_first_set(const std::vector<Value*>& first, std::vector<Value*>& sums) const {
  for (const auto& [k, pass] : passes_) {
    sums[k + 2] = first[k + 2];
    sums[k + Moments::kFirst] = first[k + Moments::kFirst];
  }
}

void SquaresEmitter::add_square(std::size_t sum, Value* x, Lanes& lanes, std::vector<Value*>& sums) {
  const Statement& fold = sums_.fold_of(sum);
  Value *&squares = sums[sum], *&mean = sums[sum + 1], *&count = sums[sum + 2], *&first = sums[sum + Moments::kFirst];
  const auto meet_first = [&](Value* is_first) {
    first = b_.CreateSelect(is_first, splat(f_, lane_of(f_, x, f_.i64(0)), lanes.width), first);
  };
  Value* weight = nullptr;
  if (lanes.active) {
    Value* of_first_lane = lane_of(f_, count, f_.i64(0));
    Value* is_empty = b_.CreateFCmpOEQ(of_first_lane, number_like(of_first_lane, 0));
    meet_first(b_.CreateAnd(is_empty, are_new_.at(sum)));
    Value* counted = b_.CreateFAdd(count, number_like(count, 1));
    weight = b_.CreateFDiv(number_like(count, 1), counted);
    count = select(f_, lanes.active, counted, count);
  } else {
    WholePass& pass = passes_.at(sum);
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
Value* SquaresEmitter::difference_of(DType dtype, Value* a, Value* b) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return emit_op(f_, ScalarOp::sub_, dtype, {a, b}, nullptr);
}

void SquaresEmitter::merge_squares(std::size_t sum, llvm::ArrayRef<Value*> sets) {
  std::vector<Moments> parts;
  for (std::size_t at = sum; at < sets.size(); at += sums_.size()) parts.push_back(Moments::of(sets, at));
  INLAY_CHECK(std::has_single_bit(parts.size()), "halves of ", parts.size(), " sets of sums");
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    for (std::size_t a = 0; a < parts.size() / 2; ++a) parts[a] = joined(f_, parts[2 * a], parts[2 * a + 1]);
  }
  parts[0].count = in_lanes(f_, parts[0].count, parts[0].mean);
  parts[0].put(sums_.values, sum);
  sums_[sum + Moments::kFirst] = sets[sum + Moments::kFirst];
}

/// By halves, as other sums.
Value* SquaresEmitter::squares_of_lanes(std::size_t sum) {
  Moments all = {sums_[sum], sums_[sum + 1], sums_[sum + 2]};
  for (int width = width_of(all.squares) / 2; width >= 1; width /= 2) {
    const auto half = [&](int first) {
      return Moments{some_lanes(f_, all.squares, first, width), some_lanes(f_, all.mean, first, width),
                     some_lanes(f_, all.count, first, width)};
    };
    all = joined(f_, half(0), half(width));
  }
  return lane_of(f_, all.squares, f_.i64(0));
}

}  // namespace inlay::llvm_backend
