#include "fuse/regions.h"

#include <algorithm>

#include "fuse/view_maps.h"

namespace inlay::fuse {

namespace {

/// The nodes that read each value that a concat may be, or what elementwise ops make of one.
IdMap<ValueId, SmallVector<NodeId, 2>> find_readers(const Graph& graph) {
  IdMap<ValueId, SmallVector<NodeId, 2>> out(graph.values.size());
  for (NodeId id : ids<NodeId>(graph.nodes.size())) {
    for (ValueId operand : graph.nodes[id].operands) {
      SmallVector<NodeId, 2>& readers = out[operand];
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
  return out;
}

class RegionFinder {
 public:
  RegionFinder(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
               const Needs& needs)
      : graph_(graph), caps_(caps), cones_(cones), forced_(forced), needs_(needs), uses_(count_uses(graph)) {}

  Regions find() {
    out_.written_by = out_.concat_in = IdMap<ValueId, ValueId>(graph_.values.size());
    out_.made_by_parts = IdMap<ValueId, bool>(graph_.values.size(), false);
    find_bases();
    find_parts();
    return std::move(out_);
  }

 private:
  /// An update, a scatter or a concat that is read only to be written to is made where that one is made.
  void find_bases() {
    for (ValueId v : ids<ValueId>(graph_.values.size())) {
      const Node* node = graph_.node_of(v);
      if (!needs_.needed[v] || !node || (node->op != Op::update && node->op != Op::scatter)) continue;
      const ValueId base = node->operands[0];
      const Node* made_by = graph_.node_of(base);
      const bool has_regions =
          made_by && (made_by->op == Op::update || made_by->op == Op::scatter || made_by->op == Op::concat);
      if (has_regions && uses_[base] == 1 && !is_wanted_whole(base)) out_.written_by[base] = v;
    }
  }

  /// A concat that only elementwise ops read, on the way to values that are stored, or folded, need not be: those are
  /// made part by part.
  void find_parts() {
    for (const Node& node : graph_.nodes) {
      if (node.op != Op::concat) continue;
      const ValueId concat = node.results[0];
      if (!needs_.needed[concat] || is_wanted_whole(concat) || out_.written_by[concat].valid()) continue;
      if (readers_.size() == 0) readers_ = find_readers(graph_);
      const std::vector<ValueId> stored = stored_beyond(concat);
      const auto fits = [&](ValueId v) { return !out_.concat_in[v].valid() && parts_stay_short(node, v); };
      if (stored.empty() || !std::ranges::all_of(stored, fits)) continue;
      for (ValueId v : stored) out_.concat_in[v] = concat;
      out_.made_by_parts[concat] = true;
    }
  }

  bool is_wanted_whole(ValueId v) const { return needs_.required[v] || forced_.values[v]; }

  /// Each part repeats the ops behind the concat, and has them in its body.
  bool parts_stay_short(const Node& concat, ValueId stored) {
    const Node& made_by = *graph_.node_of(stored);
    const int behind = cones_.of(made_by.op == Op::reduce ? made_by.operands[0] : stored, forced_.values).ops;
    int longest = 0;
    for (ValueId part : concat.operands) longest = std::max(longest, cones_.of(part, forced_.values).ops);
    return behind + longest <= caps_.max_body_ops &&
           behind * static_cast<int>(concat.operands.size()) <= caps_.max_body_ops;
  }

  /// The stored values of the same shape that elementwise ops make of `v`, and what folds one. None where something
  /// else reads it, or what lies between.
  std::vector<ValueId> stored_beyond(ValueId v) const {
    const std::vector<Dim>& dims = graph_.type(v).dims;
    if (has_one_element(graph_.type(v))) return {};
    std::vector<ValueId> stored, todo = {v}, seen = todo;
    while (!todo.empty()) {
      const ValueId next = todo.back();
      todo.pop_back();
      for (NodeId id : readers_[next]) {
        const Node& reader = graph_.nodes[id];
        const ValueId made = reader.results[0];
        const bool is_elementwise = reader.op == Op::scalar || reader.op == Op::cast;
        if (reader.op == Op::reduce ? !is_folded_alone(reader) : !is_elementwise || graph_.type(made).dims != dims) {
          return {};
        }
        if (!needs_.needed[made] || std::ranges::find(seen, made) != seen.end()) continue;
        seen.push_back(made);
        const bool ends = reader.op == Op::reduce || is_stored(graph_, cones_, forced_, needs_, made);
        (ends ? stored : todo).push_back(made);
      }
    }
    return stored;
  }

  bool is_folded_alone(const Node& reduce) const {
    const ValueId v = reduce.results[0];
    return needs_.needed[v] && !is_unrolled(graph_, reduce, caps_);
  }

  const Graph& graph_;
  const kernel::BackendCaps& caps_;
  Cones& cones_;
  const Forced& forced_;
  const Needs& needs_;
  const IdMap<ValueId, int> uses_;
  IdMap<ValueId, SmallVector<NodeId, 2>> readers_;  // empty: not asked for yet
  Regions out_;
};

}  // namespace

Regions find_regions(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                     const Needs& needs) {
  return RegionFinder(graph, caps, cones, forced, needs).find();
}

std::vector<ConcatPart> parts_of(const Graph& graph, const Node& concat) {
  std::vector<ConcatPart> out;
  Dim begin = 0;
  for (ValueId value : concat.operands) {
    ConcatPart part{value, loop_over(graph.type(value).dims), {}};
    part.in_whole = part.loop.at;
    kernel::Subscript& along = part.in_whole.subscripts[concat.axes[0]];
    along.base = along.base + begin;
    begin = begin + graph.type(value).dims[concat.axes[0]];
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace inlay::fuse
