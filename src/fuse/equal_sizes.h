#pragma once
// Sizes that are known to be equal once a program has begun.
#include <optional>

#include "ir/graph.h"

namespace inlay::fuse {

/// The graph with one symbol for those that its checks find equal before the first step: two arrays that are added are
/// as long as each other, so loops over either are loops over the same points. None where no check says so.
/// What binds the symbols is as it was; the parameters' own dims must be taken from there.
std::optional<Graph> with_equal_sizes(const Graph& graph);

}  // namespace inlay::fuse
