#pragma once
// What an update leaves of its base: only that is computed, or copied.
#include <optional>

#include "fuse/cone.h"

namespace inlay::fuse {

/// Rows [begin, end) of the first axis.
struct Rows {
  Dim begin, end;
};

/// The rows that a `set` does not write. None where it writes parts of rows, or where what is left is two loops instead
/// of one, neither of them short.
std::optional<std::vector<Rows>> left_rows(const Graph& graph, const Node& update);

/// Can an element of the value be left out? Not where computing it could fail, which is then to be said.
bool may_be_left_out(const Graph& graph, Cones& cones, const Forced& forced, ValueId v);

}  // namespace inlay::fuse
