#include "rewrite/find_folds.h"

#include <algorithm>
#include <limits>

#include "rewrite/fold_matcher.h"
#include "rewrite/rewriter.h"

namespace inlay::rewrite {

bool FoldGraph::is_whole(const Node& node) const {
  return node.op == Op::reduce && static_cast<int>(node.axes.size()) == graph.type(node.operands[0]).rank();
}

const Node* FoldGraph::only_read_by_the_sum(ValueId v) const { return uses[v] == 1 ? graph.node_of(v) : nullptr; }

const Node* FoldGraph::summed(const Node& sum) const {
  const Node* node = only_read_by_the_sum(sum.operands[0]);
  return node && node->op == Op::cast ? only_read_by_the_sum(node->operands[0]) : node;
}

const Node* FoldGraph::scalar(ValueId v, ScalarOp op) const {
  const Node* node = graph.node_of(v);
  return node && node->op == Op::scalar && node->scalar == op ? node : nullptr;
}

ValueId FoldGraph::element(ValueId v) const {
  while (const Node* view = graph.node_of(v)) {
    if (view->op != Op::reshape && view->op != Op::broadcast) break;
    v = view->operands[0];
  }
  return v;
}

namespace {

// Fewer points fit in the first-level cache, and two passes over them take less time than combining the lanes of one
// fold (docs/fusion.md).
constexpr int64_t kFewPoints = 4096;

class FoldFinder {
 public:
  FoldFinder(const Graph& graph, PassContext& context)
      : graph_(graph), context_(context), found_(graph.nodes.size()), opened_by_(graph.nodes.size()) {}

  /// Finds all folds; returns whether there are any.
  bool find() {
    bool any = false;
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      const Node& node = graph_.nodes[n];
      if (node.op != Op::reduce) continue;
      const std::optional<FoundFold> fold = match(node);
      if (!fold || !stands_alone(*fold, n)) continue;
      const Close close = fold->places.valid() ? Close::bitwise : Close::rounding;
      if (!context_.fires("find-folds", close)) continue;
      found_[n] = fold;
      if (fold->fold != Fold::moments) opened_by_[node_of(fold->other)] = n;
      any = true;
    }
    return any;
  }

  Graph rewrite() && {
    Rewriter out(graph_);
    done_ = no_longer_read();
    IdMap<NodeId, ValueId> first_state(graph_.nodes.size());
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (done_[n]) continue;
      if (const NodeId opener = opened_by_[n]; opener.valid()) {
        const std::vector<ValueId> states = fold(out, n, opener);
        first_state[opener] = states[0];
        out.replace(n, states[1]);
      } else if (found_[n]) {
        if (found_[n]->places.valid()) {
          out.replace_along(n, node_of(found_[n]->other), first_state[n]);
        } else {
          out.at(n);
          out.replace(n, sum(out, n, first_state[n]));
        }
      } else {
        copy(out, n);
      }
    }
    return std::move(out).finish();
  }

 private:
  NodeId node_of(ValueId v) const { return graph_.values[v].node; }

  /// Returns the nodes that only the replaced reductions read.
  IdMap<NodeId, bool> no_longer_read() {
    IdMap<NodeId, bool> out(graph_.nodes.size(), false);
    std::vector<NodeId> todo;
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      if (!found_[n]) continue;
      todo.push_back(n);
      for (ValueId v : {found_[n]->x, found_[n]->other, found_[n]->places}) {
        if (v.valid()) ++uses_[v];
      }
    }
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      for (ValueId v : graph_.nodes[n].operands) {
        if (--uses_[v] > 0 || !node_of(v).valid() || graph_.nodes[node_of(v)].results.size() > 1) continue;
        if (may_fail(graph_, graph_.nodes[node_of(v)])) continue;
        out[node_of(v)] = true;
        todo.push_back(node_of(v));
      }
    }
    return out;
  }

  std::optional<FoundFold> match(const Node& node) {
    const DType dtype = graph_.type(node.results[0]).dtype;
    const bool is_place = node.fold == Fold::min && dtype == DType::i64;
    const bool is_sum = node.fold == Fold::add && (dtype == DType::f32 || dtype == DType::f64);
    if (!is_place && !is_sum) return std::nullopt;
    if (is_short(graph_, node, context_.options().max_short_side)) return std::nullopt;
    if (uses_.size() == 0) uses_ = count_uses(graph_);
    const FoldGraph in{graph_, uses_};
    if (is_place) return match_argmax(in, node);
    const Dim points = product(graph_.type(node.operands[0]).dims);
    if (!in.is_whole(node) || (points.is_constant() && points.constant() < kFewPoints)) return std::nullopt;
    std::optional<FoundFold> fold = match_log_sum_exp(in, node);
    if (!fold && context_.options().moments_in_one_pass) fold = match_moments(in, node);
    // Selected elements are summed where the mask is.
    return fold && !is_selected(fold->x) ? fold : std::nullopt;
  }

  bool is_selected(ValueId v) const {
    const Node* node = graph_.node_of(v);
    if (!node) return false;
    if (node->op == Op::compress) return true;
    if (node->op != Op::scalar && node->op != Op::cast) return false;
    return std::ranges::any_of(node->operands, [&](ValueId operand) { return is_selected(operand); });
  }

  /// Is the other reduction in no other fold, and are the indices of the points computed before it?
  bool stands_alone(const FoundFold& fold, NodeId n) const {
    if (fold.fold == Fold::moments) return true;
    const NodeId other = node_of(fold.other);
    return !opened_by_[other].valid() && other < n && (!fold.places.valid() || is_known_before(fold.places, other));
  }

  bool is_known_before(ValueId v, NodeId n) const {
    const Node& node = *graph_.node_of(v);
    if (node_of(v) < n) return true;
    std::vector<SymbolId> symbols = node.size.symbols();
    for (const Dim& dim : graph_.type(v).dims) std::ranges::copy(dim.symbols(), std::back_inserter(symbols));
    const auto is_late = [&](SymbolId symbol) {
      const NodeId binder = graph_.binder_of(symbol);
      return binder.valid() && !(binder < n);
    };
    return std::ranges::none_of(symbols, is_late) &&
           std::ranges::all_of(node.operands, [&](ValueId operand) { return is_known_before(operand, n); });
  }

  /// Builds both states, in place of `n`, which makes the last one.
  std::vector<ValueId> fold(Rewriter& out, NodeId n, NodeId opener) {
    const FoundFold& found = *found_[opener];
    std::vector<ValueId> operands;
    if (found.places.valid()) {
      copy_early(out, found.places);
      out.at(n);
      std::vector<Dim> dims = out.builder().type(out[found.x]).dims;
      operands.push_back(out.builder().broadcast(out[found.places], std::move(dims)));
    }
    out.at(n);
    operands.push_back(out[found.x]);
    const DType real = graph_.type(graph_.nodes[opener].results[0]).dtype;
    const std::size_t num_checks = out.graph().checks.size();
    std::vector<ValueId> states = out.builder().reduce(found.fold, std::move(operands), graph_.nodes[n].axes, real);
    out.builder().forget_checks(num_checks);
    return states;
  }

  /// Copies the node with the checks of the source, and no new ones: identity-parts knows that a reduce is not empty.
  static void copy(Rewriter& out, NodeId n) {
    const std::size_t num_checks = out.graph().checks.size();
    out.copy(n);
    out.builder().forget_checks(num_checks);
  }

  void copy_early(Rewriter& out, ValueId v) {
    const NodeId n = node_of(v);
    if (out.has(v)) return;
    for (ValueId operand : graph_.nodes[n].operands) copy_early(out, operand);
    copy(out, n);
    done_[n] = true;
  }

  ValueId sum(Rewriter& out, NodeId n, ValueId state) {
    const FoundFold& found = *found_[n];
    const DType dtype = graph_.type(graph_.nodes[n].results[0]).dtype;
    return found.fold == Fold::log_sum_exp ? sum_of_exp(out.builder(), state, out[found.other], found.if_finite)
                                           : squares(out.builder(), out[found.x], out[found.other], dtype);
  }

  /// Returns the fold's sum if the maximum is finite. Otherwise that sum is NaN, but the sum of exp(x) itself is
  /// infinite or 0.
  static ValueId sum_of_exp(GraphBuilder& b, ValueId sum, ValueId max, bool if_finite) {
    const DType dtype = b.type(max).dtype;
    const ValueId otherwise = if_finite ? b.scalar(ScalarOp::max_, {max, b.literal(Literal::of(dtype, 0))})
                                        : b.scalar(ScalarOp::sub_, {max, max});
    const ValueId is_finite = b.scalar(ScalarOp::isfinite_, {max});
    return b.scalar(ScalarOp::select_, {is_finite, sum, b.cast(otherwise, b.type(sum).dtype)});
  }

  /// The folded result is NaN if an element is NaN or not finite; so is the sum then. It is also NaN if a difference of
  /// two elements overflows: then its square does too.
  static ValueId squares(GraphBuilder& b, ValueId x, ValueId sum, DType dtype) {
    std::vector<int> axes;
    for (int axis = 0; axis < b.type(x).rank(); ++axis) axes.push_back(axis);
    const ValueId folded = b.reduce(Fold::moments, x, std::move(axes), dtype);
    const ValueId too_large =
        b.scalar(ScalarOp::and_, {b.scalar(ScalarOp::isfinite_, {sum}), b.scalar(ScalarOp::isnan_, {folded})});
    const ValueId infinity = b.literal(Literal::of_float(dtype, std::numeric_limits<double>::infinity()));
    return b.scalar(ScalarOp::select_, {too_large, infinity, folded});
  }

  const Graph& graph_;
  PassContext& context_;
  IdMap<ValueId, int> uses_;
  IdMap<NodeId, std::optional<FoundFold>> found_;
  IdMap<NodeId, NodeId> opened_by_;  // by the other reduction: the one that was found
  IdMap<NodeId, bool> done_;
};

}  // namespace

std::optional<Graph> find_folds(const Graph& graph, PassContext& context) {
  FoldFinder finder(graph, context);
  if (!finder.find()) return std::nullopt;
  return std::move(finder).rewrite();
}

}  // namespace inlay::rewrite
