#include "fuse/examine.h"

#include <algorithm>
#include <tuple>

#include "fuse/stage_writer.h"
#include "kernel/counts.h"
#include "kernel/sizes.h"

namespace inlay::fuse {

namespace {

void collect(const Dim& dim, std::vector<SymbolId>& out) {
  if (dim.is_constant()) return;
  for (SymbolId s : dim.symbols()) out.push_back(s);
}

/// Would it be written as `other` was?
bool looks_like(const Piece& piece, const Piece& other) {
  return piece.value == other.value && piece.axes == other.axes && piece.part == other.part &&
         piece.of_whole == other.of_whole && piece.starts.empty() == other.starts.empty() &&
         std::ranges::equal(piece.writes, other.writes, [](const Write& a, const Write& b) { return a.asks_like(b); });
}

/// Is everything that was asked stored, or not, as it was?
bool still_true(const PieceFacts& facts, const Pieces& pieces) {
  return std::ranges::all_of(facts.demands, [&](const Demand& demand) {
    return demand.made || pieces.homes[demand.value].buffer.valid() == demand.loaded;
  });
}

}  // namespace

FactsOfPieces Examiner::operator()(const Pieces& pieces) {
  FactsOfPieces out(pieces.pieces.size());
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const Piece& piece = pieces.pieces[id];
    if (piece.writes.empty() || !piece.steps.empty()) {
      out[id] = std::make_shared<PieceFacts>(examine(pieces, piece));
      continue;
    }
    const Write& write = piece.writes[0];
    const uint64_t key = uint64_t{write.target.index} << 32 | write.value.index;
    const auto [first, last] = known_.equal_range(key);
    const auto known = std::find_if(first, last, [&](const auto& one) { return looks_like(piece, one.second.piece); });
    if (known == last) {
      out[id] = std::make_shared<PieceFacts>(examine(pieces, piece));
      known_.emplace(key, Known{piece, out[id]});
      continue;
    }
    std::shared_ptr<const PieceFacts>& facts = known->second.facts;
    if (!still_true(*facts, pieces)) facts = std::make_shared<PieceFacts>(examine(pieces, piece));
    out[id] = facts;
  }
  return out;
}

PieceFacts Examiner::examine(const Pieces& pieces, const Piece& piece) {
  PieceFacts facts;
  IdMap<kernel::SiteId, kernel::Site> sites;
  questions_.clear();
  stage_.statements.clear();
  stage_.num_registers = 0;
  StageWriter writer(graph_, pieces.homes, points_, questions_, sites, stage_);
  writer.begin(piece);
  for (const Write& write : piece.writes) writer.write(write);
  facts.demands = questions_.demands();
  facts.symbols = piece.step_symbols;
  const auto needs = [&](const Dim& size) { collect(size, facts.symbols); };
  std::ranges::for_each(piece.axes, needs);
  for_each_size(stage_, needs);
  facts.ops = kernel::body_length(stage_);
  const auto* call = piece.steps.empty() ? nullptr : std::get_if<kernel::LibraryCall>(&piece.steps.front());
  if (call) for_each_size(*call, needs);
  const auto needs_size_of = [&](ValueId v) { std::ranges::for_each(graph_.type(v).dims, needs); };
  // Who makes a value has waited for its size. Under another shape the bytes may be there before that is known.
  const auto waits_for_size_of = [&](ValueId v) {
    if (const Node* node = graph_.node_of(v); node && node->op == Op::reshape) needs_size_of(v);
  };
  for (const Demand& demand : facts.demands) {
    if (demand.loaded) waits_for_size_of(demand.value);
  }
  std::ranges::for_each(piece.step_operands, waits_for_size_of);
  // What is written must have its memory, even where a part of it is written whose own size is known.
  const bool copies = !piece.steps.empty() && std::holds_alternative<kernel::Copy>(piece.steps.front());
  if (piece.value.valid() && (copies || !piece.starts.empty() || !piece.writes.empty())) {
    needs_size_of(piece.value);
  }
  std::ranges::sort(facts.symbols);
  facts.symbols.erase(std::unique(facts.symbols.begin(), facts.symbols.end()), facts.symbols.end());
  return facts;
}

}  // namespace inlay::fuse
