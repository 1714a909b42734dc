#pragma once
// Values that are written region by region: which of them are made in one place, and what a concat's parts are.
#include "fuse/needs.h"

namespace inlay::fuse {

struct Regions {
  IdMap<ValueId, ValueId> written_by;  // the update of which a value is the base, and made with it
  IdMap<ValueId, ValueId> concat_in;   // of a stored value that is made part by part: the concat that it is made of
  IdMap<ValueId, bool> made_by_parts;  // of that concat, which lives nowhere
};

Regions find_regions(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                     const Needs& needs);

/// One operand of a concat, and where its elements are in the whole.
struct ConcatPart {
  ValueId value;
  Loop loop;  // over the part
  kernel::AccessMap in_whole;
};
std::vector<ConcatPart> parts_of(const Graph& graph, const Node& concat);

}  // namespace inlay::fuse
