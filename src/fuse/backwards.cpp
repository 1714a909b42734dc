#include "fuse/backwards.h"

#include <algorithm>

namespace inlay::fuse {

Directions::Directions(const Graph& graph) : of_(graph.values.size()) {
  const auto has_direction = [](const Node& node) { return node.op == Op::cumulative || node.op == Op::flip; };
  if (std::ranges::none_of(graph.nodes, has_direction)) return;
  for (ValueId v : ids<ValueId>(graph.values.size())) of_[v] = directions_of(graph, v);
}

/// Of operands that have theirs.
std::vector<Directions::Axis> Directions::directions_of(const Graph& graph, ValueId v) const {
  const Node* node = graph.node_of(v);
  if (!node) return {};
  const std::vector<Dim>& dims = graph.type(v).dims;
  std::vector<Axis> out;
  switch (node->op) {
    case Op::cumulative:
      out.resize(dims.size());
      out[static_cast<std::size_t>(node->axes[0])].running = v;
      return out;
    case Op::flip:
      out = of_[node->operands[0]];
      out.resize(dims.size());
      for (int axis : node->axes) out[static_cast<std::size_t>(axis)].from_end ^= true;
      return out;
    case Op::scalar:
    case Op::cast:
      for (ValueId operand : node->operands) {
        const std::vector<Axis>& its = of_[operand];
        if (its.empty() || graph.type(operand).dims != dims) continue;
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

void Directions::apply(ValueId v, Loop& loop) const {
  const std::size_t first = loop.at.subscripts.size() - of_[v].size();
  for (std::size_t dim = 0; dim < of_[v].size(); ++dim) {
    if (is_from_end(v, dim)) pass_from_end(loop, first + dim);
  }
}

}  // namespace inlay::fuse
