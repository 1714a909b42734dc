#include "rewrite/common_values.h"

#include <algorithm>
#include <bit>

#include "ir/checks.h"
#include "ir/hash.h"
#include "ir/region.h"
#include "rewrite/commutative.h"
#include "rewrite/rewriter.h"
#include "support/small_vector.h"

namespace inlay::rewrite {
namespace {

/// May the node be shared? Not if it defines a symbol, since each node defines its own.
bool may_share(const Node& node) {
  return node.op != Op::host_call && node.op != Op::assert_ && node.op != Op::as_size && node.op != Op::compress &&
         !is_region(node.op);
}

/// Returns the operands, sorted if their order does not matter.
SmallVector<ValueId, 4> ordered_operands(const Node& node) {
  SmallVector<ValueId, 4> out = node.operands;
  if (node.op == Op::scalar && is_commutative(node.scalar)) std::ranges::sort(out);
  return out;
}

/// Returns a hash that is equal for equal nodes. The operands determine their types.
std::size_t hash_of(const Node& node, const TensorType& type) {
  std::size_t hash = mixed(static_cast<std::size_t>(node.op) << 16, static_cast<uint64_t>(node.fold) << 16 |
                                                                        static_cast<uint64_t>(node.scalar) << 8 |
                                                                        static_cast<uint64_t>(node.combine));
  if (node.op == Op::library) hash = mixed(hash, static_cast<uint64_t>(node.library) << 32 | node.library_options);
  for (ValueId v : ordered_operands(node)) hash = mixed(hash, v.index);
  for (int axis : node.axes) hash = mixed(hash, static_cast<uint64_t>(axis));
  for (const IndexItem& item : node.index) {
    hash = mixed(hash, item.kind == IndexItem::Kind::position ? item.position : item.start);
  }
  hash = mixed(hash, node.size);
  for (const Dim& dim : type.dims) hash = mixed(hash, dim);
  for (const Literal& element : node.elements) {
    hash = mixed(hash, static_cast<uint64_t>(element.i ^ std::bit_cast<int64_t>(element.f) ^
                                             static_cast<int64_t>(element.dtype)));
  }
  return hash;
}

/// Does `a` compute what `b` computes, over the values of one graph, with the same requirements? Locations do not
/// count; of results only the type does.
bool same_expression(const Node& a, const TensorType& a_type, const Node& b, const TensorType& b_type) {
  return a.op == b.op && a.in_place >= b.in_place && (a.op != Op::scalar || a.scalar == b.scalar) &&
         a.combine == b.combine && a.fold == b.fold && ordered_operands(a) == ordered_operands(b) &&
         a.index == b.index && a.axes == b.axes && a.size == b.size && a.elements == b.elements &&
         (a.op != Op::library || a.library == b.library) && a.library_options == b.library_options && a_type == b_type;
}

/// Returns, by node, the last node that defines a symbol in its size checks. An equal node before that cannot carry the
/// checks.
IdMap<NodeId, NodeId> last_binders(const Graph& graph) {
  IdMap<NodeId, NodeId> out(graph.nodes.size());
  for (const DimCheck& check : graph.checks) {
    if (!check.node.valid()) continue;
    const NodeId binder = binder_of(graph, check);
    NodeId& last = out[check.node];
    if (binder.valid() && (!last.valid() || last.index < binder.index)) last = binder;
  }
  return out;
}

}  // namespace

Graph share_common_values(const Graph& graph, PassContext& context) {
  Rewriter out(graph);
  std::unordered_multimap<std::size_t, NodeId> seen;
  seen.reserve(graph.nodes.size());
  const IdMap<NodeId, NodeId> binders = last_binders(graph);
  const auto type_of = [&](NodeId n) -> const TensorType& { return graph.type(graph.nodes[n].results[0]); };

  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    if (!may_share(graph.nodes[n])) {
      out.copy(n);
      continue;
    }
    const Node node = out.mapped(n);
    const std::size_t hash = hash_of(node, type_of(n));
    const auto [first, last] = seen.equal_range(hash);
    const auto twin = std::find_if(first, last, [&](const auto& entry) {
      if (binders[n].valid() && entry.second.index <= binders[n].index) return false;
      return same_expression(out.mapped(entry.second), type_of(entry.second), node, type_of(n));
    });
    if (twin != last && context.fires("common-value", Close::bitwise)) {
      out.share(n, twin->second);
      continue;
    }
    out.copy(n, node);
    seen.emplace(hash, n);
  }
  return std::move(out).finish();
}

}  // namespace inlay::rewrite
