#pragma once
// Shortens running folds of which only a prefix is read.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Returns the graph in which slices of running folds that omit the end, `cumulative(x)[0:k]`, are running folds of
/// slices, if nothing else reads the fold. Nothing if there is none. So its reader has the same points, and shares its
/// loop: `concat([1], cumprod(x)[:-1]) * y`.
std::optional<Graph> shorten_running_folds(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
