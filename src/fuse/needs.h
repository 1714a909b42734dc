#pragma once
// Which values a program needs, and which of them must be in memory.
#include <unordered_map>

#include "fuse/cone.h"
#include "kernel/stored.h"

namespace inlay::fuse {

struct Needs {
  IdMap<ValueId, bool> needed;    // by an output, by an effect, or by what is needed itself
  IdMap<ValueId, bool> required;  // in memory as a whole, whatever it costs to compute
  // Of what is required: why, where the finished program may no longer show it.
  std::unordered_map<ValueId, kernel::Stored> because;
  // Of what is stored: the compress whose mask it is computed along with (fuse/selection.h).
  IdMap<ValueId, NodeId> selection;
};

Needs find_needs(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced);

/// Has the value a place in memory, or a register of the function?
bool is_stored(const Graph& graph, const Cones& cones, const Forced& forced, const Needs& needs, ValueId v);

}  // namespace inlay::fuse
