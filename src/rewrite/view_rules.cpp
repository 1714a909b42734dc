#include "rewrite/view_rules.h"

#include <algorithm>

#include "rewrite/fold_literal.h"

namespace inlay::rewrite {
namespace {

/// The node of `node`'s operand, if it is an `op` that may be looked through.
const Node* operand_of(Simplifier& simplifier, const Node& node, Op op) {
  const Node* inner = simplifier.graph().node_of(node.operands[0]);
  if (!inner || inner->op != op) return nullptr;
  return simplifier.matcher().is_checked(simplifier.graph().values[node.operands[0]].node) ? nullptr : inner;
}

Node unary(Op op, ValueId operand) {
  Node node{.op = op};
  node.operands = {operand};
  return node;
}

/// transpose(transpose(x, p), q) -> transpose(x, p[q])
std::optional<ValueId> transpose_of_transpose(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::transpose);
  if (!inner || !simplifier.fires("transpose-of-transpose", Close::bitwise)) return std::nullopt;
  Node out = unary(Op::transpose, inner->operands[0]);
  for (int axis : node.axes) out.axes.push_back(inner->axes[axis]);
  return simplifier.make(out, type);
}

/// reshape(reshape(x)) -> reshape(x)
std::optional<ValueId> reshape_of_reshape(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::reshape);
  if (!inner) return std::nullopt;
  const ValueId x = inner->operands[0];
  // Where x and the result are not plainly of one size, the two reshapes may say more together than one would.
  if (same_dim(product(simplifier.graph().type(x).dims), product(type.dims)) != Answer::yes) return std::nullopt;
  if (!simplifier.fires("reshape-of-reshape", Close::bitwise)) return std::nullopt;
  return simplifier.make(unary(Op::reshape, x), type);
}

/// reshape(literal) -> literal
std::optional<ValueId> reshape_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::literal);
  const bool is_static = std::ranges::all_of(type.dims, [](const Dim& dim) { return dim.is_constant(); });
  if (!inner || !is_static || !simplifier.fires("reshape-of-literal", Close::bitwise)) return std::nullopt;
  return simplifier.builder().literal(inner->elements, type.dims);
}

/// broadcast(broadcast(x)) -> broadcast(x)
std::optional<ValueId> broadcast_of_broadcast(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::broadcast);
  if (!inner || !simplifier.fires("broadcast-of-broadcast", Close::bitwise)) return std::nullopt;
  return simplifier.make(unary(Op::broadcast, inner->operands[0]), type);
}

/// flip(flip(x, a), b) -> flip(x, a xor b)
std::optional<ValueId> flip_of_flip(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::flip);
  if (!inner || !simplifier.fires("flip-of-flip", Close::bitwise)) return std::nullopt;
  Node out = unary(Op::flip, inner->operands[0]);
  std::ranges::set_symmetric_difference(inner->axes, node.axes, std::back_inserter(out.axes));
  return simplifier.make(out, type);
}

/// Element i of `outer` over `inner` over an axis, as one item. None where only a clamped end would be right:
/// behind steps, the end of a range may lie beyond the axis.
std::optional<IndexItem> composed(const IndexItem& inner, const IndexItem& outer) {
  if (outer.kind == IndexItem::Kind::position) return IndexItem::at(inner.start + Dim(inner.step) * outer.position);
  const Dim start = inner.start + Dim(inner.step) * outer.start;
  const int64_t step = inner.step * outer.step;
  if (inner.step == 1) return IndexItem::range(start, inner.start + outer.stop, step);
  const Dim stop = min(inner.start + Dim(inner.step) * outer.stop, inner.stop);
  const IndexItem out = IndexItem::range(min(start, stop), stop, step);
  return out.length() == outer.length() ? std::optional(out) : std::nullopt;
}

/// slice(slice(x)) -> slice(x)
std::optional<ValueId> slice_of_slice(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::slice);
  if (!inner) return std::nullopt;
  Node out = unary(Op::slice, inner->operands[0]);
  std::size_t outer_axis = 0;
  for (const IndexItem& item : inner->index) {
    if (item.kind == IndexItem::Kind::position) {
      out.index.push_back(item);
      continue;
    }
    const std::optional<IndexItem> both = composed(item, node.index[outer_axis++]);
    if (!both) return std::nullopt;
    out.index.push_back(*both);
  }
  if (!simplifier.fires("slice-of-slice", Close::bitwise)) return std::nullopt;
  return simplifier.make(out, type);
}

/// slice(concat(..., x, ...)) -> slice(x), where nothing of the other parts is read
std::optional<ValueId> slice_of_concat(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::concat);
  if (!inner) return std::nullopt;
  const Graph& graph = simplifier.graph();
  const IdMap<SymbolId, int64_t> sizes(graph.symbols.size(), 0);
  const auto at_most = [&](const Dim& a, const Dim& b) { return (b - a).lower_bound(sizes) >= 0; };
  const int axis = inner->axes[0];
  const IndexItem& item = node.index[axis];
  const bool is_range = item.kind == IndexItem::Kind::range;
  const Dim first = is_range ? item.start : item.position, end = is_range ? item.stop : item.position + 1;
  Dim begin = 0;
  for (ValueId part : inner->operands) {
    const Dim next = begin + graph.type(part).dims[axis];
    if (at_most(begin, first) && at_most(end, next)) {
      if (!simplifier.fires("slice-of-concat", Close::bitwise)) return std::nullopt;
      Node out = unary(Op::slice, part);
      out.index = node.index;
      out.index[axis] =
          is_range ? IndexItem::range(first - begin, end - begin, item.step) : IndexItem::at(first - begin);
      return simplifier.make(out, type);
    }
    begin = next;
  }
  return std::nullopt;
}

/// cast(literal) -> literal
std::optional<ValueId> cast_of_literal(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::literal);
  if (!inner) {
    const std::optional<Literal> splat = simplifier.matcher().splat(node.operands[0]);
    const std::optional<Literal> folded = splat ? fold_cast(*splat, type.dtype) : std::nullopt;
    if (!folded || !simplifier.fires("cast-of-literal", Close::bitwise)) return std::nullopt;
    return simplifier.filled(*folded, type.dims);
  }
  std::vector<Literal> elements;
  for (const Literal& element : inner->elements) {
    const std::optional<Literal> folded = fold_cast(element, type.dtype);
    if (!folded) return std::nullopt;
    elements.push_back(*folded);
  }
  if (!simplifier.fires("cast-of-literal", Close::bitwise)) return std::nullopt;
  return simplifier.builder().literal(std::move(elements), type.dims);
}

/// cast(cast(x, wider), t) -> cast(x, t), where `wider` holds every value of x
std::optional<ValueId> cast_of_cast(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::cast);
  if (!inner) return std::nullopt;
  const ValueId x = inner->operands[0];
  const DType from = simplifier.graph().type(x).dtype, through = simplifier.graph().type(node.operands[0]).dtype;
  if (!holds_all_values(through, from) || !simplifier.fires("cast-of-cast", Close::bitwise)) return std::nullopt;
  if (from == type.dtype) return x;
  return simplifier.make(unary(Op::cast, x), type);
}

/// assert(x, true) -> x
std::optional<ValueId> assert_of_true(Simplifier& simplifier, const Node& node, const TensorType&) {
  const std::optional<Literal> condition = simplifier.matcher().splat(node.operands[1]);
  if (!condition || !is_number(*condition, 1) || !simplifier.fires("assert-of-true", Close::bitwise))
    return std::nullopt;
  return node.operands[0];
}

/// size(3) -> 3
std::optional<ValueId> size_of_constant(Simplifier& simplifier, const Node& node, const TensorType&) {
  if (!node.size.is_constant() || !simplifier.fires("size-of-constant", Close::bitwise)) return std::nullopt;
  return simplifier.builder().literal(Literal::of_integer(DType::i64, node.size.constant()));
}

constexpr NamedNodeRule kNodeRules[] = {
    {"transpose-of-transpose", Op::transpose, transpose_of_transpose},
    {"reshape-of-reshape", Op::reshape, reshape_of_reshape},
    {"reshape-of-literal", Op::reshape, reshape_of_literal},
    {"broadcast-of-broadcast", Op::broadcast, broadcast_of_broadcast},
    {"flip-of-flip", Op::flip, flip_of_flip},
    {"slice-of-slice", Op::slice, slice_of_slice},
    {"slice-of-concat", Op::slice, slice_of_concat},
    {"cast-of-literal", Op::cast, cast_of_literal},
    {"cast-of-cast", Op::cast, cast_of_cast},
    {"assert-of-true", Op::assert_, assert_of_true},
    {"size-of-constant", Op::size, size_of_constant},
};

}  // namespace

std::span<const NamedNodeRule> node_rules() { return kNodeRules; }

}  // namespace inlay::rewrite
