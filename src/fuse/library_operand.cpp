#include "fuse/library_operand.h"

#include <algorithm>

#include "ir/library_types.h"

namespace inlay::fuse {
namespace {

/// Does the transposition swap the last two axes, and no others?
bool swaps_core_axes(const std::vector<int>& axes) {
  const int rank = static_cast<int>(axes.size());
  for (int i = 0; i < rank - 2; ++i) {
    if (axes[i] != i) return false;
  }
  return rank >= 2 && axes[rank - 2] == rank - 1;
}

/// Is every axis before the core 1?
bool is_single(const std::vector<Dim>& dims, std::size_t num_core) {
  return dims.size() >= num_core && std::all_of(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(num_core),
                                                [](const Dim& d) { return d.is(1); });
}

/// Is the broadcast one along batch axes only?
bool keeps_core(const std::vector<Dim>& from, const std::vector<Dim>& to, std::size_t num_core) {
  return from.size() >= num_core && std::equal(from.end() - static_cast<std::ptrdiff_t>(num_core), from.end(),
                                               to.end() - static_cast<std::ptrdiff_t>(num_core));
}

}  // namespace

LibraryOperand library_operand(const Graph& graph, const Node& node, std::size_t operand) {
  LibraryOperand out{node.operands[operand], 0};
  const std::size_t num_core = core_axes(node.library, operand, graph.type(out.base).rank()).size();
  const LibraryOption transposed = operand == 0 ? LibraryOption::left_transposed : LibraryOption::right_transposed;
  const LibraryOption shared = operand == 0 ? LibraryOption::left_shared : LibraryOption::right_shared;
  const Node* view = graph.node_of(out.base);
  for (; view; view = graph.node_of(out.base)) {
    const std::vector<Dim>&from = graph.type(view->operands.empty() ? out.base : view->operands[0]).dims,
          &to = graph.type(out.base).dims;
    if (view->op == Op::broadcast && keeps_core(from, to, num_core) && is_single(from, num_core)) {
      out.layout = out.layout | shared;
    } else if (view->op == Op::transpose && node.library == LibraryOp::matmul && num_core == 2 &&
               swaps_core_axes(view->axes)) {
      out.layout ^= static_cast<LibraryOptions>(transposed);
    } else {
      break;
    }
    out.base = view->operands[0];
  }
  // The same elements in row-major order: whatever the dims.
  for (; view && view->op == Op::reshape; view = graph.node_of(out.base)) out.base = view->operands[0];
  return out;
}

}  // namespace inlay::fuse
