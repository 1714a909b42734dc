#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Moves work out of the bodies of loops: removes results that nobody reads, with what only they need; makes carried
/// values that never change values of the outside; and computes before the loop what depends on outside values alone. A
/// view of which each step reads a part (a sequence backwards, or from its second element) moves the other way: it
/// costs nothing inside, and outside it would have to be written.
///
/// Only what cannot fail leaves a body, since a loop of no steps computes nothing; and only a value that is no larger
/// than its operands, since it is kept for all steps. Views and literals stay: they cost nothing there, and show what
/// an index is. Run after simplify, which leaves the dead readers that this removes first, and before the last sharing
/// of common values: two loops may need the same.
Graph lighten_loops(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
