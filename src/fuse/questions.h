#pragma once
// What was asked while one stage was written, and the registers that hold the answers.
#include <vector>

#include "fuse/points.h"
#include "ir/graph.h"

namespace inlay::fuse {

/// One load of a stored value, or one computation of another.
struct Demand {
  ValueId value;
  Point at = nullptr;
  bool loaded = false;
  bool made = false;  // the stage writes it: that it is stored is no reason to load it
};

/// One table serves many stages in turn: what a program's values were asked lies in lists by value, so that it costs
/// neither hashing nor memory anew.
class Questions {
 public:
  explicit Questions(std::size_t num_values) : newest_(num_values, kNone) {}

  /// The answer to the value at the point, if that was asked.
  const kernel::RegisterId* find(ValueId v, Point at) const {
    for (int q = newest_[v]; q != kNone; q = answers_[q].older) {
      if (demands_[q].at == at) return &answers_[q].reg;
    }
    return nullptr;
  }

  /// A new question, whose number is given back; `answer` follows.
  int ask(const Demand& demand) {
    demands_.push_back(demand);
    answers_.push_back({{}, newest_[demand.value]});
    return newest_[demand.value] = static_cast<int>(answers_.size()) - 1;
  }
  void answer(int question, kernel::RegisterId reg) { answers_[question].reg = reg; }

  /// Every question, in order.
  const std::vector<Demand>& demands() const { return demands_; }

  void clear() {
    for (const Demand& demand : demands_) newest_[demand.value] = kNone;
    demands_.clear();
    answers_.clear();
  }

 private:
  static constexpr int kNone = -1;
  struct Answer {
    kernel::RegisterId reg;
    int older = kNone;  // the question for the same value that was asked before
  };
  std::vector<Demand> demands_;
  std::vector<Answer> answers_;  // by question, as demands_
  IdMap<ValueId, int> newest_;   // the last question for the value
};

}  // namespace inlay::fuse
