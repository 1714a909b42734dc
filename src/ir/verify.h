#pragma once
// Is a Graph what the rest of inlay takes it for?
//
// The builder infers types while it builds; this checks a finished graph from its tables alone, so that a rewrite that
// broke one is found where it did so. It shares no rule with the builder.
#include <vector>

#include "ir/graph.h"

namespace inlay {

/// Everything wrong with `graph`; empty when it is sound. Each message begins with the value that it is about.
std::vector<Diagnostic> verify(const Graph& graph);

}  // namespace inlay
