#pragma once
// From when to when each buffer's bytes are needed, and by which steps.
#include <vector>

#include "kernel/kernel.h"
#include "memory/layout.h"

namespace inlay::memory {

/// Of roots (kernel::root_of): a view has no life of its own. In program order.
struct Uses {
  std::vector<kernel::StepId> reads, writes;  // a step that reads only what it wrote itself is among the writes only
};

struct Liveness {
  IdMap<kernel::BufferId, Uses> uses;
  IdMap<kernel::BufferId, Lifetime> lives;  // {0, 0}: no step touches it. Outputs live to the end of the program.
};

Liveness liveness(const kernel::KernelProgram& program);

inline int32_t read_tick(kernel::StepId step) { return 2 * static_cast<int32_t>(step.index); }
inline int32_t write_tick(kernel::StepId step) { return read_tick(step) + 1; }
inline int32_t end_tick(kernel::StepId step) { return read_tick(step) + 2; }

}  // namespace inlay::memory
