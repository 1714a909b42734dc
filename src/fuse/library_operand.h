#pragma once
// What a library function reads for an operand: bytes, and how they lie.
#include "fuse/cone.h"
#include "ir/graph.h"
#include "ir/library_types.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// The operand is some of the elements of `base`, as `array` says (all but its buffer).
struct LibraryOperand {
  ValueId base;
  kernel::CallArray array;
  ValueId index;           // none, or: a loop's step, which `array.index_stride` is of
  std::string why_copied;  // empty, or: the operand is a view of what lies in memory, and here is why that is not read
};

/// Sees through views that the function can follow itself, so that nothing is copied for it. `sizes`: of the call.
LibraryOperand library_operand(const Graph& graph, const Cones& cones, const Forced& forced, const Node& node,
                               std::size_t operand, const std::vector<Dim>& sizes);

/// The sizes of a call: the number of points of the batch, then by the letters of the signature.
std::vector<Dim> library_sizes(const Graph& graph, const Node& node);

}  // namespace inlay::fuse
