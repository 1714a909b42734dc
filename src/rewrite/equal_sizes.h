#pragma once
// Unifies sizes that are known to be equal once a program has begun.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Returns the graph with one symbol for those that its checks find equal before the first step: two arrays that are
/// added have the same length, so loops over either have the same points. Nothing if no check says so. What binds the
/// symbols is unchanged: Param::given has the dims by which a caller's arrays are checked.
std::optional<Graph> unify_equal_sizes(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
