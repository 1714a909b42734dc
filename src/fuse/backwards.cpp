#include "fuse/backwards.h"

#include <algorithm>

namespace inlay::fuse {

Directions::Directions(const Graph& graph) : graph_(graph), of_(graph.values.size()) {
  const auto runs = [](const Node& node) { return node.op == Op::cumulative; };
  if (std::ranges::none_of(graph.nodes, runs)) return;
  for (ValueId v : ids<ValueId>(graph.values.size())) of_[v] = directions_of(v);
}

/// Of operands that have theirs.
std::vector<Directions::Axis> Directions::directions_of(ValueId v) const {
  const Node* node = graph_.node_of(v);
  if (!node) return {};
  const std::vector<Dim>& dims = graph_.type(v).dims;
  std::vector<Axis> out;
  switch (node->op) {
    case Op::cumulative:
      out.resize(dims.size());
      out[static_cast<std::size_t>(node->axes[0])].running = v;
      return out;
    case Op::flip:
      out = of_[node->operands[0]];
      for (int axis : node->axes) {
        if (!out.empty()) out[static_cast<std::size_t>(axis)].from_end ^= true;
      }
      return out;
    case Op::scalar:
    case Op::cast:
      for (ValueId operand : node->operands) {
        const std::vector<Axis>& its = of_[operand];
        if (its.empty() || graph_.type(operand).dims != dims) continue;
        out.resize(dims.size());
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
          const bool decides =
              its[axis].running.valid() && (!out[axis].running.valid() || out[axis].running < its[axis].running);
          if (decides) out[axis] = its[axis];
        }
      }
      return out;
    default: return {};
  }
}

Loop Directions::loop_over(ValueId v) const {
  const std::vector<Dim>& dims = graph_.type(v).dims;
  Loop loop = fuse::loop_over(dims);
  for (std::size_t axis = 0; axis < of_[v].size(); ++axis) {
    kernel::Subscript& subscript = loop.at.subscripts[axis];
    const bool is_from_end = of_[v][axis].running.valid() && of_[v][axis].from_end;
    if (!is_from_end || subscript.axes.empty()) continue;
    subscript.base = dims[axis] - 1;
    subscript.axes.front().step = -1;
  }
  return loop;
}

}  // namespace inlay::fuse
