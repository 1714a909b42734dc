#pragma once
// The beginning of a running sum.
#include <optional>

#include "ir/graph.h"

namespace inlay::fuse {

/// The graph with slices of running folds that leave out the end, `cumulative(x)[0:k]`, as running folds of slices,
/// where nothing else reads the fold. None where there is none. So who reads it goes over the same points, and shares
/// its loop: `concat([1], cumprod(x)[:-1]) * y`.
std::optional<Graph> with_running_prefixes(const Graph& graph);

}  // namespace inlay::fuse
