#pragma once
// Where size checks of a run stand: at the node that they are made for, which may be left out with them, or alone,
// where no node followed, as where a slice of all is the operand itself. One that stands alone is made in every run.
#include "ir/graph.h"

namespace inlay {

/// Returns the last node that finds a symbol of the check; none if its sizes are known at the entry.
NodeId binder_of(const Graph& graph, const DimCheck& check);

}  // namespace inlay
