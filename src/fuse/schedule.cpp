#include "fuse/schedule.h"

#include <algorithm>

namespace inlay::fuse {

using kernel::Statement;

namespace {

/// One piece waits for another. `same_point`: only for what the other computes at the same point, so one loop serves
/// both.
struct Edge {
  PieceId from, to;
  bool same_point = false;
};

void collect_symbols(const AccessMap& map, std::vector<SymbolId>& out) {
  for (const kernel::Subscript& subscript : map.subscripts) {
    for (SymbolId s : subscript.base.symbols()) out.push_back(s);
  }
}

bool computed_at_same_point(const Pieces& pieces, PieceId from, PieceId to, const Demand& demand) {
  const Piece& producer = pieces.pieces[from];
  const Piece& consumer = pieces.pieces[to];
  if (!producer.steps.empty() || !consumer.steps.empty() || producer.axes != consumer.axes) return false;
  if (pieces.homes[demand.value].pieces.size() != 1) return false;
  return std::ranges::any_of(producer.writes, [&](const Write& write) {
    const bool makes = (write.defines && write.value == demand.value) || write.running == demand.value;
    return makes && write.at == *demand.at;
  });
}

std::vector<Edge> edges_of(const Graph& graph, const Pieces& pieces, const IdMap<PieceId, PieceFacts>& facts) {
  std::vector<Edge> edges;
  IdMap<SymbolId, PieceId> binder(graph.symbols.size());
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const Piece& piece = pieces.pieces[id];
    if (piece.steps.empty()) continue;
    for (SymbolId symbol : symbols_bound_by(piece.steps.front())) binder[symbol] = id;
  }
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const Piece& piece = pieces.pieces[id];
    for (PieceId before : piece.after) edges.push_back({before, id});
    for (ValueId operand : piece.step_operands) {
      for (PieceId before : pieces.homes[operand].pieces) edges.push_back({before, id});
    }
    for (SymbolId symbol : facts[id].symbols) {
      if (binder[symbol].valid() && binder[symbol] != id) edges.push_back({binder[symbol], id});
    }
    for (const Demand& demand : facts[id].demands) {
      if (!demand.loaded) continue;
      for (PieceId before : pieces.homes[demand.value].pieces) {
        if (before != id) edges.push_back({before, id, computed_at_same_point(pieces, before, id, demand)});
      }
    }
  }
  return edges;
}

/// Places pieces into stages from one end. From the back, "before" means "after" and the result is turned round.
class Placer {
 public:
  Placer(const Pieces& pieces, const IdMap<PieceId, PieceFacts>& facts, const kernel::BackendCaps& caps, Mode mode)
      : pieces_(pieces), facts_(facts), caps_(caps), mode_(mode), stage_of_(pieces.pieces.size(), -1) {}

  void place(PieceId id, const std::vector<Edge>& waits_for) {
    int earliest = 0;
    for (const Edge& edge : waits_for) {
      const PieceId other = edge.from == id ? edge.to : edge.from;
      earliest = std::max(earliest, stage_of_[other] + (edge.same_point ? 0 : 1));
    }
    for (int s = earliest; s < static_cast<int>(stages_.size()); ++s) {
      if (!fits(id, s)) continue;
      return put(id, s);
    }
    stages_.push_back({});
    ops_.push_back(0);
    put(id, static_cast<int>(stages_.size()) - 1);
  }

  Schedule take() { return std::move(stages_); }

 private:
  bool fits(PieceId id, int stage) const {
    const Piece& piece = pieces_.pieces[id];
    const Piece& first = pieces_.pieces[stages_[stage].front()];
    if (!piece.steps.empty() || !first.steps.empty() || piece.axes != first.axes) return false;
    if (piece.axes.empty()) return true;  // 0-d arithmetic: straight-line code, no loop to keep small
    return mode_ == Mode::all && ops_[stage] + facts_[id].ops <= caps_.max_body_ops;
  }

  void put(PieceId id, int stage) {
    stages_[stage].push_back(id);
    ops_[stage] += facts_[id].ops;
    stage_of_[id] = stage;
  }

  const Pieces& pieces_;
  const IdMap<PieceId, PieceFacts>& facts_;
  const kernel::BackendCaps& caps_;
  Mode mode_;
  IdMap<PieceId, int> stage_of_;
  Schedule stages_;
  std::vector<int> ops_;
};

int num_loops(const Schedule& schedule, const Pieces& pieces) {
  return static_cast<int>(
      std::ranges::count_if(schedule, [&](const auto& stage) { return pieces.pieces[stage.front()].is_loop(); }));
}

}  // namespace

IdMap<PieceId, PieceFacts> examine(const Graph& graph, const Pieces& pieces, Points& points) {
  IdMap<PieceId, PieceFacts> out(pieces.pieces.size());
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const Piece& piece = pieces.pieces[id];
    PieceFacts& facts = out[id];
    IdMap<kernel::SiteId, kernel::Site> sites;
    kernel::Stage stage;
    StageWriter writer(graph, pieces.homes, points, sites, stage);
    for (const Write& write : piece.writes) writer.write(write);
    facts.demands = writer.demands();
    facts.symbols = piece.step_symbols;
    for (const Dim& axis : piece.axes) {
      for (SymbolId s : axis.symbols()) facts.symbols.push_back(s);
    }
    for (const Statement& statement : stage.statements) {
      facts.ops += statement.kind == Statement::Kind::op || statement.kind == Statement::Kind::cast ||
                   statement.kind == Statement::Kind::fold || statement.kind == Statement::Kind::store;
      collect_symbols(statement.map, facts.symbols);
      for (SymbolId s : statement.size.symbols()) facts.symbols.push_back(s);
    }
    const auto* call = piece.steps.empty() ? nullptr : std::get_if<kernel::LibraryCall>(&piece.steps.front());
    if (call) {
      for (const Dim& size : call->sizes) {
        for (SymbolId s : size.symbols()) facts.symbols.push_back(s);
      }
    }
    if (!piece.starts.empty()) {  // they are loops over the whole value
      for (const Dim& dim : graph.type(piece.value).dims) {
        for (SymbolId s : dim.symbols()) facts.symbols.push_back(s);
      }
    }
    std::ranges::sort(facts.symbols);
    facts.symbols.erase(std::unique(facts.symbols.begin(), facts.symbols.end()), facts.symbols.end());
  }
  return out;
}

Schedule schedule(const Graph& graph, const Pieces& pieces, const IdMap<PieceId, PieceFacts>& facts,
                  const kernel::BackendCaps& caps, Mode mode) {
  IdMap<PieceId, std::vector<Edge>> into(pieces.pieces.size()), out_of(pieces.pieces.size());
  for (const Edge& edge : edges_of(graph, pieces, facts)) {
    INLAY_CHECK(edge.from < edge.to, "a piece waits for a later one");
    into[edge.to].push_back(edge);
    out_of[edge.from].push_back(edge);
  }
  Placer early(pieces, facts, caps, mode), late(pieces, facts, caps, mode);
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) early.place(id, into[id]);
  for (uint32_t i = static_cast<uint32_t>(pieces.pieces.size()); i-- > 0;) late.place(PieceId(i), out_of[PieceId(i)]);
  Schedule forward = early.take(), backward = late.take();
  std::ranges::reverse(backward);
  Schedule& best = num_loops(backward, pieces) <= num_loops(forward, pieces) ? backward : forward;
  for (auto& stage : best) std::ranges::sort(stage);
  return best;
}

}  // namespace inlay::fuse
