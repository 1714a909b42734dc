#include <algorithm>
#include <tuple>

#include "rewrite/fold_matcher.h"

namespace inlay::rewrite {

namespace {

class ArgMaxMatcher {
 public:
  explicit ArgMaxMatcher(const FoldGraph& in) : in_(in), graph_(in.graph) {}

  std::optional<FoundFold> match(const Node& reduce) {
    const DType dtype = graph_.type(reduce.results[0]).dtype;
    if (!reduces_by(reduce, Fold::min) || dtype != DType::i64) return std::nullopt;
    const Node* select = in_.scalar(reduce.operands[0], ScalarOp::select_);
    if (!select || graph_.type(select->results[0]).dtype != DType::i64) return std::nullopt;
    const auto [found, number, never] = std::tuple(select->operands[0], select->operands[1], select->operands[2]);
    const Node* literal = graph_.node_of(never);
    const bool is_never = literal && literal->op == Op::literal && literal->elements.size() == 1 &&
                          literal->elements[0] == identity_of(Combine::min, DType::i64);
    const ValueId extreme = is_never ? extreme_found(found, reduce) : ValueId();
    if (!extreme.valid() || !is_made_of_sizes(number)) return std::nullopt;
    const bool is_max = reduces_by(*graph_.node_of(extreme), Fold::max);
    return FoundFold{is_max ? Fold::argmax : Fold::argmin, extreme, graph_.node_of(extreme)->operands[0], number};
  }

 private:
  /// Matches x == its maximum or minimum, or x is NaN.
  ValueId extreme_found(ValueId found, const Node& reduce) const {
    const Node* either = in_.scalar(found, ScalarOp::or_);
    if (!either) return extreme_met(found, reduce, /*nan_of=*/{});
    for (int first : {0, 1}) {
      const Node* is_nan = in_.scalar(either->operands[1 - first], ScalarOp::ne_);
      if (!is_nan || is_nan->operands[0] != is_nan->operands[1]) continue;
      const ValueId extreme = extreme_met(either->operands[first], reduce, is_nan->operands[0]);
      if (extreme.valid()) return extreme;
    }
    return {};
  }

  ValueId extreme_met(ValueId found, const Node& reduce, ValueId nan_of) const {
    const Node* equal = in_.scalar(found, ScalarOp::eq_);
    if (!equal) return {};
    for (int first : {0, 1}) {
      const ValueId x = equal->operands[first];
      const bool looks_for_nan = nan_of.valid() ? nan_of == x : !is_float(graph_.type(x).dtype);
      const ValueId extreme = extreme_of(x, equal->operands[1 - first], reduce);
      if (looks_for_nan && extreme.valid()) return extreme;
    }
    return {};
  }

  /// Returns the reduce of x over the same axes; `kept` is that reduce with axes of one element.
  ValueId extreme_of(ValueId x, ValueId kept, const Node& reduce) const {
    const TensorType& type = graph_.type(x);
    if (type.dims != graph_.type(reduce.operands[0]).dims || !has_ones(kept, type, reduce.axes)) return {};
    while (const Node* view = graph_.node_of(kept)) {
      if (view->op != Op::reshape) break;
      kept = view->operands[0];
    }
    const Node* extreme = graph_.node_of(kept);
    const bool is_it = extreme && (reduces_by(*extreme, Fold::max) || reduces_by(*extreme, Fold::min)) &&
                       extreme->operands[0] == x && extreme->axes == reduce.axes &&
                       graph_.type(kept).dtype == type.dtype;
    return is_it && accepts(ScalarOp::gt_, type.dtype) ? kept : ValueId();
  }

  bool has_ones(ValueId kept, const TensorType& type, const std::vector<int>& axes) const {
    const std::vector<Dim>& dims = graph_.type(kept).dims;
    if (dims.size() != type.dims.size()) return false;
    for (int d = 0; d < type.rank(); ++d) {
      const bool folded = std::ranges::binary_search(axes, d);
      if (folded ? !dims[d].is(1) : dims[d] != type.dims[d]) return false;
    }
    return true;
  }

  bool is_made_of_sizes(ValueId v) const {
    const Node* node = graph_.node_of(v);
    if (!node) return false;
    switch (node->op) {
      case Op::iota:
      case Op::size:
      case Op::literal: return true;
      case Op::scalar:
      case Op::cast:
      case Op::broadcast:
      case Op::reshape:
      case Op::transpose:
        return std::ranges::all_of(node->operands, [&](ValueId operand) { return is_made_of_sizes(operand); });
      default: return false;
    }
  }

  const FoldGraph& in_;
  const Graph& graph_;
};

}  // namespace

std::optional<FoundFold> match_argmax(const FoldGraph& in, const Node& reduce) {
  return ArgMaxMatcher(in).match(reduce);
}

}  // namespace inlay::rewrite
