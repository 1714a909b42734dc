#pragma once
// Which pieces share a loop, and the order of the loops.
#include "fuse/examine.h"
#include "fuse/fuse.h"

namespace inlay::fuse {

/// Stages in the order of running; the pieces of one share its loop.
using Schedule = std::vector<std::vector<PieceId>>;

/// Greedy: once from the front (each piece as early as it can), once so by depth, and once from the back (as late as it
/// can); the schedule with the fewest loops is kept, of as many the one that knows all sizes soonest. Pieces share a
/// stage when their axes are equal, none waits for another but at the same point, and the body stays within the
/// backend's limit; but what only fills a part of an array shares no loop with another array's.
Schedule schedule(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts, const kernel::BackendCaps& caps,
                  Mode mode);

/// May a loop over axes have so many operations in its body? Numbers stand in no loop.
inline bool is_short_enough(int ops, const kernel::BackendCaps& caps) { return ops <= caps.max_body_ops; }

}  // namespace inlay::fuse
