#pragma once
// Values behind asserts.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// The graph with what is asserted of a value as an assert by itself: whoever reads it reads the value, so a view of it
/// is one of the bytes of the value, and an update can take them. None where there is no assert. Which failure is
/// reported does not depend on it: asserts are checked in their order, whoever reads them, and before host calls.
std::optional<Graph> detach_asserts(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
