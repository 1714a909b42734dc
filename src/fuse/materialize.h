#pragma once
// Which values live in memory, and the pieces that write them.
#include "fuse/cone.h"
#include "fuse/piece.h"
#include "fuse/region_steps.h"

namespace inlay::fuse {

/// Cuts the graph into pieces and makes their buffers in `program` (whose symbols are set).
Pieces cut(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
           const FusedBodies& bodies, kernel::KernelProgram& program);

}  // namespace inlay::fuse
