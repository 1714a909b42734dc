#include "rewrite/short_matmul.h"

#include <algorithm>

#include "rewrite/rewriter.h"

namespace inlay::rewrite {
namespace {

bool is_short(const Dim& dim, int64_t limit) { return dim.is_constant() && dim.constant() <= limit; }

bool is_plain_matmul(const Graph& graph, const Node& node) {
  const auto has_batch = [&](ValueId v) { return graph.type(v).rank() > 2; };
  return node.op == Op::library && node.library == LibraryOp::matmul && std::ranges::none_of(node.operands, has_batch);
}

bool pays(const Graph& graph, const Node& node, int64_t limit) {
  const TensorType &left = graph.type(node.operands[0]), &right = graph.type(node.operands[1]);
  if (left.rank() == 1 && right.rank() == 1) return true;
  // Either operand may know the summed dim.
  if (is_short(left.dims.back(), limit) || is_short(right.dims.front(), limit)) return true;
  return is_short(product(graph.type(node.results[0]).dims), limit);
}

/// matmul(a, b) -> reduce add (a * b) over the summed dim, which is a's last axis and b's first.
ValueId sum_of_products(GraphBuilder& builder, ValueId a, ValueId b) {
  const TensorType left = builder.type(a), right = builder.type(b);
  // [m, k] x [k, n]: a gets an axis for n, so that it aligns with b's.
  if (right.rank() == 2) {
    std::vector<Dim> dims = left.dims;
    dims.emplace_back(1);
    a = builder.reshape(a, std::move(dims));
  }
  const ValueId products = builder.scalar(ScalarOp::mul_, {a, b});
  return builder.reduce(Fold::add, products, {left.rank() - 1}, left.dtype);
}

}  // namespace

Graph expand_short_matmul(const Graph& graph, PassContext& context) {
  if (std::ranges::none_of(graph.nodes, [&](const Node& node) { return is_plain_matmul(graph, node); })) return graph;
  Rewriter out(graph);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    const Node& node = graph.nodes[n];
    if (!is_plain_matmul(graph, node)) {
      out.copy(n);
      continue;
    }
    if (!pays(graph, node, context.options().max_short_side)) {
      context.refuse(graph.value_text(node.results[0]), " stays a matmul: its sum and its result are longer than ",
                     context.options().max_short_side, ", or of unknown length");
      out.copy(n);
      continue;
    }
    if (!context.fires("short-matmul", Close::rounding)) {
      out.copy(n);
      continue;
    }
    out.at(n);
    out.replace(n, sum_of_products(out.builder(), out[node.operands[0]], out[node.operands[1]]));
  }
  return std::move(out).finish();
}

}  // namespace inlay::rewrite
