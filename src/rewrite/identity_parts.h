#pragma once
// Removes parts that leave a reduction unchanged.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// Returns the graph in which a reduce of a concat of x and identity parts is a reduce of x, also where such
/// concats stand within each other. (An example is the maximum of x and -inf, where -inf makes sure that there is an
/// element.) Nothing if there is none. A reduce of no elements is
/// its identity, so x may be empty.
std::optional<Graph> drop_identity_parts(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
