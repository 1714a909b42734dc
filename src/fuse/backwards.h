#pragma once
// Loops that pass an axis from its end.
#include "fuse/piece.h"

namespace inlay::fuse {

/// For each value, in which direction the running values are made that it is computed from at their own points, be it
/// through flips: the gradient of a cumulative sum is `flip (cumulative add (flip ...))`, and so one loop with that sum
/// where it is passed from its end. What a running value waits for is there before the loop, in any direction; so the
/// last one that is made decides. A flip is made in the order of its operand, as whatever else is made of that.
class Directions {
 public:
  Directions() = default;
  explicit Directions(const Graph& graph);

  /// Lets the loop, whose last dims are those of `v`, pass them in that direction.
  void apply(ValueId v, Loop& loop) const;
  /// Is this dim of `v` passed from its end?
  bool is_from_end(ValueId v, std::size_t dim) const { return dim < of_[v].size() && of_[v][dim].from_end; }

 private:
  struct Axis {
    ValueId running;  // that decides; none: any direction will do, and a flip's own is not that of what is made of it
    bool from_end = false;
  };
  std::vector<Axis> directions_of(const Graph& graph, ValueId v) const;

  IdMap<ValueId, std::vector<Axis>> of_;  // by axis; empty: any direction will do
};

}  // namespace inlay::fuse
