#pragma once
// Liveness: when each buffer's bytes are needed, and by which steps.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "memory/layout.h"

namespace inlay::memory {

/// The steps that use a buffer, in program order. Buffers are roots (kernel::root_of): a view has no live range of its
/// own.
struct Uses {
  std::vector<kernel::StepId> reads, writes;  // a step that reads only what it wrote itself is among the writes only
};

struct Liveness {
  IdMap<kernel::BufferId, Uses> uses;
  /// The live range of each root; {0, 0} if no step uses it. Outputs live to the end of the program. A buffer that is
  /// live across the border of a loop lives through all of its iterations.
  IdMap<kernel::BufferId, Lifetime> lives;
};

Liveness liveness(const kernel::KernelProgram& program);

/// `step` uses the buffer. Is every other use in the same iteration of the loops around `step`?
bool lives_in_one_pass(const Liveness& liveness, const kernel::Nesting& nesting, kernel::BufferId buffer,
                       kernel::StepId step);

/// The value of every symbol when memory needs are compared before sizes are known.
inline constexpr int64_t kNominalSize = 1000;

inline int32_t read_tick(kernel::StepId step) { return 2 * static_cast<int32_t>(step.index); }
inline int32_t write_tick(kernel::StepId step) { return read_tick(step) + 1; }
inline int32_t end_tick(kernel::StepId step) { return read_tick(step) + 2; }

}  // namespace inlay::memory
