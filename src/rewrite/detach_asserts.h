#pragma once
// Detaches asserts from the values that they pass on.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Returns the graph in which readers of an assert's result read the asserted value itself, and the assert is left
/// without readers: so a view shows the bytes of the value, and an update can take them. Nothing if there is no assert.
/// The reported failure does not depend on this: asserts are checked in their order, whoever reads them, and before
/// host calls.
std::optional<Graph> detach_asserts(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
