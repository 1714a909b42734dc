#pragma once
// Which pieces share a loop, and the order of the loops.
#include "fuse/fuse.h"
#include "fuse/piece.h"
#include "fuse/stage_writer.h"

namespace inlay::fuse {

/// What a piece asks for and how long its body is, found by writing it into a stage that is thrown away.
struct PieceFacts {
  std::vector<Demand> demands;
  int ops = 0;
  std::vector<SymbolId> symbols;
};
IdMap<PieceId, PieceFacts> examine(const Graph& graph, const Pieces& pieces, Points& points);

/// Stages in the order of running; the pieces of one share its loop.
using Schedule = std::vector<std::vector<PieceId>>;

/// Greedy, once from the front (each piece as early as it can) and once from the back (as late as it can); the schedule
/// with fewer loops is kept. Pieces share a stage when their axes are equal, none waits for another but at the same
/// point, and the body stays within the backend's limit.
Schedule schedule(const Graph& graph, const Pieces& pieces, const IdMap<PieceId, PieceFacts>& facts,
                  const kernel::BackendCaps& caps, Mode mode);

}  // namespace inlay::fuse
