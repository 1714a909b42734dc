#pragma once
// From when to when each buffer's bytes are needed, and by which steps.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "memory/layout.h"

namespace inlay::memory {

/// Of roots (kernel::root_of): a view has no life of its own. In program order.
struct Uses {
  std::vector<kernel::StepId> reads, writes;  // a step that reads only what it wrote itself is among the writes only
};

struct Liveness {
  IdMap<kernel::BufferId, Uses> uses;
  /// {0, 0}: no step touches it. Outputs live to the end of the program. What passes the border of a loop lives through
  /// all of its passes.
  IdMap<kernel::BufferId, Lifetime> lives;
};

Liveness liveness(const kernel::KernelProgram& program);

/// Is the buffer, which `step` uses, used in no other pass of the loops around `step`, and nowhere outside of them?
bool lives_in_one_pass(const Liveness& liveness, const std::vector<kernel::RegionSpan>& regions,
                       kernel::BufferId buffer, kernel::StepId step);

/// What every symbol is taken for, where needs are compared before sizes are known.
inline constexpr int64_t kNominalSize = 1000;

inline int32_t read_tick(kernel::StepId step) { return 2 * static_cast<int32_t>(step.index); }
inline int32_t write_tick(kernel::StepId step) { return read_tick(step) + 1; }
inline int32_t end_tick(kernel::StepId step) { return read_tick(step) + 2; }

}  // namespace inlay::memory
