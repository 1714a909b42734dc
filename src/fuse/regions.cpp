#include "fuse/regions.h"

#include <algorithm>

#include "fuse/stage_writer.h"

namespace inlay::fuse {

namespace {

/// The node that reads a value, where that is one operand of one node and no output.
IdMap<ValueId, NodeId> only_readers(const Graph& graph) {
  const IdMap<ValueId, int> uses = count_uses(graph);
  IdMap<ValueId, NodeId> out(graph.values.size());
  for (NodeId id : ids<NodeId>(graph.nodes.size())) {
    for (ValueId operand : graph.nodes[id].operands) {
      if (uses[operand] == 1) out[operand] = id;
    }
  }
  return out;
}

class Finder {
 public:
  Finder(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced, const Needs& needs)
      : graph_(graph), caps_(caps), cones_(cones), forced_(forced), needs_(needs), only_reader_(only_readers(graph)) {}

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
      if (has_regions && only_reader_[base].valid() && !is_wanted_whole(base)) out_.written_by[base] = v;
    }
  }

  /// A concat that only elementwise ops read, on the way to one value that is stored, or folded, need not be: that
  /// value is made part by part.
  void find_parts() {
    for (const Node& node : graph_.nodes) {
      if (node.op != Op::concat) continue;
      const ValueId concat = node.results[0];
      if (!needs_.needed[concat] || is_wanted_whole(concat) || out_.written_by[concat].valid()) continue;
      const ValueId stored = stored_beyond(concat);
      if (!stored.valid() || out_.concat_in[stored].valid() || !parts_stay_short(node, stored)) continue;
      out_.concat_in[stored] = concat;
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

  /// The stored value of the same shape that elementwise ops make of `v`, if nothing else reads it or what lies
  /// between.
  ValueId stored_beyond(ValueId v) const {
    const std::vector<Dim>& dims = graph_.type(v).dims;
    if (has_one_element(graph_.type(v))) return {};
    while (only_reader_[v].valid()) {
      const Node& reader = graph_.nodes[only_reader_[v]];
      v = reader.results[0];
      if (reader.op == Op::reduce) return is_folded_alone(reader) ? v : ValueId();
      const bool is_elementwise = reader.op == Op::scalar || reader.op == Op::cast;
      if (!is_elementwise || !needs_.needed[v] || graph_.type(v).dims != dims) return {};
      if (is_stored(graph_, cones_, forced_, needs_, v)) return v;
    }
    return {};
  }

  bool is_folded_alone(const Node& reduce) const {
    const ValueId v = reduce.results[0];
    return needs_.needed[v] && !is_unrolled(graph_, reduce, caps_) && !needs_.beside[v].valid() &&
           !needs_.place_folds[v] && !needs_.powers_folds[v];
  }

  const Graph& graph_;
  const kernel::BackendCaps& caps_;
  Cones& cones_;
  const Forced& forced_;
  const Needs& needs_;
  const IdMap<ValueId, NodeId> only_reader_;  // of a value that is one operand and no output
  Regions out_;
};

}  // namespace

Regions find_regions(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                     const Needs& needs) {
  return Finder(graph, caps, cones, forced, needs).find();
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
