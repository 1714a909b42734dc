#pragma once
// Writes through an index that wait until a block of points is done, see scatter.cpp.
#include "backend/c/statement.h"

namespace inlay::c_backend {

class ScatterText {
 public:
  ScatterText(NestText& nest, FoldText& folds, StatementText& statements);

  /// Of the statements at a point of the innermost loop: does it stand behind the loop, if anywhere?
  bool waits(std::size_t i) const { return waits_[i] || is_left_out_[i]; }
  bool any_waits() const;
  /// None waits.
  void give_up();

  /// Before the loop over a block, which has at most so many points.
  void open_block(int64_t points);
  /// At a point, behind all that is computed there: what the writes need of it. The block begins at `from`.
  void leave_point(const std::string& point, const std::string& from);
  /// Behind that loop.
  void write_block(const std::string& point, const std::string& from, const std::string& to);

 private:
  struct Kept {  // a value of each point of a block
    kernel::RegisterId value;
    std::string lanes;
  };

  bool may_wait(std::size_t i) const;
  bool is_touched_at_points(std::size_t i) const;
  void leave_out_loads();
  bool is_worth_it() const;
  const kernel::Statement* known_load(kernel::RegisterId r) const;
  std::vector<kernel::RegisterId> needed() const;
  bool goes_by_runs(std::size_t i) const;
  void write_runs(kernel::RegisterId index, const std::vector<std::size_t>& statements, const std::string& point,
                  const std::string& from, const std::string& to);

  NestText& nest_;
  ProgramText& p_;
  Text& out_;
  FoldText& folds_;
  StatementText& statements_;
  std::vector<bool> waits_;        // by statement
  std::vector<bool> is_left_out_;  // likewise: a load for what waits alone, which has its own
  std::vector<Kept> kept_;
};

}  // namespace inlay::c_backend
