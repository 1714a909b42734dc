#include "fuse/sum_fold.h"

namespace inlay::fuse {

namespace {

// Fewer points lie in the first cache, and two passes over them take less than putting the lanes of one pair together
// (docs/fusion.md).
constexpr int64_t kFewPoints = 4096;

}  // namespace

bool SumFoldGraph::is_whole(const Node& node) const {
  return node.op == Op::reduce && static_cast<int>(node.axes.size()) == graph.type(node.operands[0]).rank();
}

const Node* SumFoldGraph::only_read_by_the_sum(ValueId v) const {
  return uses[v] == 1 && !forced.values[v] ? graph.node_of(v) : nullptr;
}

const Node* SumFoldGraph::summed(const Node& sum) const {
  const Node* node = only_read_by_the_sum(sum.operands[0]);
  return node && node->op == Op::cast ? only_read_by_the_sum(node->operands[0]) : node;
}

const Node* SumFoldGraph::scalar(ValueId v, ScalarOp op) const {
  const Node* node = graph.node_of(v);
  return node && node->op == Op::scalar && node->scalar == op ? node : nullptr;
}

ValueId SumFoldGraph::element(ValueId v) const {
  while (const Node* view = graph.node_of(v)) {
    if (view->op != Op::reshape && view->op != Op::broadcast) break;
    v = view->operands[0];
  }
  return v;
}

std::optional<SumFold> sum_fold(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const Forced& forced,
                                const IdMap<ValueId, int>& uses) {
  const SumFoldGraph in{graph, forced, uses};
  const Node* sum = graph.node_of(v);
  const DType dtype = graph.type(v).dtype;
  const bool is_real = dtype == DType::f32 || dtype == DType::f64;
  if (!sum || !in.is_whole(*sum) || sum->combine != Combine::add || !is_real) return std::nullopt;
  const Dim points = product(graph.type(sum->operands[0]).dims);
  if (points.is_constant() && points.constant() < kFewPoints) return std::nullopt;
  if (const std::optional<SumFold> powers = powers_fold(in, *sum)) return powers;
  return caps.squares_in_one_pass ? squares_fold(in, *sum) : std::nullopt;
}

}  // namespace inlay::fuse
