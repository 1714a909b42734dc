#include "fuse/cone.h"

#include <algorithm>

#include "fuse/stage_writer.h"

namespace inlay::fuse {

using kernel::Statement;
using kernel::Subscript;

Loop loop_over(std::span<const Dim> dims) {
  Loop loop;
  for (const Dim& dim : dims) {
    Subscript subscript;
    if (!dim.is(1)) {
      subscript.axes.push_back({static_cast<int>(loop.axes.size()), 1});
      loop.axes.push_back(dim);
    }
    loop.at.subscripts.push_back(std::move(subscript));
  }
  return loop;
}

bool has_one_element(const TensorType& type) {
  return type.dtype != DType::opaque && std::ranges::all_of(type.dims, [](const Dim& dim) { return dim.is(1); });
}

bool always_stored(const Graph& graph, ValueId v, const kernel::BackendCaps& caps) {
  const Node* node = graph.node_of(v);
  if (!node) return true;
  switch (node->op) {
    case Op::update:
    case Op::scatter:
    case Op::cumulative:
    case Op::compress:
    case Op::concat:
    case Op::library:
    case Op::host_call:
    case Op::cond:
    case Op::loop: return true;
    case Op::reduce: return !is_unrolled(graph, *node, caps);
    case Op::reshape: return !reshape_is_map(graph, *node);
    case Op::literal: return !has_one_element(graph.type(v));
    default: return false;
  }
}

IdMap<ValueId, int> count_uses(const Graph& graph) {
  IdMap<ValueId, int> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.operands) ++uses[v];
  }
  for (const Output& output : graph.outputs) ++uses[output.value];
  return uses;
}

Cone cone_of(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const IdMap<ValueId, bool>& forced,
             int limit) {
  Cone cone;
  std::vector<ValueId> todo = {v};
  IdMap<ValueId, bool> seen(graph.values.size(), false);
  seen[v] = true;
  while (!todo.empty() && cone.ops <= limit) {
    const ValueId next = todo.back();
    todo.pop_back();
    const Node* node = graph.node_of(next);
    if (!node || always_stored(graph, next, caps)) continue;
    if (next != v && (forced[next] || (has_one_element(graph.type(next)) && node->op != Op::literal))) continue;
    cone.values.push_back(next);
    if (node->op == Op::scalar || node->op == Op::cast) {
      ++cone.ops;
      cone.cost += node->op == Op::cast ? 1 : facts(node->scalar).cost;
    }
    const bool moves = node->op == Op::slice || node->op == Op::gather || node->op == Op::transpose ||
                       node->op == Op::flip || node->op == Op::diagonal;
    if (moves && !forced[node->operands[0]] && !always_stored(graph, node->operands[0], caps)) cone.moves_points = true;
    if (node->op == Op::iota) cone.needs_affine_point = true;
    if (node->op == Op::reshape && graph.type(next).rank() > 1) cone.needs_affine_point = true;
    if (node->op == Op::reduce) {  // written out at the point
      Dim terms = 1;
      for (int axis : node->axes) terms = terms * graph.type(node->operands[0]).dims[axis];
      const Cone inner = cone_of(graph, node->operands[0], caps, forced, limit);
      cone.ops += static_cast<int>(terms.constant()) * (inner.ops + 1);
      cone.cost += static_cast<int>(terms.constant()) * (inner.cost + 1);
      cone.needs_affine_point |= inner.needs_affine_point;
      cone.moves_points |= inner.moves_points;
      continue;
    }
    for (ValueId operand : node->operands) {
      if (!seen[operand]) todo.push_back(operand);
      seen[operand] = true;
    }
  }
  return cone;
}

namespace {

/// Homes of what is loaded for certain; where is not decided yet.
IdMap<ValueId, Home> provisional_homes(const Graph& graph, const kernel::BackendCaps& caps, const Forced& forced) {
  IdMap<ValueId, Home> homes(graph.values.size());
  const auto load = [&](ValueId v) { homes[v].buffer = BufferId(0); };
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Node* node = graph.node_of(v);
    const bool in_register = node && node->op != Op::literal && has_one_element(graph.type(v));
    if (in_register || forced.values[v] || always_stored(graph, v, caps)) load(v);
    if (!node || node->op != Op::gather) continue;
    const ValueId base = node->operands[0];
    if (cone_of(graph, base, caps, forced.values, caps.max_body_ops).needs_affine_point) load(base);
  }
  return homes;
}

/// Would the body that computes `v` at a point be too long? A cone counts each value once; but where a chain of slices
/// or gathers asks for two points of a value at each link, the number of points doubles from link to link.
bool is_too_long(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, const Forced& forced,
                 const IdMap<ValueId, Home>& homes, Points& points, Questions& questions) {
  const Cone cone = cone_of(graph, v, caps, forced.values, caps.max_body_ops);
  if (cone.ops > caps.max_body_ops) return true;
  if (!cone.moves_points || always_stored(graph, v, caps)) return false;
  IdMap<kernel::SiteId, kernel::Site> sites;
  kernel::Stage stage;
  questions.clear();
  StageWriter writer(graph, homes, points, questions, sites, stage, /*max_registers=*/4 * caps.max_body_ops);
  writer.write({.value = v, .at = loop_over(graph.type(v).dims).at, .defines = true, .target = v});
  return std::ranges::count_if(stage.statements, [](const Statement& statement) {
           return statement.kind == Statement::Kind::op || statement.kind == Statement::Kind::cast;
         }) > caps.max_body_ops;
}

}  // namespace

void cap_bodies(const Graph& graph, const kernel::BackendCaps& caps, Points& points, Forced& forced) {
  IdMap<ValueId, Home> homes = provisional_homes(graph, caps, forced);
  Questions questions(graph.values.size());
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Node* node = graph.node_of(v);
    if (!node || node->operands.empty()) continue;
    while (is_too_long(graph, v, caps, forced, homes, points, questions)) {
      // The largest operand is stored; what is left asks for it.
      ValueId largest;
      int most = 0;
      for (ValueId operand : node->operands) {
        if (forced.values[operand] || always_stored(graph, operand, caps)) continue;
        const int ops = cone_of(graph, operand, caps, forced.values, caps.max_body_ops).ops;
        if (ops > most) {
          most = ops;
          largest = operand;
        }
      }
      if (!largest.valid()) break;
      forced.add(largest, str(graph.value_text(largest), " is stored: the loop's body would exceed ", caps.max_body_ops,
                              " operations"));
      homes[largest].buffer = BufferId(0);
    }
  }
}

}  // namespace inlay::fuse
