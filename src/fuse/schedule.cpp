#include "fuse/schedule.h"

#include <algorithm>
#include <functional>
#include <span>
#include <unordered_map>

#include "fuse/split_loops.h"
#include "ir/hash.h"

namespace inlay::fuse {

namespace {

/// One piece waits for another. `same_point`: only for what the other computes at the same point, so one loop serves
/// both.
struct Edge {
  PieceId from, to;
  bool same_point = false;
};

using AxesId = Id<struct AxesTag>;

/// Pieces with equal axes have the same number.
IdMap<PieceId, AxesId> number_axes(const Pieces& pieces) {
  IdMap<PieceId, AxesId> out(pieces.pieces.size());
  IdMap<AxesId, const std::vector<Dim>*> known;
  std::unordered_multimap<std::size_t, AxesId> by_hash;
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const std::vector<Dim>& axes = pieces.pieces[id].axes;
    std::size_t hash = axes.size();
    for (const Dim& axis : axes) hash = mixed(hash, axis);
    const auto [first, last] = by_hash.equal_range(hash);
    const auto same = std::find_if(first, last, [&](const auto& entry) { return *known[entry.second] == axes; });
    out[id] = same != last ? same->second : by_hash.emplace(hash, known.push_back(&axes))->second;
  }
  return out;
}

bool computed_at_same_point(const Pieces& pieces, const IdMap<PieceId, AxesId>& axes_of, PieceId from, PieceId to,
                            const Demand& demand) {
  if (axes_of[from] != axes_of[to]) return false;
  const Piece& producer = pieces.pieces[from];
  if (!producer.steps.empty() || !pieces.pieces[to].steps.empty()) return false;
  const std::vector<PieceId>& makers = pieces.homes[demand.value].pieces;
  const auto is_there = [&](PieceId id) { return !are_apart(pieces.pieces[id], pieces.pieces[to], demand); };
  const bool is_one = makers.size() == 1 || (pieces.pieces[to].part && std::ranges::count_if(makers, is_there) == 1);
  if (!is_one) return false;
  return std::ranges::any_of(producer.writes, [&](const Write& write) {
    const bool makes = (write.defines && write.value == demand.value) || write.running == demand.value;
    return makes && write.at == *demand.at;
  });
}

/// Sorted by `to`.
std::vector<Edge> edges_of(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts,
                           const IdMap<PieceId, AxesId>& axes_of) {
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
    for (SymbolId symbol : facts[id]->symbols) {
      if (binder[symbol].valid() && binder[symbol] != id) edges.push_back({binder[symbol], id});
    }
    for (const Demand& demand : facts[id]->demands) {
      if (!demand.loaded) continue;
      for (PieceId before : pieces.homes[demand.value].pieces) {
        if (before == id || are_apart(pieces.pieces[before], piece, demand)) continue;
        edges.push_back({before, id, computed_at_same_point(pieces, axes_of, before, id, demand)});
      }
    }
  }
  return edges;
}

/// Those at the front of `edges` whose `end` is the piece.
std::span<const Edge> take_edges(std::span<const Edge>& edges, PieceId Edge::* end, PieceId piece) {
  const auto other = std::ranges::find_if(edges, [&](const Edge& edge) { return edge.*end != piece; });
  const std::span<const Edge> out = edges.first(static_cast<std::size_t>(other - edges.begin()));
  edges = edges.subspan(out.size());
  return out;
}

/// May it stand in a loop with others?
bool may_join(const Piece& piece, Mode mode) {
  return piece.steps.empty() && (mode != Mode::none || piece.axes.empty());
}

/// Does it fill a part of an array, as the border of a padded one, and read nothing? Beside a part of another array it
/// would gain nothing, and that array would be there from then on until it is read.
bool fills_part(const Pieces& pieces, const FactsOfPieces& facts, PieceId id) {
  const Piece& piece = pieces.pieces[id];
  if (!piece.value.valid() || pieces.homes[piece.value].pieces.size() <= 1) return false;
  return std::ranges::none_of(facts[id]->demands, &Demand::loaded);
}

/// Places pieces into stages from one end. From the back, "before" means "after" and the result is turned round.
class StageScheduler {
 public:
  StageScheduler(const Pieces& pieces, const FactsOfPieces& facts, const IdMap<PieceId, AxesId>& axes_of,
                 const kernel::BackendCaps& caps, Mode mode)
      : pieces_(pieces),
        facts_(facts),
        axes_of_(axes_of),
        caps_(caps),
        mode_(mode),
        stage_of_(pieces.pieces.size(), -1),
        open_(pieces.pieces.size()) {}

  void place(PieceId id, std::span<const Edge> waits_for) {
    int earliest = 0;
    for (const Edge& edge : waits_for) {
      const PieceId other = edge.from == id ? edge.to : edge.from;
      earliest = std::max(earliest, stage_of_[other] + (edge.same_point ? 0 : 1));
    }
    const Piece& piece = pieces_.pieces[id];
    const bool joins = may_join(piece, mode_);
    std::vector<int>& open = open_[axes_of_[id]];
    if (joins) {
      const auto found = std::find_if(std::ranges::lower_bound(open, earliest), open.end(), [&](int stage) {
        return piece.axes.empty() || (is_short_enough(ops_[stage] + facts_[id]->ops, caps_) && fits(id, stage));
      });
      if (found != open.end()) {
        put(id, *found);
        // A store is the least that could join.
        if (!piece.axes.empty() && ops_[*found] >= caps_.max_body_ops) open.erase(found);
        return;
      }
    }
    const int stage = static_cast<int>(stages_.size());
    stages_.push_back({});
    ops_.push_back(0);
    put(id, stage);
    if (joins) open.push_back(stage);
  }

  Schedule take() { return std::move(stages_); }

 private:
  bool fits(PieceId id, int stage) const {
    return !fills_part(pieces_, facts_, id) || std::ranges::any_of(stages_[stage], [&](PieceId other) {
      return pieces_.pieces[other].value == pieces_.pieces[id].value;
    });
  }

  void put(PieceId id, int stage) {
    stages_[stage].push_back(id);
    ops_[stage] += facts_[id]->ops;
    stage_of_[id] = stage;
  }

  const Pieces& pieces_;
  const FactsOfPieces& facts_;
  const IdMap<PieceId, AxesId>& axes_of_;
  const kernel::BackendCaps& caps_;
  Mode mode_;
  IdMap<PieceId, int> stage_of_;
  IdMap<AxesId, std::vector<int>> open_;  // stages that others may join, in order
  Schedule stages_;
  std::vector<int> ops_;
};

bool binds_size(const Piece& piece) { return !piece.steps.empty() && !symbols_bound_by(piece.steps.front()).empty(); }

/// Numbers, and steps that make sizes of them. All else passes arrays.
bool is_number_or_size(const Piece& piece) { return piece.steps.empty() ? piece.axes.empty() : binds_size(piece); }

/// Pieces by how many loops they wait for one after the other, numbers and sizes before loops: so that a number which
/// waits for little stands before loops that could be one, and a size that numbers alone decide before them all.
std::vector<PieceId> by_depth(const Pieces& pieces, std::span<const Edge> edges) {
  IdMap<PieceId, int> depth(pieces.pieces.size(), 0);
  for (const Edge& edge : edges) {
    const bool is_beside = edge.same_point || is_number_or_size(pieces.pieces[edge.from]);
    depth[edge.to] = std::max(depth[edge.to], depth[edge.from] + (is_beside ? 0 : 1));
  }
  std::vector<PieceId> order;
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) order.push_back(id);
  std::ranges::stable_sort(order, {},
                           [&](PieceId id) { return std::pair(depth[id], !is_number_or_size(pieces.pieces[id])); });
  return order;
}

/// Checks that nothing waits for: each in the first loop over its axes that it can stand in, or in one of its own as
/// soon as it can be, so that little is done before the call fails.
void place_checks(const Pieces& pieces, const FactsOfPieces& facts, const IdMap<PieceId, AxesId>& axes_of,
                  const kernel::BackendCaps& caps, Mode mode, std::span<const Edge> edges, Schedule& schedule) {
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    if (!pieces.pieces[id].only_checks) continue;
    IdMap<PieceId, std::size_t> stage_of(pieces.pieces.size(), 0);
    for (std::size_t stage = 0; stage < schedule.size(); ++stage) {
      for (PieceId other : schedule[stage]) stage_of[other] = stage;
    }
    std::size_t joins_from = 0, stands_from = 0;  // in a loop that others have; in one of its own
    for (const Edge& edge : std::ranges::equal_range(edges, id, {}, &Edge::to)) {
      joins_from = std::max(joins_from, stage_of[edge.from] + (edge.same_point ? 0 : 1));
      stands_from = std::max(stands_from, stage_of[edge.from] + 1);
    }
    const auto can_join = [&](const std::vector<PieceId>& stage) {
      int ops = facts[id]->ops;
      for (PieceId other : stage) ops += facts[other]->ops;
      const PieceId first = stage.front();
      return may_join(pieces.pieces[first], mode) && axes_of[first] == axes_of[id] &&
             (pieces.pieces[id].axes.empty() || is_short_enough(ops, caps));
    };
    const auto at = [&](std::size_t stage) { return schedule.begin() + static_cast<std::ptrdiff_t>(stage); };
    const auto found = std::find_if(at(joins_from), schedule.end(), can_join);
    if (found != schedule.end()) {
      found->push_back(id);
    } else {
      schedule.insert(at(stands_from), {id});
    }
  }
}

/// What a schedule is judged by: its loops; of as many, those that run before all sizes are known and checked, since no
/// loop is joined past such a step, and what it does is in vain where the call fails.
std::pair<int, int> cost_of(const Schedule& schedule, const Pieces& pieces) {
  int loops = 0, before_sizes = 0;
  for (const std::vector<PieceId>& stage : schedule) {
    const Piece& first = pieces.pieces[stage.front()];
    loops += first.is_loop();
    if (binds_size(first)) before_sizes = loops;
  }
  return {loops, before_sizes};
}

}  // namespace

Schedule schedule(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts, const kernel::BackendCaps& caps,
                  Mode mode) {
  const IdMap<PieceId, AxesId> axes_of = number_axes(pieces);
  std::vector<Edge> edges = edges_of(graph, pieces, facts, axes_of);
  for (const Edge& edge : edges) INLAY_CHECK(edge.from < edge.to, "a piece waits for a later one");
  StageScheduler early(pieces, facts, axes_of, caps, mode), late = early, deep = early;
  std::span<const Edge> rest = edges;
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const std::span<const Edge> waits_for = take_edges(rest, &Edge::to, id);
    if (!pieces.pieces[id].only_checks) early.place(id, waits_for);
  }
  for (PieceId id : by_depth(pieces, edges)) {
    const auto waits_for = std::ranges::equal_range(edges, id, {}, &Edge::to);
    if (!pieces.pieces[id].only_checks) deep.place(id, {waits_for.begin(), waits_for.end()});
  }
  std::vector<Edge> backwards;
  std::ranges::copy_if(edges, std::back_inserter(backwards),
                       [&](const Edge& edge) { return !pieces.pieces[edge.to].only_checks; });
  std::ranges::sort(backwards, std::greater(), &Edge::from);
  rest = backwards;
  for (uint32_t i = static_cast<uint32_t>(pieces.pieces.size()); i-- > 0;) {
    const std::span<const Edge> waited_for = take_edges(rest, &Edge::from, PieceId(i));
    if (!pieces.pieces[PieceId(i)].only_checks) late.place(PieceId(i), waited_for);
  }
  Schedule schedules[] = {late.take(), early.take(), deep.take()};
  std::ranges::reverse(schedules[0]);
  Schedule& best = *std::ranges::min_element(schedules, {}, [&](const Schedule& s) { return cost_of(s, pieces); });
  place_checks(pieces, facts, axes_of, caps, mode, edges, best);
  for (auto& stage : best) std::ranges::sort(stage);
  return best;
}

}  // namespace inlay::fuse
