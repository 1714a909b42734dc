#include <tuple>

#include "rewrite/fold_matcher.h"

namespace inlay::rewrite {

namespace {

class LogSumExpMatcher {
 public:
  explicit LogSumExpMatcher(const FoldGraph& in) : in_(in), graph_(in.graph) {}

  std::optional<FoundFold> match(const Node& sum) const {
    const Node* exp = in_.summed(sum);
    if (!exp || exp->op != Op::scalar || exp->scalar != ScalarOp::exp_) return std::nullopt;
    const Node* difference = in_.scalar(exp->operands[0], ScalarOp::sub_);
    if (!difference) return std::nullopt;
    const ValueId x = difference->operands[0];
    const std::vector<Dim>& dims = graph_.type(sum.operands[0]).dims;
    if (!has_exp(graph_.type(x).dtype) || graph_.type(x).dims != dims) return std::nullopt;
    return less(x, difference->operands[1]);
  }

 private:
  static bool has_exp(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

  /// Matches x minus its maximum; or minus the maximum if that is finite, and else 0.
  std::optional<FoundFold> less(ValueId x, ValueId by) const {
    by = in_.element(by);
    const Node* select = in_.scalar(by, ScalarOp::select_);
    if (!select) return is_maximum_of(x, by) ? std::optional(FoundFold{Fold::log_sum_exp, by, x}) : std::nullopt;
    const ValueId condition = in_.element(select->operands[0]);
    for (const auto& [op, maximum, zero] : {std::tuple(ScalarOp::isfinite_, 1, 2), {ScalarOp::isinf_, 2, 1}}) {
      const Node* test = in_.scalar(condition, op);
      if (!test) continue;
      by = in_.element(select->operands[static_cast<std::size_t>(maximum)]);
      if (in_.element(test->operands[0]) != by || !is_maximum_of(x, by)) continue;
      if (is_zero(in_.element(select->operands[static_cast<std::size_t>(zero)])))
        return FoundFold{.fold = Fold::log_sum_exp, .other = by, .x = x, .if_finite = true};
    }
    return std::nullopt;
  }

  bool is_maximum_of(ValueId x, ValueId v) const {
    const Node* node = graph_.node_of(v);
    return node && in_.is_whole(*node) && node->fold == Fold::max && node->operands[0] == x &&
           graph_.type(v).dtype == graph_.type(x).dtype;
  }

  bool is_zero(ValueId v) const {
    const Node* node = graph_.node_of(v);
    return node && node->op == Op::literal && node->elements.size() == 1 &&
           node->elements[0] == Literal::of(graph_.type(v).dtype, 0);
  }

  const FoldGraph& in_;
  const Graph& graph_;
};

}  // namespace

std::optional<FoundFold> match_log_sum_exp(const FoldGraph& in, const Node& sum) {
  return LogSumExpMatcher(in).match(sum);
}

}  // namespace inlay::rewrite
