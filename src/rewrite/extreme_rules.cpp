// Maxima and minima of negated values.
#include "ir/traits.h"
#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

/// A value, and its literal factor, if it has one.
struct Scaled {
  ValueId value;
  std::optional<Literal> factor;
  ValueId literal;  // the factor in its shape
};

/// neg(x) gives x without a factor; mul(x, c) gives both.
std::optional<Scaled> negated_or_scaled(Simplifier& simplifier, const Node& node) {
  if (node.op != Op::scalar) return std::nullopt;
  if (node.scalar == ScalarOp::neg_) return Scaled{node.operands[0], std::nullopt, {}};
  if (node.scalar != ScalarOp::mul_) return std::nullopt;
  for (std::size_t i : {1, 0}) {
    const std::optional<Literal> factor = simplifier.matcher().splat(node.operands[i]);
    if (factor) return Scaled{node.operands[1 - i], factor, node.operands[i]};
  }
  return std::nullopt;
}

ValueId times_negative(Simplifier& simplifier, ValueId v, const Scaled& by) {
  const std::vector<Dim> dims = simplifier.graph().type(by.literal).dims;
  return simplifier.scalar(ScalarOp::mul_, {v, simplifier.filled(Literal::of(by.factor->dtype, -by.factor->f), dims)});
}

/// neg(max(neg(x))) -> min(x), and the same for min, through kept axes; mul(max(neg(x)), c) -> mul(min(x), -c);
/// neg(max(mul(x, c))) -> min(mul(x, -c)). Only for floats: the minimum of an integer dtype has no negation.
std::optional<ValueId> extreme_of_negated(Simplifier& simplifier, const Node& node, const TensorType& type) {
  if (!is_float(type.dtype)) return std::nullopt;
  const std::optional<Scaled> outer = negated_or_scaled(simplifier, node);
  if (!outer) return std::nullopt;
  const Graph& graph = simplifier.graph();
  const Node* reshape = made_by(simplifier, outer->value, Op::reshape);
  // The new node checks again that there is an element.
  const Node* reduce = graph.node_of(reshape ? reshape->operands[0] : outer->value);
  if (!reduce) return std::nullopt;
  const bool is_max = reduces_by(*reduce, Fold::max);
  if (!is_max && !reduces_by(*reduce, Fold::min)) return std::nullopt;
  if (simplifier.num_readers(outer->value) > 1 || simplifier.num_readers(reduce->results[0]) > 1)
    return std::nullopt;  // both extremes would be computed
  const Node* inner_node = made_by(simplifier, reduce->operands[0], Op::scalar);
  const std::optional<Scaled> inner = inner_node ? negated_or_scaled(simplifier, *inner_node) : std::nullopt;
  if (!inner || (inner->factor && outer->factor) || !simplifier.fires()) return std::nullopt;

  Node out = unary(Op::reduce, ValueId());
  out.fold = is_max ? Fold::min : Fold::max;
  out.axes = reduce->axes;
  const TensorType reduced = graph.type(reduce->results[0]), shown = graph.type(outer->value);
  out.operands = {inner->factor ? times_negative(simplifier, inner->value, *inner) : inner->value};
  ValueId extreme = simplifier.make(out, reduced);
  if (shown.dims != reduced.dims) extreme = simplifier.builder().reshape(extreme, shown.dims);
  return outer->factor ? times_negative(simplifier, extreme, *outer) : extreme;
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name                  from                 to                   how close  op
    {"extreme-of-negated",  "neg(max(neg(x)))", "min(x), of floats", bitwise, Op::scalar, extreme_of_negated},
};
// clang-format on

}  // namespace

std::span<const NodeRule> extreme_rules() { return kRules; }

}  // namespace inlay::rewrite
