#pragma once
// Finds values that are only copied somewhere else: into a slot of a concat, a slice of an update, an output.
//
// Such a value can be computed in its destination. The copy would then write what is there already, and is elided.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "memory/liveness.h"

namespace inlay::memory {

/// Every byte of `source` is written, unchanged and in order, to `destination` from `offset_bytes` on. Both are roots.
struct Transfer {
  kernel::BufferId source, destination;
  Dim offset_bytes;
  kernel::StepId step;             // a Copy, or a kernel with
  int stage = -1, statement = -1;  // this `store`
  bool from_register = false;      // the same stage stores the same register to `source`; else it loads `source`
};

/// Returns all transfers, in program order.
std::vector<Transfer> find_transfers(const kernel::KernelProgram& program);

/// Says why `source` may not be computed in its region of `destination`; empty if it may, since nothing else writes
/// there before or after. Other buffers that share bytes with either are not considered here.
std::string why_not_in_destination(const kernel::KernelProgram& program, const Liveness& liveness,
                                   const Transfer& transfer);

}  // namespace inlay::memory
