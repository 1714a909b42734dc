#pragma once
// Sums of squares about the mean, in registers; see emit_squares.cpp.
#include <map>

#include "backend/llvm/sums.h"

namespace inlay::llvm_backend {

/// What a fold of squares has met, lane by lane.
struct Moments {
  Value *squares = nullptr, *mean = nullptr, *count = nullptr;
  static Moments of(llvm::ArrayRef<Value*> sums, std::size_t k) { return {sums[k], sums[k + 1], sums[k + 2]}; }
  void put(std::vector<Value*>& sums, std::size_t k) const;
  /// Behind them: the first x, which the mean is less of, in all lanes.
  static constexpr std::size_t kFirst = 3;
};

/// Of two parts. One without a point adds nothing, however far the other's mean is from the first point.
Moments joined(FunctionEmitter& f, const Moments& a, const Moments& b);

class SquaresEmitter {
 public:
  SquaresEmitter(NestState& nest, SumRegisters& sums) : nest_(nest), f_(nest.f), b_(nest.b), sums_(sums) {}

  /// Points of the vector axis are passed from `begin` on, where the sums are `before`.
  void begin_row(Value* begin, llvm::ArrayRef<Value*> before);
  /// All lanes have met as many whole vectors. While more of them are passed they are counted in one number: one
  /// division serves all vectors of a pass.
  void count_as_numbers();
  /// Whole vectors are passed from `begin` on.
  void look_for_first(Value* begin);
  /// Of the first vector of a pass: its points are one more in each lane.
  void count(std::vector<Value*>& sums);
  /// Of another vector of a pass: what the first has counted.
  void follow_first_set(const std::vector<Value*>& first, std::vector<Value*>& sums) const;
  void add_square(std::size_t sum, Value* x, Lanes& lanes, std::vector<Value*>& sums);
  /// The sets of sums that the vectors of one pass had, all of as many points; by pairs, as other sums.
  void merge_squares(std::size_t sum, llvm::ArrayRef<Value*> sets);
  Value* squares_of_lanes(std::size_t sum);

 private:
  /// While whole vectors are passed: what all sets of sums have in common.
  struct WholePass {
    Value* none_before = nullptr;  // has this loop the first point?
    Value* is_first = nullptr;     // is this its first pass?
    Value* weight = nullptr;       // 1 / count
    bool has_first = false;        // has the first vector of the pass been here?
  };

  Value* difference_of(DType dtype, Value* a, Value* b);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  SumRegisters& sums_;
  std::map<std::size_t, WholePass> passes_;  // by number of sum
  std::map<std::size_t, Value*> are_new_;    // likewise: has no point been met before row_begin_?
  Value* row_begin_ = nullptr;               // where the points of the vector axis begin that are passed now
};

}  // namespace inlay::llvm_backend
