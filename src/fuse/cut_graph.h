#pragma once
// Cuts a graph into the pieces that write what lives in memory.
#include "fuse/decide.h"
#include "fuse/piece.h"
#include "fuse/region_steps.h"
#include "fuse/unread_checks.h"

namespace inlay::fuse {

/// Cuts the graph into pieces and makes their buffers in `program` (whose symbols are set). `checks` are those that the
/// pieces would not make by themselves.
Pieces cut(const Graph& graph, const Decisions& decisions, const FusedBodies& bodies,
           std::span<const UnreadCheck> checks, kernel::KernelProgram& program);

}  // namespace inlay::fuse
