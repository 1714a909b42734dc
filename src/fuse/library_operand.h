#pragma once
// What a library function reads for an operand: bytes, and how they lie.
#include "ir/graph.h"

namespace inlay::fuse {

/// The operand is `base` with other dims, swapped core axes or one matrix for the whole batch, as `layout` says.
struct LibraryOperand {
  ValueId base;
  LibraryOptions layout = 0;
};

/// Sees through views that a library function can follow itself, so that nothing is copied for it.
LibraryOperand library_operand(const Graph& graph, const Node& node, std::size_t operand);

}  // namespace inlay::fuse
