#pragma once
// Values whose bytes are only brought somewhere else: into a slot of a concat, a slice of an update, an output.
//
// Such a value can be computed where it is brought. Then the bringing writes what is there already, and need not be
// done.
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "memory/liveness.h"

namespace inlay::memory {

/// Every byte of `source` is written, unchanged and in order, to `destination` from `offset_bytes` on. Roots.
struct Transfer {
  kernel::BufferId source, destination;
  Dim offset_bytes;
  kernel::StepId step;             // of a Copy, or of a kernel with
  int stage = -1, statement = -1;  // this `store`
  bool from_register = false;      // the same stage stores the same register to `source`; else it loads `source`
};

/// All of them, in program order.
std::vector<Transfer> find_transfers(const kernel::KernelProgram& program);

/// Empty: `source` may be computed in its region of `destination`: nothing else writes there, before or after.
/// Otherwise why not. Who else lives in either buffer's bytes is not looked at here.
std::string why_not_in_destination(const kernel::KernelProgram& program, const Liveness& liveness,
                                   const Transfer& transfer);

}  // namespace inlay::memory
