#pragma once
// Where the statements of a stage find their elements: addresses, and indices that are looked at.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "backend/llvm/nest_state.h"

namespace inlay::llvm_backend {

class AccessEmitter {
 public:
  explicit AccessEmitter(NestState& nest)
      : nest_(nest), f_(nest.f), b_(nest.b), plan_(nest.plan), starts_(nest.plan.statements.size()) {}

  Place place(std::size_t i, Lanes& lanes);
  /// The address that the loops outside of the vector loop fix.
  Value* start_of(std::size_t i, Lanes& lanes);
  /// Where the element of one lane lies, counted from `place.start`, of a place that statement `i` had.
  Value* lane_offset(std::size_t i, const Place& place, int lane);
  /// An index that counts from the front, and is in its bounds.
  Value* wrapped(const kernel::IndexTerm& index, Lanes& lanes);
  /// Behind the vector loop.
  void forget_starts() {
    std::ranges::fill(starts_, nullptr);
    shared_.clear();
  }

  /// Is the buffer a register of the function here?
  bool is_in_register(kernel::BufferId buffer) const {
    return f_.places.is_scalar(buffer) && !f_.places.is_spilled(buffer);
  }
  /// Where statement `i` has its element; none: in a register of the function.
  std::optional<Place> memory_of(std::size_t i, Lanes& lanes);
  Value* element(std::size_t i, const std::optional<Place>& memory, Lanes& lanes);
  void set_element(std::size_t i, const std::optional<Place>& memory, Value* value, Lanes& lanes);
  /// buffer[place] = combine(buffer[place], value), where no two lanes meet.
  void combine_into(std::size_t i, Value* value, Lanes& lanes);

 private:
  Value* shared(llvm::Instruction::BinaryOps op, Value* left, Value* right, bool before_vector_loop);
  Value* check_index(const kernel::IndexTerm& index, Value* value, Lanes& lanes);
  bool indices_stay(std::size_t i) const;

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const StagePlan& plan_;
  std::vector<Value*> starts_;                                                         // by statement
  std::map<std::tuple<llvm::Instruction::BinaryOps, Value*, Value*>, Value*> shared_;  // by op and operands
};

}  // namespace inlay::llvm_backend
