#pragma once
// What pieces ask for and how long their bodies are, before it is known which loop writes them.
#include <memory>
#include <unordered_map>

#include "fuse/piece.h"
#include "fuse/questions.h"
#include "kernel/kernel.h"

namespace inlay::fuse {

/// Found by writing the piece into a stage that is thrown away.
struct PieceFacts {
  std::vector<Demand> demands;
  int ops = 0;
  std::vector<SymbolId> symbols;
};
using FactsOfPieces = IdMap<PieceId, std::shared_ptr<const PieceFacts>>;

/// Examines the pieces of one graph again and again, while it is decided what is stored. A piece whose writes are as
/// before, and whose values are stored or computed as before, is not written again.
class Examiner {
 public:
  Examiner(const Graph& graph, Points& points) : graph_(graph), points_(points), questions_(graph.values.size()) {}

  FactsOfPieces operator()(const Pieces& pieces);

 private:
  struct Known {
    Piece piece;
    std::shared_ptr<const PieceFacts> facts;
  };
  PieceFacts examine(const Pieces& pieces, const Piece& piece);

  const Graph& graph_;
  Points& points_;
  Questions questions_;                             // of the piece that is examined
  kernel::Stage stage_;                             // that is thrown away
  std::unordered_multimap<uint64_t, Known> known_;  // by the value and the target of the first write
};

}  // namespace inlay::fuse
