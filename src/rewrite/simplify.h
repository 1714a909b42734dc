#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Folds what is known, cancels what cancels, stabilizes what overflows, and makes one view of a view of a view.
///
/// Rules of scalar ops are data (scalar_rules.h); others are functions with a row (node_rules.h). Each node is
/// simplified once, after its operands, and so is every node that a rule makes: one sweep, no fixpoint loop.
/// A node that carries a size check stays as it is, so that the check stays where it is.
/// Run after sharing common values, since rules ask whether two operands are the same; what it leaves behind is dead.
Graph simplify(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
