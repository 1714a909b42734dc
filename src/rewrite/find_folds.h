#pragma once
// Finds folds of several states that a graph spells out as several reductions of the same array.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Returns the graph with one reduce for each of three patterns: a maximum or minimum and its first index; the maximum
/// and the sum of exp(x - max), which become one loop; and the sum of (x - mean)^2, which then needs no mean
/// beforehand. The last two are only found for whole arrays of many points, and only if nothing else reads what is
/// summed. Nothing if there is none.
std::optional<Graph> find_folds(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
