#include "fuse/unread_checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "fuse/cone.h"
#include "fuse/view_maps.h"
#include "kernel/dim_proof.h"

namespace inlay::fuse {

using kernel::always_at_least;
using kernel::Statement;
using kernel::Subscript;

namespace {

/// What of the value's axes has to be visited for its checks; none: it does not fail, or loops visit all of it anyway.
std::optional<std::vector<bool>> checked_axes(const Graph& graph, ValueId v) {
  const Node& node = *graph.node_of(v);
  const std::vector<Dim>& dims = graph.type(v).dims;
  if (node.op == Op::scalar || node.op == Op::cast) {
    if (!may_fail(graph, node)) return std::nullopt;
    return std::vector<bool>(dims.size(), true);
  }
  if (node.op != Op::gather) return std::nullopt;
  std::vector<bool> out(dims.size(), false);
  bool any = false;
  const AccessMap everywhere = AccessMap::identity(static_cast<int>(dims.size()));
  for (const WriteIndex& index : place_index(graph, node.index, graph.type(node.operands[0]).dims, everywhere).arrays) {
    if (always_within(graph, index.array, index.extent)) continue;
    any = true;
    for (const Subscript& subscript : index.at.subscripts) {
      for (const kernel::AxisTerm& term : subscript.axes) out[static_cast<std::size_t>(term.axis)] = true;
    }
  }
  return any ? std::optional(std::move(out)) : std::nullopt;
}

/// The elements that one loop computes.
struct Visited {
  int along = -1;  // the one axis of which it visits less than all; -1: none
  Dim begin, end;  // of that
  Dim others = 1;  // where this is 0, it visits nothing
};

std::size_t place(const kernel::AxisTerm& term) { return static_cast<std::size_t>(term.axis); }

/// [first, second), where the subscript is each of these: a place, an axis from either end, or the axes of a line that
/// is seen under another shape.
std::optional<std::pair<Dim, Dim>> range_of(const Subscript& subscript, std::span<const Dim> extents) {
  if (subscript.index) return std::nullopt;
  if (subscript.axes.size() == 1 && subscript.axes[0].step.is(-1)) {
    return std::pair(subscript.base + 1 - extents[place(subscript.axes[0])], subscript.base + 1);
  }
  auto terms = subscript.axes;
  Dim length = 1;
  while (!terms.empty()) {
    const auto next = std::ranges::find(terms, length, &kernel::AxisTerm::step);
    if (next == terms.end()) return std::nullopt;
    length = length * extents[place(*next)];
    terms.erase(next, next + 1);
  }
  return std::pair(subscript.base, subscript.base + length);
}

std::optional<Visited> visited(const AccessMap& at, std::span<const Dim> extents, std::span<const Dim> dims,
                               const std::vector<bool>& wanted) {
  Visited out;
  std::vector<bool> used(extents.size(), false);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const Subscript& subscript = at.subscripts[d];
    if (dims[d].is(1) || !wanted[d]) continue;
    if (std::ranges::any_of(subscript.axes, [&](const kernel::AxisTerm& term) { return used[place(term)]; }))
      return std::nullopt;
    for (const kernel::AxisTerm& term : subscript.axes) used[place(term)] = true;
    const std::optional<std::pair<Dim, Dim>> range = range_of(subscript, extents);
    if (!range) return std::nullopt;
    if (range->first.is(0) && range->second == dims[d]) continue;
    if (out.along >= 0) return std::nullopt;
    out.along = static_cast<int>(d);
    std::tie(out.begin, out.end) = *range;
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    // An axis as long as one of the value is empty where the value is.
    const bool matters =
        !used[axis] && !always_at_least(extents[axis], 1) && std::ranges::find(dims, extents[axis]) == dims.end();
    if (matters) out.others = out.others * extents[axis];
  }
  return out;
}

/// The same of [0, dim) on one axis, by loops that visit parts of it: each is taken once, those first that surely leave
/// no gap.
Dim parts_are_visited(std::vector<Visited> loops, int along, const Dim& dim) {
  std::erase_if(loops, [&](const Visited& loop) { return loop.along != along; });
  Dim reached = 0, when = 1;
  while (reached != dim) {
    const auto goes_on = [&](const Visited& loop) {
      const Dim length[] = {loop.end - loop.begin};
      return loop.end != reached && always_at_least(loop.end, reached, length);
    };
    const auto leaves_no_gap = [&](const Visited& loop) { return always_at_least(reached, loop.begin); };
    auto next = std::ranges::find_if(loops, [&](const Visited& loop) { return leaves_no_gap(loop) && goes_on(loop); });
    if (next == loops.end()) {
      next = std::ranges::find_if(
          loops, [&](const Visited& loop) { return !always_at_least(loop.begin, reached + 1) && goes_on(loop); });
    }
    if (next == loops.end()) return 0;
    // It begins at the latest where the last has ended.
    if (!leaves_no_gap(*next)) when = when * max(0, reached - next->begin + 1);
    when = when * next->others;
    reached = next->end;
    loops.erase(next);
  }
  return when;
}

/// 0: not all of the value is visited. Greater: it is. (A size that tells when.)
Dim all_is_visited(const std::vector<Visited>& loops, std::span<const Dim> dims) {
  Dim best = 0;
  for (const Visited& loop : loops) {
    if (loop.along >= 0) continue;
    if (loop.others.is(1)) return 1;
    best = loop.others;
  }
  for (std::size_t along = 0; best.is(0) && along < dims.size(); ++along) {
    best = parts_are_visited(loops, static_cast<int>(along), dims[along]);
  }
  return best;
}

/// The loops over the parts of values: together those that make one value of one whole visit all of the whole, however
/// its parts lie.
class LoopsOverParts {
 public:
  LoopsOverParts(const Graph& graph, const Pieces& pieces, const FactsOfPieces& facts)
      : graph_(graph), asked_(graph.values.size()) {
    for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
      if (pieces.pieces[id].of_whole) add(pieces.pieces[id], facts[id]->demands);
    }
  }

  /// Do all those loops ask for the value wherever they are in the whole?
  bool visit_all(ValueId v) const {
    return std::ranges::any_of(asked_[v], [&](const auto& of) { return of.second == num_loops_.at(of.first); });
  }

 private:
  using MadeOfWhole = std::pair<ValueId, ValueId>;

  void add(const Piece& piece, std::span<const Demand> demands) {
    const ValueId whole = piece.of_whole->whole;
    const MadeOfWhole loops(piece.value, whole);
    ++num_loops_[loops];
    const auto at = std::ranges::find_if(demands, [&](const Demand& d) { return d.value == whole && !d.loaded; });
    if (at == demands.end()) return;
    for (const Demand& demand : demands) {
      const bool is_at_whole = demand.at == at->at && graph_.type(demand.value).dims == graph_.type(whole).dims;
      if (!demand.loaded && is_at_whole) ++asked_[demand.value][loops];
    }
  }

  const Graph& graph_;
  std::map<MadeOfWhole, int> num_loops_;
  IdMap<ValueId, std::map<MadeOfWhole, int>> asked_;  // of how many loops
};

/// 1 where the size is not 0.
Dim is_some(const Dim& size) { return always_at_least(size, 1) ? Dim(1) : min(1, size); }

}  // namespace

std::vector<UnreadCheck> find_unread_checks(const Graph& graph, const Decisions& decisions, const Pieces& pieces,
                                            const FactsOfPieces& facts) {
  std::vector<ValueId> values;
  IdMap<ValueId, std::vector<bool>> wanted(graph.values.size());
  IdMap<ValueId, std::vector<Visited>> loops(graph.values.size());
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    if (decisions[v].how == How::unneeded || !graph.node_of(v)) continue;
    if (auto axes = checked_axes(graph, v)) {
      values.push_back(v);
      wanted[v] = std::move(*axes);
    }
  }
  if (values.empty()) return {};
  std::vector<bool> is_wanted(graph.values.size(), false);
  for (ValueId v : values) is_wanted[v.index] = true;
  for (PieceId id : ids<PieceId>(pieces.pieces.size())) {
    const Piece& piece = pieces.pieces[id];
    if (piece.only_checks) continue;
    for (const Demand& demand : facts[id]->demands) {
      if (demand.loaded || !is_wanted[demand.value.index]) continue;
      const auto loop = visited(*demand.at, piece.axes, graph.type(demand.value).dims, wanted[demand.value]);
      if (loop) loops[demand.value].push_back(*loop);
    }
  }
  const LoopsOverParts over_parts(graph, pieces, facts);
  std::vector<UnreadCheck> out;
  for (ValueId v : values) {
    const std::vector<Dim>& dims = graph.type(v).dims;
    const Dim all = all_is_visited(loops[v], dims);
    if (always_at_least(all, 1) || over_parts.visit_all(v)) continue;
    Dim guard = Dim(1) - is_some(all);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!wanted[v][d]) guard = guard * is_some(dims[d]);
    }
    if (!guard.is(0)) out.push_back({v, guard});
  }
  return out;
}

Piece piece_of(const Graph& graph, const UnreadCheck& check) {
  const Node& node = *graph.node_of(check.value);
  std::vector<Dim> dims = graph.type(check.value).dims;
  const std::vector<bool> wanted = *checked_axes(graph, check.value);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!wanted[d]) dims[d] = 1;
  }
  Loop loop = loop_over(dims);
  if (!check.guard.is(1)) {
    if (loop.axes.empty()) loop.axes.emplace_back(1);
    loop.axes[0] = loop.axes[0] * check.guard;
  }
  Piece piece{.value = check.value, .axes = std::move(loop.axes), .only_checks = true};
  Write write{.kind = Statement::Kind::check, .value = check.value, .at = loop.at, .target = check.value};
  if (node.op == Op::gather) {
    write.indices = place_index(graph, node.index, graph.type(node.operands[0]).dims, loop.at).arrays;
  }
  piece.writes.push_back(std::move(write));
  return piece;
}

}  // namespace inlay::fuse
