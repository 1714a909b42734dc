#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Folds constants, cancels inverse ops, stabilizes what overflows, and merges views of views.
///
/// Rules of scalar ops are data (scalar_rules.h); others are functions with a row (node_rules.h). Each node is
/// simplified once, after its operands, and so is every node that a rule makes: one sweep, no fixpoint loop. A node
/// that carries a size check stays as it is, so that the check stays in place. Run after sharing common values, since
/// rules ask whether two operands are the same; replaced nodes are left dead.
Graph simplify(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
