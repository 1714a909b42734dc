#pragma once
// Where an extreme is, found along with the extreme.
#include "fuse/cone.h"

namespace inlay::fuse {

/// argmax as it is composed: the least of the numbers that stand where x is its own greatest (or NaN). The numbers are
/// made of sizes and places alone, so one pass over x can fold both.
struct PlaceFold {
  ValueId extreme;  // reduce max or min of x
  ValueId number;   // of each element of x
};

/// The reduce `v` as such a fold, if it is one and nothing of it is forced into memory.
std::optional<PlaceFold> place_fold(const Graph& graph, ValueId v, const Forced& forced);

}  // namespace inlay::fuse
