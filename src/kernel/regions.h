#pragma once
// Regions: where the loops and conds of a program begin and end (Note [Flat regions] in kernel.h).
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// The body of a loop is the steps between `begin` and `end`; a cond's second body starts at `otherwise`.
struct RegionSpan {
  StepId begin, otherwise, end;  // otherwise: of a cond
  bool is_loop() const { return !otherwise.valid(); }
  int around = -1;  // the innermost region that holds this one, in the list of all; none: -1
  bool holds(StepId step) const { return begin < step && step < end; }
};

/// The borders of bodies: a step opens a body, closes one, or is an else, which does both.
inline bool opens_body(const Step& step) {
  return std::holds_alternative<LoopBegin>(step) || std::holds_alternative<CondBegin>(step);
}
inline bool closes_body(const Step& step) {
  return std::holds_alternative<LoopEnd>(step) || std::holds_alternative<CondEnd>(step);
}
inline bool is_border(const Step& step) {
  return opens_body(step) || closes_body(step) || std::holds_alternative<CondElse>(step);
}

/// Returns all regions, ordered by their beginnings: outer ones before inner ones. Empty if the markers are not nested
/// correctly, which verify reports.
std::vector<RegionSpan> regions_of(const KernelProgram& program);

/// The regions as a tree. A program may have as many regions as steps, so what asks about a step looks only at those
/// around it.
class Nesting {
 public:
  explicit Nesting(const KernelProgram& program);

  bool is_empty() const { return regions_.empty(); }

  /// Returns the innermost region that holds the step, begins with it or ends with it; null: none does.
  const RegionSpan* innermost(StepId step) const { return is_empty() ? nullptr : at(innermost_[step]); }
  /// Returns the innermost region that holds the step.
  const RegionSpan* holding(StepId step) const;
  const RegionSpan* around(const RegionSpan& region) const { return at(region.around); }

 private:
  const RegionSpan* at(int region) const { return region < 0 ? nullptr : &regions_[static_cast<std::size_t>(region)]; }

  std::vector<RegionSpan> regions_;
  IdMap<StepId, int> innermost_;  // none where there are no regions
};

/// Returns the region that begins at this step.
const RegionSpan& region_at(const std::vector<RegionSpan>& regions, StepId begin);

/// Says what is wrong with the nesting of the markers; empty if nothing is.
std::string why_not_nested(const KernelProgram& program);

}  // namespace inlay::kernel
