#pragma once
// Folds in registers, from the loop that they open at to the element in memory; see emit_fold.cpp.
#include "backend/llvm/emit_access.h"
#include "backend/llvm/emit_squares.h"

namespace inlay::llvm_backend {

class FoldEmitter {
 public:
  FoldEmitter(NestState& nest, AccessEmitter& access, SumRegisters& sums, SquaresEmitter& squares)
      : nest_(nest), f_(nest.f), b_(nest.b), plan_(nest.plan), access_(access), sums_(sums), squares_(squares) {}

  /// Around the loop that opens at `level`.
  void open_sums(int level);
  void finish_sums(int level);

  /// One pass more in `sums`.
  void add_to_sum(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  /// What the fold adds, in the fold's dtype.
  Value* folded(const kernel::Statement& fold, Lanes& lanes);
  /// What the fold that statement `i` opens makes of two parts, by the row.
  std::vector<Value*> merged_states(std::size_t i, llvm::ArrayRef<Value*> a, llvm::ArrayRef<Value*> b);
  /// The sets of sums that the vectors of one pass had become the sums: sum k of set u is sets[u * num_sums + k].
  void merge_sets(const std::vector<Value*>& sets);

  /// What all sums are of two parts of the points, lane by lane, the later part being the newer.
  std::vector<Value*> merged_parts(llvm::ArrayRef<Value*> older, llvm::ArrayRef<Value*> newer);
  /// What the elements hold, of which each lane has its own, and what the sums are of more points.
  void merge_parts_into_memory(llvm::ArrayRef<Value*> sums, Lanes& lanes);
  /// What the fold that statement `i` opens has at `places` (of each stored state), and `states`.
  void merge_into(std::size_t i, llvm::ArrayRef<std::optional<Place>> places, llvm::ArrayRef<Value*> states,
                  Lanes& lanes);

  /// Statement `i` opens a fold whose lanes have elements of their own; or there is but one point.
  void fold_states(std::size_t i, Lanes& lanes);

 private:
  const kernel::Statement* added_product(const kernel::Statement& fold) const;
  std::vector<Value*> states_with_point(std::size_t sum, Lanes& lanes, llvm::ArrayRef<Value*> sums);
  bool have_met_nothing(std::size_t sum, llvm::ArrayRef<Value*> states) const;
  void run_on(std::size_t sum, Lanes& lanes, std::vector<Value*>& sums);
  Value* lanes_so_far(const kernel::Statement& fold, Value* value, Value* before);
  std::vector<DType> fold_dtypes(std::size_t i) const;
  std::vector<Value*> lifted(std::size_t i, Lanes& lanes);
  std::vector<Value*> states_of_sets(std::size_t k, std::size_t count, llvm::ArrayRef<Value*> sets);
  std::vector<Value*> states_of_lanes(std::size_t k, std::size_t count);
  void merge_into(std::size_t i, llvm::ArrayRef<Value*> states, Lanes& lanes);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  AccessEmitter& access_;
  SumRegisters& sums_;
  SquaresEmitter& squares_;
};

}  // namespace inlay::llvm_backend
