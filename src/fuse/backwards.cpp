#include "fuse/backwards.h"

#include <set>

namespace inlay::fuse {
namespace {

/// A value, and which axes of it are passed from the end where those of the loop's value are passed from the beginning.
using Seen = std::pair<ValueId, std::vector<bool>>;

/// Which axis of the loop's value is passed from the end.
std::vector<bool> directions(const Graph& graph, ValueId v) {
  const std::vector<Dim>& dims = graph.type(v).dims;
  std::vector<bool> out(dims.size());
  std::vector<ValueId> decided_by(dims.size());
  std::set<Seen> seen;
  std::vector<Seen> left = {{v, out}};
  while (!left.empty()) {
    Seen here = std::move(left.back());
    left.pop_back();
    const Node* node = graph.node_of(here.first);
    if (!node || graph.type(here.first).dims != dims || !seen.insert(here).second) continue;
    switch (node->op) {
      case Op::flip:
        for (int axis : node->axes) here.second[axis].flip();
        [[fallthrough]];
      case Op::scalar:
      case Op::cast:
        for (ValueId operand : node->operands) left.emplace_back(operand, here.second);
        break;
      case Op::cumulative: {
        const int axis = node->axes[0];
        if (decided_by[axis].valid() && here.first < decided_by[axis]) break;
        decided_by[axis] = here.first;
        out[axis] = here.second[axis];
        break;
      }
      default: break;
    }
  }
  return out;
}

}  // namespace

Loop loop_along_running(const Graph& graph, ValueId v) {
  Loop loop = loop_over(graph.type(v).dims);
  const std::vector<bool> is_from_end = directions(graph, v);
  for (std::size_t axis = 0; axis < is_from_end.size(); ++axis) {
    kernel::Subscript& subscript = loop.at.subscripts[axis];
    if (!is_from_end[axis] || subscript.axes.empty()) continue;
    subscript.base = graph.type(v).dims[axis] - 1;
    subscript.axes.front().step = -1;
  }
  return loop;
}

}  // namespace inlay::fuse
