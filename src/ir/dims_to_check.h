#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace inlay {

/// The axes with sizes that may be negative: those of no value so far, and by themselves not known to be sizes.
std::vector<std::size_t> axes_to_check(const Graph& graph, std::span<const Dim> dims);

}  // namespace inlay
