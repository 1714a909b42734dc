#include "rewrite/short_matmul.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

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

/// A matrix times a vector.
struct Product {
  NodeId node;
  ValueId matrix, vector;
  int axis = 0;  // of the matrix, that is summed
};

/// A vector may be a matrix of one row or column. Transposes of the matrix are looked through.
std::optional<Product> matrix_times_vector(const Graph& graph, NodeId n) {
  const std::vector<ValueId>& operands = graph.nodes[n].operands;
  const std::vector<Dim>&left = graph.type(operands[0]).dims, &right = graph.type(operands[1]).dims;
  const bool left_is_vector = left.size() == 1 || left[0].is(1), right_is_vector = right.size() == 1 || right[1].is(1);
  if (left_is_vector == right_is_vector) return std::nullopt;
  const bool first = right_is_vector;
  Product out{n, operands[first ? 0 : 1], operands[first ? 1 : 0], first ? 1 : 0};
  for (const Node* by = graph.node_of(out.matrix); by && by->op == Op::transpose; by = graph.node_of(out.matrix)) {
    out.axis = by->axes[static_cast<std::size_t>(out.axis)];
    out.matrix = by->operands[0];
  }
  return out;
}

/// Is an element of its result made of those in the same row of its operands? (Of vectors, also as matrices.)
bool keeps_rows(const Node& node) {
  switch (node.op) {
    case Op::scalar:
    case Op::cast:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::assert_: return true;
    default: return false;
  }
}

/// Products X b and X' r, where a row of r is made of the same row of X b: as sums they are one loop over the rows of
/// X, which BLAS would read twice. (One product alone takes as long either way.)
class ProductsOfOnePass {
 public:
  explicit ProductsOfOnePass(const Graph& graph) : graph_(graph), is_one_(graph.nodes.size(), false) {
    std::map<ValueId, std::vector<Product>> by_matrix;
    for (NodeId n : ids<NodeId>(graph.nodes.size())) {
      const Node& node = graph.nodes[n];
      if (!is_plain_matmul(graph, node) || !is_float(graph.type(node.results[0]).dtype)) continue;
      const auto product = matrix_times_vector(graph, n);
      if (product && fits_tile(graph.type(product->matrix).dims[1])) by_matrix[product->matrix].push_back(*product);
    }
    for (const auto& [matrix, products] : by_matrix) find_pairs(products);
  }

  bool operator[](NodeId n) const { return is_one_[n]; }

 private:
  /// A tile of longer rows leaves the first cache, and BLAS is faster (60 rows of 2000 doubles, us: by BLAS 17.3, in
  /// one loop 20.6).
  static bool fits_tile(const Dim& row) { return !row.is_constant() || row.constant() <= 256; }

  void find_pairs(std::span<const Product> products) {
    const auto is_across = [](const Product& product) { return product.axis == 0; };
    for (std::size_t a = 0; a < products.size(); ++a) {
      const auto later = products.subspan(a + 1);
      if (is_across(products[a]) || std::ranges::none_of(later, is_across)) continue;
      const IdMap<NodeId, bool> follows = rows_that_follow(products[a].node, later.back().node);
      for (const Product& b : later) {
        const NodeId maker = graph_.values[b.vector].node;
        if (is_across(b) && maker.valid() && follows[maker]) is_one_[products[a].node] = is_one_[b.node] = true;
      }
    }
  }

  /// The nodes up to `last` of whose results a row is made of the same row of what `first` makes.
  IdMap<NodeId, bool> rows_that_follow(NodeId first, NodeId last) const {
    IdMap<NodeId, bool> out(graph_.nodes.size(), false);
    out[first] = true;
    for (uint32_t n = first.index + 1; n <= last.index; ++n) {
      const Node& node = graph_.nodes[NodeId(n)];
      out[NodeId(n)] = keeps_rows(node) && std::ranges::any_of(node.operands, [&](ValueId v) {
                         const NodeId by = graph_.values[v].node;
                         return by.valid() && out[by];
                       });
    }
    return out;
  }

  const Graph& graph_;
  IdMap<NodeId, bool> is_one_;
};

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
  const ProductsOfOnePass one_pass(graph);
  Rewriter out(graph);
  for (NodeId n : ids<NodeId>(graph.nodes.size())) {
    const Node& node = graph.nodes[n];
    if (!is_plain_matmul(graph, node)) {
      out.copy(n);
      continue;
    }
    if (!one_pass[n] && !pays(graph, node, context.options().max_short_side)) {
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
