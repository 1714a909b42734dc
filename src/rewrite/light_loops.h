#pragma once
#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Takes out of the bodies of loops what no step has to do: results that nobody reads, with what only they need; what
/// is carried but never changes, which becomes a value of the outside; and what is computed of values of the outside
/// alone, which stands before the loop from then on. A view of which each step reads a part (a sequence backwards, or
/// from its second element) goes the other way: it costs nothing inside, and outside it would have to be written.
///
/// Only what cannot fail leaves a body, since a loop of no steps computes nothing; and only a value that is no larger
/// than what it is computed of, since it is kept for all steps. Views and literals stay, where they cost nothing and
/// say what an index is. Run after simplify, which leaves the dead readers that this drops first, and before the last
/// sharing of common values: two loops may need the same.
Graph lighten_loops(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
