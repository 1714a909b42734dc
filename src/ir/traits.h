#pragma once
// Questions about values and nodes that several passes ask.
#include "ir/graph.h"

namespace inlay {

/// How often each value is an operand or an output.
IdMap<ValueId, int> count_uses(const Graph& graph);

/// By symbol: the first of those that these pairs of sizes say to be equal to it; itself where none does. Pairs of
/// other sizes than symbols say nothing.
IdMap<SymbolId, Dim> first_of_equal_symbols(std::size_t num_symbols, std::span<const std::pair<Dim, Dim>> equal);

}  // namespace inlay
