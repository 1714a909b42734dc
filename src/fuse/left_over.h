#pragma once
// What updates leave of their base: only that is computed, or copied.
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace inlay::fuse {

struct Decisions;

/// Elements [begin, end) of each axis.
struct Box {
  std::vector<Dim> begin, end;
};

struct LeftOver {
  std::size_t regions = 0;  // of the updates, from the first on: they write boxes of their own
  std::vector<Box> boxes;   // the rest of the base
};

/// Several loops over what is left cost little where they bring elements from memory or are all the same number;
/// what is computed stands in each of them.
enum class Brings : uint8_t { elements, values };

/// What is left by `updates`, of which each is written over the one before. None where the first one writes no box, or
/// where what is left is more loops than the one over all of the base is worth, or columns.
std::optional<LeftOver> left_over(const Graph& graph, std::span<const ValueId> updates, Brings brings);

/// Can an element of the value be left out? Not where computing it could fail, which is then to be said.
bool may_be_left_out(const Graph& graph, const Decisions& decisions, ValueId v);

}  // namespace inlay::fuse
