#pragma once
// Whether what is only brought somewhere else is computed there. The transfer is then elided.
#include <string>

#include "kernel/transfers.h"
#include "memory/liveness.h"

namespace inlay::memory {

/// Returns where in the destination the source begins.
Dim offset_bytes(const kernel::KernelProgram& program, const kernel::Transfer& transfer);

/// Says why the source may not be computed in its region of the destination; empty if it may, since nothing else writes
/// there before or after. Other buffers that share bytes with either are not considered here.
std::string why_not_in_destination(const kernel::KernelProgram& program, const Liveness& liveness,
                                   const kernel::Transfer& transfer);

}  // namespace inlay::memory
