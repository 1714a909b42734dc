#pragma once
// What is made of the elements where a mask holds can be computed where the mask is read.
#include "fuse/cone.h"

namespace inlay::fuse {

/// The compress of whose results `v` is made, elementwise: a value, or a reduce of one. None where `v` needs elements
/// of other vectors too, where something could fail for an element that is not selected, where somebody else reads a
/// part of it, or where a number that it needs is not known when the mask is passed. `uses`: count_uses.
NodeId selection_of(const Graph& graph, Cones& cones, const Forced& forced, const IdMap<ValueId, int>& uses, ValueId v);

/// The operand whose elements a result of compress, not the first, selects.
ValueId selected_from(const Node& compress, ValueId result);

}  // namespace inlay::fuse
