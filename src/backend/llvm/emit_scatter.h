#pragma once
// Accumulating through an index that differs from lane to lane, see emit_scatter.cpp.
#include <algorithm>

#include "backend/llvm/emit_access.h"

namespace inlay::llvm_backend {

class ScatterEmitter {
 public:
  ScatterEmitter(NestState& nest, AccessEmitter& access)
      : nest_(nest), f_(nest.f), b_(nest.b), plan_(nest.plan), access_(access) {}

  /// Before the first loop, and behind the last.
  void open_tables();
  void close_tables();
  /// Accumulates.
  void scatter(std::size_t i, const Place& place, Value* value, Lanes& lanes);
  /// Stores; where lanes meet, the last one stays.
  void set(std::size_t i, const Place& place, Value* value, Lanes& lanes);
  /// May many points come to an element?
  bool passes_long_tables() const { return std::ranges::any_of(tables_, &PrivateTable::may_meet); }

 private:
  /// A copy of a small buffer for each lane.
  struct PrivateTable {
    std::size_t statement = 0;
    int64_t elements = 0, pitch = 0;  // of one lane's copy; from one copy to the next
    Value* table = nullptr;
    Value* meets_often = nullptr;  // is it worth asking whether all lanes hit one element?
    struct Waiting {
      Place place;
      Value* value = nullptr;
    };
    std::vector<Waiting> waiting;  // the vectors of this pass so far

    bool may_meet() const {
      const auto* known = llvm::dyn_cast<llvm::ConstantInt>(meets_often);
      return !known || known->isOne();
    }
  };

  bool wants_table(std::size_t i) const;
  Value* meets_often(int64_t elements);
  void scatter_together(PrivateTable& table, Lanes& lanes);
  void scatter_into_copies(std::size_t i, Place mine, int64_t pitch, Value* value, Lanes& lanes);
  void scatter_lane_by_lane(std::size_t i, const Place& place, int64_t pitch, Value* value, Lanes& lanes);

  NestState& nest_;
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  StagePlan& plan_;
  AccessEmitter& access_;
  std::vector<PrivateTable> tables_;
};

}  // namespace inlay::llvm_backend
