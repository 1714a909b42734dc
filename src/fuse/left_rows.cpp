#include "fuse/left_rows.h"

#include <algorithm>

namespace inlay::fuse {
namespace {

bool can_fail(const Graph& graph, ValueId v) {
  const Node* node = graph.node_of(v);
  if (!node) return false;
  switch (node->op) {
    case Op::literal:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::slice:
    case Op::iota:
    case Op::size: return false;
    case Op::scalar: return node->scalar == ScalarOp::pow_ && is_integer(graph.type(v).dtype);
    case Op::cast: return is_integer(graph.type(v).dtype) && !is_integer(graph.type(node->operands[0]).dtype);
    default: return true;
  }
}

}  // namespace

std::optional<std::vector<Rows>> left_rows(const Graph& graph, const Node& update) {
  if (update.op != Op::update || update.combine != Combine::set) return std::nullopt;
  const std::vector<Dim>& dims = graph.type(update.operands[0]).dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const IndexItem& item = update.index[axis];
    const bool is_range = item.kind == IndexItem::Kind::range && item.step == 1;
    if (axis == 0 ? !is_range : !is_range || !item.start.is(0) || item.stop != dims[axis]) return std::nullopt;
  }
  if (dims.empty()) return std::nullopt;
  std::vector<Rows> out;
  const IndexItem& item = update.index[0];
  if (!item.start.is(0)) out.push_back({0, item.start});
  if (item.stop != dims[0]) out.push_back({item.stop, dims[0]});
  const auto is_short = [](const Rows& rows) { return (rows.end - rows.begin).is_constant(); };
  if (out.size() > 1 && !std::ranges::all_of(out, is_short)) return std::nullopt;
  return out;
}

bool may_be_left_out(const Graph& graph, Cones& cones, const Forced& forced, ValueId v) {
  std::vector<ValueId> cone;
  cones.of(v, forced.values, &cone);
  return std::ranges::none_of(cone, [&](ValueId part) { return can_fail(graph, part); });
}

}  // namespace inlay::fuse
