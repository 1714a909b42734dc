#pragma once
// What updates leave of their base: only that is computed, or copied.
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace inlay::fuse {

struct Decisions;

/// Every `step`-th of the places begin <= i < end along an axis, from the first on.
struct StridedRange {
  Dim begin, end;
  int64_t step = 1;
  Dim count() const { return step == 1 ? end - begin : ceil_div(end - begin, step); }
};

using Box = std::vector<StridedRange>;  // of each axis

struct LeftOver {
  std::size_t regions = 0;  // of the updates, from the first on: they write boxes of their own
  std::vector<Box> boxes;   // the rest of the base
};

/// Several loops over what is left cost little where they bring elements from memory or are all the same number;
/// what is computed stands in each of them.
enum class Brings : uint8_t { elements, values };

/// What reads that which is left. Loops over rows between others, or over many columns, store slower than one over all
/// rows (a third of 1e6 doubles written, all doubled: 401 us, by a copy of them 288), but a fold reads no more by
/// several loops than by one, and needs no copy (199 us, 290).
enum class ReadBy : uint8_t { stores, folds };

/// What is left by `updates`, of which each is written over the one before. None where the first one writes no box, or
/// where what is left is more loops than the one over all of the base is worth, or many columns are stored.
std::optional<LeftOver> left_over(const Graph& graph, std::span<const ValueId> updates, Brings brings, ReadBy by);

/// Can an element of the value be left out? Not where computing it could fail, which is then to be said.
bool may_be_left_out(const Graph& graph, const Decisions& decisions, ValueId v);

}  // namespace inlay::fuse
