#pragma once
// Checks of elements that nothing reads.
//
// An index out of bounds is an error whether its element is read or not, and so are NaN made an integer and an integer
// to a negative power. Loops check what they compute; where a value that can fail is computed for some of its elements
// only (a slice of a gather, a base that updates leave little of), the rest is checked by a piece of its own.
#include <vector>

#include "fuse/decide.h"
#include "fuse/examine.h"
#include "fuse/piece.h"

namespace inlay::fuse {

/// A value that is checked as a whole, where `guard` is 1; elsewhere it is 0: the loops that there are do it then, or
/// there is nothing to check.
struct UnreadCheck {
  ValueId value;
  Dim guard;
  bool operator==(const UnreadCheck&) const = default;
};

/// What the pieces do not check, but for those that do nothing else.
std::vector<UnreadCheck> find_unread_checks(const Graph& graph, const Decisions& decisions, const Pieces& pieces,
                                            const FactsOfPieces& facts);

/// The piece that checks it.
Piece piece_of(const Graph& graph, const UnreadCheck& check);

}  // namespace inlay::fuse
