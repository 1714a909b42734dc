#pragma once
// Where an array may have length 1 when the program runs, and is then read again and again, the loop that makes it has
// another length than the loop that reads it: so they are two, though almost always they go over the same points.
//
// Both are split after the first s*n points, where s is 0 if the array has length 1, else 1, and n is the length of the
// loop that reads. The first parts have the same points, and are one loop. The other part of the loop that makes the
// array has what is left, which is its one element or nothing; that of the loop that reads has all points or none.
#include "fuse/examine.h"
#include "fuse/piece.h"

namespace inlay::fuse {

/// Splits the loops over the axes of a piece that reads so, and those over the axes of one that makes what is read.
/// True if there are any.
bool split_loops(const Graph& graph, const FactsOfPieces& facts, Pieces& pieces);

/// Is what the one piece writes never what the other one asks for, since they are parts of loops that were split at the
/// same point?
bool are_apart(const Piece& writes, const Piece& asks, const Demand& demand);

}  // namespace inlay::fuse
