#pragma once
// Graphs of any number of nodes, to see how the cost of compiling grows: for bench/compiling.cpp and for tests/growth.
//
// `model` looks like the gradient of a large model: vectors of one data set, parameters that are gathered and scattered
// into by one index, sums over the data, and 0-d arithmetic between them, each made of recent values. The other graphs
// are each large in one way only.
#include <span>

#include "ir/graph.h"

namespace inlay {

struct GraphFamily {
  const char* name;
  Graph (*graph_of)(int nodes);
};

std::span<const GraphFamily> graph_families();

}  // namespace inlay
