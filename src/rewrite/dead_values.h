#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Removes every node that no output and no assert needs, and the sizes that only such nodes bind.
///
/// A dead node cannot fail: its size checks are removed with it. Keeps the order, names and locations of the rest. One
/// backward sweep. Run last before fusing: a dead reader would otherwise count as a second one and prevent fusion.
Graph drop_dead_values(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
