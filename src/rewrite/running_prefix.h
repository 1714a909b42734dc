#pragma once
// The beginning of a running sum.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// The graph with slices of running folds that leave out the end, `cumulative(x)[0:k]`, as running folds of slices,
/// where nothing else reads the fold. None where there is none. So who reads it goes over the same points, and shares
/// its loop: `concat([1], cumprod(x)[:-1]) * y`.
std::optional<Graph> shorten_running_folds(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
