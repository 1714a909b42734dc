#pragma once
// Folds of several states, where a graph spells one out as several reductions of the same array.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// The graph with Op::fold for: the first place of an extreme beside the extreme; the sum of exp(x - its max) beside
/// the max, which both are then made in one loop; and the sum of (x - its mean)^2, which needs no mean beforehand. The
/// last two of whole arrays of many points alone, and only where nothing else reads what is summed. None where there is
/// none.
std::optional<Graph> find_folds(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
