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

/// All of them, by their beginnings: outer ones before inner ones. Empty where the markers do not fit each other, which
/// verify complains of.
std::vector<RegionSpan> regions_of(const KernelProgram& program);

/// The region that begins at this step.
const RegionSpan& region_at(const std::vector<RegionSpan>& regions, StepId begin);

/// Do the markers stand in pairs? If not, what is wrong.
std::string why_not_nested(const KernelProgram& program);

}  // namespace inlay::kernel
