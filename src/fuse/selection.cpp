#include "fuse/selection.h"

#include <algorithm>

#include "ir/traits.h"

namespace inlay::fuse {

namespace {

class SelectionFinder {
 public:
  SelectionFinder(const Graph& graph, const Forced& forced, const IdMap<ValueId, int>& uses)
      : graph_(graph), forced_(forced), uses_(uses) {}

  /// `top`: the root of the cone. `read_once`: it has one reader like the rest.
  NodeId find(ValueId top, const std::vector<ValueId>& cone, bool read_once) {
    if (cone.empty() && !is_leaf(top)) return {};
    for (ValueId v : cone) {
      if (!is_part(v) || ((v != top || read_once) && !is_read_once(v))) return {};
      for (ValueId operand : graph_.node_of(v)->operands) {
        if (std::ranges::find(cone, operand) == cone.end() && !is_leaf(operand)) return {};
      }
    }
    return compress_;
  }

  /// Is the newest number that it needs there before the mask is passed?
  bool is_known_before() const { return !newest_.valid() || newest_ < graph_.nodes[compress_].results[0]; }

 private:
  bool is_read_once(ValueId v) const { return uses_[v] == 1 || graph_.node_of(v)->op == Op::literal; }

  /// Elementwise, and nothing that fails for some elements.
  bool is_part(ValueId v) const {
    const Node& node = *graph_.node_of(v);
    switch (node.op) {
      case Op::literal: return true;
      case Op::scalar:
      case Op::cast: return !may_fail(graph_, node);
      case Op::broadcast:
      case Op::reshape: return has_one_element(graph_.type(node.operands[0]));
      default: return false;
    }
  }

  bool is_leaf(ValueId v) {
    const Node* node = graph_.node_of(v);
    if (!node || node->op != Op::compress || v == node->results[0]) {
      if (has_one_element(graph_.type(v)) && (!newest_.valid() || newest_ < v)) newest_ = v;
      return has_one_element(graph_.type(v));
    }
    const NodeId compress = graph_.values[v].node;
    if (compress_.valid() && compress_ != compress) return false;
    compress_ = compress;
    return !forced_.values[v];
  }

  const Graph& graph_;
  const Forced& forced_;
  const IdMap<ValueId, int>& uses_;
  NodeId compress_;
  ValueId newest_;
};

}  // namespace

NodeId selection_of(const Graph& graph, Cones& cones, const Forced& forced, const IdMap<ValueId, int>& uses,
                    ValueId v) {
  const Node* node = graph.node_of(v);
  const bool folds = node && combines_elements(*node);
  if (!node || (node->op != Op::scalar && node->op != Op::cast && !folds)) return {};
  const ValueId top = folds ? node->operands[0] : v;
  if (graph.type(top).rank() != 1 || (folds && forced.values[top])) return {};
  std::vector<ValueId> cone;
  cones.of(top, forced.values, &cone);
  SelectionFinder finder(graph, forced, uses);
  const NodeId found = finder.find(top, cone, /*read_once=*/folds);
  return found.valid() && (folds || finder.is_known_before()) ? found : NodeId();
}

ValueId selected_from(const Node& compress, ValueId result) {
  const auto at = std::ranges::find(compress.results, result) - compress.results.begin();
  return compress.operands[static_cast<std::size_t>(at)];
}

}  // namespace inlay::fuse
