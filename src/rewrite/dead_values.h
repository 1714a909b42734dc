#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Drops every node that no output and no assert needs, and the sizes that only such nodes bind.
///
/// What nothing needs cannot fail: its size checks go with it. Keeps the order, names and locations of the rest.
/// One backward sweep. Run last before fusing: a dead reader would otherwise count as a second one and block it.
Graph drop_dead_values(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
