#pragma once
// Where the loops and conds of a program begin and end.
#include <vector>

#include "kernel/kernel.h"

namespace inlay::kernel {

/// The steps between `begin` and `end` are its body; of a cond, those from `otherwise` on its second one.
struct RegionSpan {
  StepId begin, otherwise, end;  // otherwise: of a cond
  bool is_loop() const { return !otherwise.valid(); }
  bool holds(StepId step) const { return begin < step && step < end; }
};

/// Do steps that follow stand in a body that did not hold this one, or the other way round? (An else does both.)
inline bool opens_body(const Step& step) {
  return std::holds_alternative<LoopBegin>(step) || std::holds_alternative<CondBegin>(step);
}
inline bool closes_body(const Step& step) {
  return std::holds_alternative<LoopEnd>(step) || std::holds_alternative<CondEnd>(step);
}
inline bool is_border(const Step& step) {
  return opens_body(step) || closes_body(step) || std::holds_alternative<CondElse>(step);
}

/// All of them, by their beginnings: outer ones before inner ones. Empty where the markers do not fit each other, which
/// verify complains of.
std::vector<RegionSpan> regions_of(const KernelProgram& program);

/// The region that begins at this step.
const RegionSpan& region_at(const std::vector<RegionSpan>& regions, StepId begin);

/// Do the markers stand in pairs? If not, what is wrong.
std::string why_not_nested(const KernelProgram& program);

}  // namespace inlay::kernel
