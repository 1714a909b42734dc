#pragma once
// Index arrays that are arithmetic on places: `iota n + iota k`, as windows, lags and convolutions ask; `iota n` times
// a size that is 0 or 1, as what may have length 1 asks (`stretch`).
#include <optional>

#include "ir/graph.h"
#include "kernel/access_map.h"

namespace inlay::fuse {

/// The elements of `array` as a map of its own coordinates, where they are places in [0, extent) for all sizes: what is
/// read through it is read at an affine place, and nothing is to be checked.
std::optional<kernel::Subscript> affine_index(const Graph& graph, ValueId array, const Dim& extent);

/// The map at a point: `at` is that of the array. None where the point is itself read through an index.
std::optional<kernel::Subscript> at_point(const kernel::Subscript& map, const kernel::AccessMap& at);

}  // namespace inlay::fuse
