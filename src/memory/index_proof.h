#pragma once
// Was every index that is taken for checked checked before?
//
// By numbering values: at each point each register gets a number, made of what it is made of. A load is made of the
// buffer, of how often that has changed, and of the place. So two registers with one number hold one value, wherever
// they stand; and an index with the number and the extent of one that was checked is in bounds.
#include <set>
#include <span>
#include <utility>

#include "kernel/kernel.h"

namespace inlay::memory {

class IndexProof {
 public:
  IndexProof(const kernel::KernelProgram& program, std::span<const int64_t> symbols);

  /// Does the program take any index for checked? (Otherwise there is nothing to prove.)
  bool is_asked() const { return is_asked_; }

  /// The step, which is no kernel, or the starts of one that is, changes what it writes.
  void pass_step(const kernel::Step& step);
  /// A stage begins; then its points follow.
  void begin_stage(const kernel::Stage& stage);
  /// False: the stage takes an index for checked that nothing before it has checked.
  bool pass_point(const kernel::Stage& stage, std::span<const int64_t> point);

 private:
  uint64_t number_of(const kernel::Statement& statement, std::span<const int64_t> point) const;
  uint64_t number_of(const kernel::Subscript& subscript, std::span<const int64_t> point) const;
  void change(kernel::BufferId buffer) { ++versions_[kernel::root_of(program_, buffer)]; }

  const kernel::KernelProgram& program_;
  std::span<const int64_t> symbols_;
  bool is_asked_ = false;
  IdMap<kernel::BufferId, uint64_t> versions_;
  std::vector<uint64_t> registers_;                 // their numbers, at a point
  std::set<std::pair<uint64_t, int64_t>> checked_;  // number and extent; by stages before this one
  std::set<std::pair<uint64_t, int64_t>> checked_here_;
  uint64_t last_unknown_ = 0;
};

}  // namespace inlay::memory
