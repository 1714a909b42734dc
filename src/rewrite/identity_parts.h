#pragma once
// What a reduction begins with anyway.
#include <optional>

#include "ir/graph.h"
#include "support/pass_context.h"

namespace inlay::rewrite {

/// The graph with reduces of a concat of x and parts that change nothing (the greatest of x and -inf, which is there so
/// that it is one of at least one element) as reduces of x. None where there is none. A reduce of no elements is what
/// it begins with, so x may be empty.
std::optional<Graph> drop_identity_parts(const Graph& graph, PassContext& context);

}  // namespace inlay::rewrite
