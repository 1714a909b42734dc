#pragma once
// Proves that every index marked as checked before was checked.
//
// It numbers values: at each point each register gets a number that is determined by the statement and its operands.
// The number of a load is determined by the buffer, how often that has changed, and the element. So two registers with
// one number hold one value in any stage, and an index with the number and the extent of one that was checked is in
// bounds. So is an element of an array whose facts say so for that extent.
#include <set>
#include <span>
#include <utility>

#include "kernel/kernel.h"

namespace inlay::memory {

class IndexProof {
 public:
  IndexProof(const kernel::KernelProgram& program, std::span<const int64_t> symbols);

  /// Does the program mark any index as checked before? (Otherwise there is nothing to prove.)
  bool is_asked() const { return is_asked_; }

  /// Records what the step changes: all writes of a step that is no kernel, or the starts of a kernel.
  void pass_step(const kernel::Step& step);
  /// Begins a stage; its points follow.
  void begin_stage(const kernel::Stage& stage);
  /// Returns false if the stage uses an index as checked that nothing before it has checked.
  bool pass_point(const kernel::Stage& stage, std::span<const int64_t> point);

 private:
  uint64_t number_of(const kernel::Statement& statement, std::span<const int64_t> point) const;
  uint64_t number_of(const kernel::Subscript& subscript, std::span<const int64_t> point) const;
  /// Do the facts of the array that the index was loaded from say that it lies in [-extent, extent)?
  bool is_known_within(const kernel::IndexTerm& index, int64_t extent) const;
  void change(kernel::BufferId buffer) { ++versions_[kernel::root_of(program_, buffer)]; }

  const kernel::KernelProgram& program_;
  std::span<const int64_t> symbols_;
  bool is_asked_ = false;
  IdMap<kernel::BufferId, uint64_t> versions_;
  std::vector<uint64_t> registers_;                 // the value numbers of the current point
  std::vector<Facts> facts_;                        // of the arrays that these were loaded from
  std::set<std::pair<uint64_t, int64_t>> checked_;  // value number and extent; from stages before this one
  std::set<std::pair<uint64_t, int64_t>> checked_here_;
  uint64_t last_unknown_ = 0;
};

}  // namespace inlay::memory
