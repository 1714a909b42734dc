#pragma once
// Sizes that are known to be equal once a program has begun.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// The graph with one symbol for those that its checks find equal before the first step: two arrays that are added are
/// as long as each other, so loops over either are loops over the same points. None where no check says so.
/// What binds the symbols is as it was: Param::given has the dims by which a caller's arrays are checked.
std::optional<Graph> unify_equal_sizes(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
