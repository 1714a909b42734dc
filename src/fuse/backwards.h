#pragma once
// Loops that pass an axis from its end.
#include "fuse/cone.h"

namespace inlay::fuse {

/// A loop over all elements of `v`, in the direction in which the running values are made that it reads: the gradient
/// of a cumulative sum is `flip (cumulative add (flip ...))`, and so one loop with that sum. What a running value waits
/// for is there before the loop, in any direction; so the last one that is made decides.
Loop loop_along_running(const Graph& graph, ValueId v);

}  // namespace inlay::fuse
