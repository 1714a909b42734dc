#include "fuse/powers_fold.h"

#include <optional>

namespace inlay::fuse {

namespace {

// Fewer points lie in the first cache, and two passes over them take less than putting the lanes of one pair together
// (docs/fusion.md).
constexpr int64_t kFewPoints = 4096;

class Matcher {
 public:
  Matcher(const Graph& graph, const Forced& forced, const IdMap<ValueId, int>& uses)
      : graph_(graph), forced_(forced), uses_(uses) {}

  std::optional<PowersFold> match(const Node& sum) const {
    const DType dtype = graph_.type(sum.results[0]).dtype;
    if (!is_whole(sum) || sum.combine != Combine::add || !has_powers(dtype)) return std::nullopt;
    const Dim points = product(graph_.type(sum.operands[0]).dims);
    if (points.is_constant() && points.constant() < kFewPoints) return std::nullopt;
    const Node* exp = only_read_by_the_sum(sum.operands[0]);
    if (exp && exp->op == Op::cast) exp = only_read_by_the_sum(exp->operands[0]);
    if (!exp || exp->op != Op::scalar || exp->scalar != ScalarOp::exp_) return std::nullopt;
    const Node* difference = scalar(exp->operands[0], ScalarOp::sub_);
    if (!difference) return std::nullopt;
    const ValueId x = difference->operands[0];
    const std::vector<Dim>& dims = graph_.type(sum.operands[0]).dims;
    if (!has_powers(graph_.type(x).dtype) || graph_.type(x).dims != dims) return std::nullopt;
    return less(x, difference->operands[1]);
  }

 private:
  static bool has_powers(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

  bool is_whole(const Node& node) const {
    return node.op == Op::reduce && static_cast<int>(node.axes.size()) == graph_.type(node.operands[0]).rank();
  }

  const Node* only_read_by_the_sum(ValueId v) const {
    return uses_[v] == 1 && !forced_.values[v] ? graph_.node_of(v) : nullptr;
  }

  const Node* scalar(ValueId v, ScalarOp op) const {
    const Node* node = graph_.node_of(v);
    return node && node->op == Op::scalar && node->scalar == op ? node : nullptr;
  }

  /// The one element that v is, where v is a view of one.
  ValueId element(ValueId v) const {
    while (const Node* view = graph_.node_of(v)) {
      if (view->op != Op::reshape && view->op != Op::broadcast) break;
      v = view->operands[0];
    }
    return v;
  }

  /// x is less its greatest; or less that where it is finite, and else 0.
  std::optional<PowersFold> less(ValueId x, ValueId by) const {
    by = element(by);
    const Node* select = scalar(by, ScalarOp::select_);
    if (!select) return is_greatest_of(x, by) ? std::optional(PowersFold{by, x}) : std::nullopt;
    const ValueId condition = element(select->operands[0]);
    for (const auto& [op, greatest, zero] : {std::tuple(ScalarOp::isfinite_, 1, 2), {ScalarOp::isinf_, 2, 1}}) {
      const Node* test = scalar(condition, op);
      if (!test) continue;
      by = element(select->operands[static_cast<std::size_t>(greatest)]);
      if (element(test->operands[0]) != by || !is_greatest_of(x, by)) continue;
      if (is_zero(element(select->operands[static_cast<std::size_t>(zero)]))) return PowersFold{by, x, true};
    }
    return std::nullopt;
  }

  bool is_greatest_of(ValueId x, ValueId v) const {
    const Node* node = forced_.values[v] ? nullptr : graph_.node_of(v);
    return node && is_whole(*node) && node->combine == Combine::max && node->operands[0] == x &&
           graph_.type(v).dtype == graph_.type(x).dtype;
  }

  bool is_zero(ValueId v) const {
    const Node* node = graph_.node_of(v);
    return node && node->op == Op::literal && node->elements.size() == 1 &&
           node->elements[0] == Literal::of(graph_.type(v).dtype, 0);
  }

  const Graph& graph_;
  const Forced& forced_;
  const IdMap<ValueId, int>& uses_;
};

}  // namespace

std::optional<PowersFold> powers_fold(const Graph& graph, ValueId v, const Forced& forced,
                                      const IdMap<ValueId, int>& uses) {
  const Node* node = graph.node_of(v);
  return node ? Matcher(graph, forced, uses).match(*node) : std::nullopt;
}

}  // namespace inlay::fuse
