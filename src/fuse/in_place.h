#pragma once
// Updates that are required to be made in place: what their errors say, and the bases that have no bytes to take over.
#include "fuse/decide.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// What an update is refused with whose base is copied after all.
kernel::Site in_place_site(const Graph& graph, const Node& update);

/// Throws where the base has no bytes of its own: where it is no more than a view of what is in memory, a part of it or
/// all in another order. An update of that begins with a copy that no plan can leave out.
void require_own_bytes(const Graph& graph, const Decisions& decisions, const Node& update);

}  // namespace inlay::fuse
