#pragma once
// The registers in which the folds of a stage add up over loops: one for each lane, and of a fold of several states one
// for each state.
#include "backend/llvm/nest_state.h"

namespace inlay::llvm_backend {

class SumRegisters {
 public:
  explicit SumRegisters(NestState& nest);

  std::size_t size() const { return values.size(); }
  Value*& operator[](std::size_t sum) { return values[sum]; }
  std::size_t statement_of(std::size_t sum) const { return statements_[sum]; }
  const kernel::Statement& fold_of(std::size_t sum) const { return nest_.statement(statements_[sum]); }
  /// Calls visit(sum, count) with the registers of all states of each fold.
  template <class Visit>
  void for_each_fold(Visit visit) const {
    for (std::size_t sum = 0, count = 0; sum < size(); sum += count) {
      count = facts(fold_of(sum).fold).states.size();
      visit(sum, count);
    }
  }
  /// The first states of the folds of moments.
  std::vector<std::size_t> sums_of_squares() const;

  /// Is it a sum whose points make a tree, since it rounds?
  bool is_tree_sum(std::size_t sum) const;
  /// Is it of squares, mean or count: all of moments but the first point, which stays what it is?
  bool is_squares_state(std::size_t sum) const;
  /// A part of the points has it for itself, and parts are put together: sums, and moments.
  bool is_of_part(std::size_t sum) const { return is_tree_sum(sum) || is_squares_state(sum); }
  /// Is it the maximum that exponentials are less than?
  bool follows_exponentials(std::size_t sum) const;

  /// What has met no point.
  Value* nothing_of(std::size_t sum) const;
  /// `all`, of one or several sets of sums, where nothing has been added yet.
  std::vector<Value*> emptied(std::vector<Value*> all) const;
  /// One set of sums for each vector of a pass: they do not wait for each other.
  std::vector<Value*> sets() const;

  std::vector<Value*> values;  // where we are

 private:
  const FoldState& state_of(std::size_t sum) const;

  NestState& nest_;
  std::vector<std::size_t> statements_;  // by register
};

}  // namespace inlay::llvm_backend
