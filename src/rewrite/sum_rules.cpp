// Sums of sums, and logarithms of sums of exponentials.
#include <algorithm>

#include "ir/traits.h"
#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

/// reduce(reduce(x)) -> reduce(x) of integers, where the order does not matter.
std::optional<ValueId> reduce_of_reduce(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::reduce);
  if (!inner || !combines_elements(node) || inner->fold != node.fold || is_float(type.dtype) || is_complex(type.dtype))
    return std::nullopt;
  if (simplifier.graph().type(node.operands[0]).dtype != type.dtype) return std::nullopt;
  const std::vector<Dim>& dims = simplifier.graph().type(inner->operands[0]).dims;
  Node out = unary(Op::reduce, inner->operands[0]);
  out.fold = node.fold;
  out.axes = inner->axes;
  int kept = 0;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (std::ranges::find(inner->axes, axis) != inner->axes.end()) continue;
    if (std::ranges::find(node.axes, kept++) != node.axes.end()) out.axes.push_back(axis);
  }
  std::ranges::sort(out.axes);
  // max and min of no elements are errors, and must stay errors.
  const bool may_be_empty = std::ranges::any_of(dims, [](const Dim& dim) { return !at_most(1, dim); });
  if (may_be_empty && facts(node.fold).needs_a_point()) return std::nullopt;
  if (!simplifier.fires()) return std::nullopt;
  return simplifier.make(out, type);
}

const Node* scalar_node(Simplifier& simplifier, ValueId v, ScalarOp op) {
  const Node* node = made_by(simplifier, v, Op::scalar);
  return node && node->scalar == op ? node : nullptr;
}

/// Returns the value that `v` is a view of.
ValueId without_views(Simplifier& simplifier, ValueId v) {
  while (const Node* node = simplifier.graph().node_of(v)) {
    const bool is_view = node->op == Op::broadcast || node->op == Op::reshape;
    if (!is_view || simplifier.matcher().is_checked(simplifier.graph().values[v].node)) break;
    v = node->operands[0];
  }
  return v;
}

bool is_sum_of(Simplifier& simplifier, ValueId sum, ValueId of) {
  const Node* node = simplifier.graph().node_of(without_views(simplifier, sum));
  return node && reduces_by(*node, Fold::add) && node->operands[0] == of;
}

/// log(exp(x) / sum(exp(x))) -> x - log(sum(exp(x))): finite where the quotient underflows. A vector divided by its one
/// sum is a product with the reciprocal.
std::optional<ValueId> log_of_softmax(Simplifier& simplifier, const Node& node, const TensorType& type) {
  if (node.scalar != ScalarOp::log_ || !is_float(type.dtype)) return std::nullopt;
  std::optional<ValueId> exponential, sum;
  if (const Node* quotient = scalar_node(simplifier, node.operands[0], ScalarOp::div_)) {
    exponential = quotient->operands[0];
    sum = quotient->operands[1];
  } else if (const Node* product = scalar_node(simplifier, node.operands[0], ScalarOp::mul_)) {
    for (std::size_t i : {0, 1}) {
      const Node* inverse =
          scalar_node(simplifier, without_views(simplifier, product->operands[i]), ScalarOp::reciprocal_);
      if (!inverse) continue;
      exponential = product->operands[1 - i];
      sum = inverse->operands[0];
    }
  }
  if (!exponential || !is_sum_of(simplifier, *sum, *exponential)) return std::nullopt;
  const Node* exp = scalar_node(simplifier, *exponential, ScalarOp::exp_);
  if (!exp || !simplifier.fires()) return std::nullopt;
  const ValueId x = exp->operands[0];
  const ValueId log = simplifier.scalar(ScalarOp::log_, {*sum});
  return simplifier.stretched(simplifier.scalar(ScalarOp::sub_, {x, log}), type.dims);
}

bool is_maximum(Simplifier& simplifier, ValueId v) {
  const Node* node = simplifier.graph().node_of(without_views(simplifier, v));
  return node && reduces_by(*node, Fold::max);
}

/// Is it x - max(x), or x - where(isfinite(max(x)), max(x), 0), as careful users write it? Then nothing overflows.
bool is_centred(Simplifier& simplifier, ValueId v) {
  const Node* difference = scalar_node(simplifier, v, ScalarOp::sub_);
  if (!difference) return false;
  const ValueId centre = without_views(simplifier, difference->operands[1]);
  const Node* chosen = scalar_node(simplifier, centre, ScalarOp::select_);
  if (!chosen) return is_maximum(simplifier, centre);
  return is_maximum(simplifier, chosen->operands[1]) || is_maximum(simplifier, chosen->operands[2]);
}

/// log(sum(exp(x))) -> log(sum(exp(x - m))) + m with m = max(x), or 0 if that is not finite. Not if x may be empty: its
/// maximum would be an error.
std::optional<ValueId> log_sum_exp(Simplifier& simplifier, const Node& node, const TensorType& type) {
  if (node.scalar != ScalarOp::log_) return std::nullopt;
  const ValueId summed = without_views(simplifier, node.operands[0]);
  const Node* sum = simplifier.graph().node_of(summed);
  if (!sum || !reduces_by(*sum, Fold::add)) return std::nullopt;
  const Node* exp = scalar_node(simplifier, sum->operands[0], ScalarOp::exp_);
  const TensorType sum_type = simplifier.graph().type(summed);
  if (!exp || !is_float(sum_type.dtype) || sum_type.dtype != simplifier.graph().type(exp->operands[0]).dtype)
    return std::nullopt;
  if (is_centred(simplifier, exp->operands[0])) return std::nullopt;
  const ValueId x = exp->operands[0];
  const std::vector<int> axes = sum->axes;
  std::vector<Dim> kept = simplifier.graph().type(x).dims;
  for (int axis : axes) {
    if (!at_most(1, kept[static_cast<std::size_t>(axis)])) return std::nullopt;
    kept[static_cast<std::size_t>(axis)] = Dim(1);
  }
  // The sum with axes of one element, as keepdims makes them; nothing else may come between.
  if (product(type.dims) != product(sum_type.dims) || !simplifier.fires()) return std::nullopt;

  GraphBuilder& b = simplifier.builder();
  const ValueId maximum = b.reduce(Fold::max, x, axes, sum_type.dtype);
  const ValueId zero = b.literal(Literal::of(sum_type.dtype, 0));
  const ValueId centre = b.scalar(ScalarOp::select_, {b.scalar(ScalarOp::isfinite_, {maximum}), maximum, zero});
  const ValueId centred = b.scalar(ScalarOp::sub_, {x, b.reshape(centre, kept)});
  const ValueId stable = b.reduce(Fold::add, b.scalar(ScalarOp::exp_, {centred}), axes, sum_type.dtype);
  const ValueId out = b.scalar(ScalarOp::add_, {b.scalar(ScalarOp::log_, {stable}), centre});
  return b.reshape(out, type.dims);
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name               from                          to                               how close  op
    {"reduce-of-reduce",  "reduce(reduce(x))",          "reduce(x), of integers",        bitwise,   Op::reduce, reduce_of_reduce},
    {"log-of-softmax",    "log(exp(x) / sum(exp(x)))",  "x - log(sum(exp(x)))",          better,    Op::scalar, log_of_softmax},
    {"log-sum-exp",       "log(sum(exp(x)))",           "log(sum(exp(x - m))) + m with m = max(x)", better, Op::scalar, log_sum_exp},
};
// clang-format on

}  // namespace

std::span<const NodeRule> sum_rules() { return kRules; }

}  // namespace inlay::rewrite
