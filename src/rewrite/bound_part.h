#pragma once
// What a graph computes of its bound parameters alone can be computed once, when they are bound.
#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace inlay::rewrite {

struct BoundPart {
  Graph once;                 // takes bound parameters of the source, and returns what the calls read of them
  std::vector<int> operands;  // of each parameter of `once`: which bound parameter of the source it is
  Graph call;                 // the rest
  /// Of each bound parameter of `call`: which bound parameter of the source it is, or ~i: output i of `once`.
  std::vector<int> bound;
};

/// What of the bound part is computed once: what has no more elements than it is computed of, or no more bytes.
enum class Growth : uint8_t { none_of_elements, none_of_bytes };

/// Splits a graph. Views stay with the calls, which read through them at no cost, but for transposes that loops or
/// products read: these are laid out as they are read. So does what is larger than what it is computed of, what may
/// fail, what needs no parameter at all (a literal, a range of numbers), and loops and conds, whose bodies have the
/// graph's symbols.
///
/// Where no bytes may be added, integers of a byte and floats of two stay such in the calls, which convert them where
/// they read them.
BoundPart split_bound_part(const Graph& graph, Growth growth = Growth::none_of_elements);

}  // namespace inlay::rewrite
