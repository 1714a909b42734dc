#include <algorithm>

#include "rewrite/fold_literal.h"
#include "rewrite/node_rules.h"

namespace inlay::rewrite {
namespace {

/// transpose(transpose(x, p), q) -> transpose(x, p[q])
std::optional<ValueId> transpose_of_transpose(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::transpose);
  if (!inner || !simplifier.fires()) return std::nullopt;
  Node out = unary(Op::transpose, inner->operands[0]);
  for (int axis : node.axes) out.axes.push_back(inner->axes[axis]);
  return simplifier.make(out, type);
}

/// reshape(reshape(x)) -> reshape(x)
std::optional<ValueId> reshape_of_reshape(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::reshape);
  if (!inner) return std::nullopt;
  const ValueId x = inner->operands[0];
  // If x and the result are not obviously of the same size, the two reshapes may imply more than one would.
  if (same_dim(product(simplifier.graph().type(x).dims), product(type.dims)) != Answer::yes) return std::nullopt;
  if (!simplifier.fires()) return std::nullopt;
  return simplifier.make(unary(Op::reshape, x), type);
}

/// broadcast(broadcast(x)) -> broadcast(x)
std::optional<ValueId> broadcast_of_broadcast(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::broadcast);
  if (!inner || !simplifier.fires()) return std::nullopt;
  return simplifier.make(unary(Op::broadcast, inner->operands[0]), type);
}

/// flip(flip(x, a), b) -> flip(x, a xor b)
std::optional<ValueId> flip_of_flip(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::flip);
  if (!inner || !simplifier.fires()) return std::nullopt;
  Node out = unary(Op::flip, inner->operands[0]);
  std::ranges::set_symmetric_difference(inner->axes, node.axes, std::back_inserter(out.axes));
  return simplifier.make(out, type);
}

/// Composes two items on one axis: element i of `outer` over `inner`. Nothing if only a clamped end would be correct:
/// with steps, the end of a range may be beyond the axis.
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
  if (!simplifier.fires()) return std::nullopt;
  return simplifier.make(out, type);
}

/// cast(cast(x, wider), t) -> cast(x, t), where `wider` holds every value of x
std::optional<ValueId> cast_of_cast(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::cast);
  if (!inner) return std::nullopt;
  const ValueId x = inner->operands[0];
  const DType from = simplifier.graph().type(x).dtype, through = simplifier.graph().type(node.operands[0]).dtype;
  if (!holds_all_values(through, from) || !simplifier.fires()) return std::nullopt;
  if (from == type.dtype) return x;
  return simplifier.make(unary(Op::cast, x), type);
}

/// A broadcast of a value with leading axes of one element is one without them.
std::optional<ValueId> broadcast_of_unit_axes(Simplifier& simplifier, const Node& node, const TensorType& type) {
  const Node* inner = operand_of(simplifier, node, Op::reshape);
  if (!inner) return std::nullopt;
  const std::vector<Dim>& from = simplifier.graph().type(inner->operands[0]).dims;
  std::vector<Dim> to = simplifier.graph().type(node.operands[0]).dims;
  while (to.size() > from.size() && to.front().is(1)) to.erase(to.begin());
  if (to != from || !simplifier.fires()) return std::nullopt;
  return simplifier.make(unary(Op::broadcast, inner->operands[0]), type);
}

std::optional<ValueId> flip_of_unit_axes(Simplifier& simplifier, const Node& node, const TensorType& type) {
  Node out = unary(Op::flip, node.operands[0]);
  std::ranges::copy_if(node.axes, std::back_inserter(out.axes), [&](int axis) { return !type.dims[axis].is(1); });
  if (out.axes.size() == node.axes.size() || !simplifier.fires()) return std::nullopt;
  return out.axes.empty() ? node.operands[0] : simplifier.make(out, type);
}

using enum Close;

// clang-format off: a table
constexpr NodeRule kRules[] = {
    // name                     from                        to                              how close  op
    {"transpose-of-transpose",  "transpose(transpose(x))",  "transpose(x)",                 bitwise,   Op::transpose, transpose_of_transpose},
    {"reshape-of-reshape",      "reshape(reshape(x))",      "reshape(x)",                   bitwise,   Op::reshape,   reshape_of_reshape},
    {"broadcast-of-broadcast",  "broadcast(broadcast(x))",  "broadcast(x)",                 bitwise,   Op::broadcast, broadcast_of_broadcast},
    {"broadcast-of-unit-axes",  "broadcast(reshape(x))",    "broadcast(x)",                 bitwise,   Op::broadcast, broadcast_of_unit_axes},
    {"flip-of-flip",            "flip(flip(x))",            "flip(x), or x",                bitwise,   Op::flip,      flip_of_flip},
    {"flip-of-unit-axes",       "flip(x)",                  "x, over axes of one element",  bitwise,   Op::flip,      flip_of_unit_axes},
    {"slice-of-slice",          "slice(slice(x))",          "slice(x)",                     bitwise,   Op::slice,     slice_of_slice},
    {"cast-of-cast",            "cast(cast(x))",            "cast(x), or x",                bitwise,   Op::cast,      cast_of_cast},
};
// clang-format on

}  // namespace

std::span<const NodeRule> view_rules() { return kRules; }

}  // namespace inlay::rewrite
