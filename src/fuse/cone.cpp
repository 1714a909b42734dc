#include "fuse/cone.h"

#include <algorithm>

#include "fuse/stage_writer.h"
#include "fuse/view_maps.h"

namespace inlay::fuse {

using kernel::Statement;

namespace {

bool always_stored(const Graph& graph, ValueId v, const kernel::BackendCaps& caps) {
  const Node* node = graph.node_of(v);
  if (!node || is_always_stored(*node)) return true;
  switch (node->op) {
    case Op::reduce: return !is_unrolled(graph, *node, caps);
    case Op::reshape: return !reshape_is_map(graph, *node);
    case Op::literal: return !has_one_element(graph.type(v));
    default: return false;
  }
}

}  // namespace

Cones::Cones(const Graph& graph, const kernel::BackendCaps& caps)
    : max_ops_(caps.max_body_ops), parts_(graph.values.size()) {
  for (ValueId v : ids<ValueId>(graph.values.size())) parts_[v] = part_of(graph, v, caps);
}

Cones::Part Cones::part_of(const Graph& graph, ValueId v, const kernel::BackendCaps& caps) {
  Part part;
  part.always_stored = inlay::fuse::always_stored(graph, v, caps);
  const Node* node = graph.node_of(v);
  if (!node) return part;
  part.in_register = node->op != Op::literal && has_one_element(graph.type(v));
  if (part.always_stored) return part;
  part.moves_points = node->op == Op::slice || node->op == Op::gather || node->op == Op::transpose ||
                      node->op == Op::flip || node->op == Op::diagonal;
  part.needs_affine_point = node->op == Op::iota || (node->op == Op::reshape && !reshape_moves_ones(graph, *node));
  part.ops = node->op == Op::scalar || node->op == Op::cast;
  part.cost = node->op == Op::cast ? 1 : 0;
  if (node->op == Op::scalar) part.cost = caps.cost(node->scalar, graph.type(node->operands.back()).dtype);
  if (node->op == Op::reduce) {
    Dim terms = 1;
    for (int axis : node->axes) terms = terms * graph.type(node->operands[0]).dims[axis];
    part.terms = static_cast<int>(terms.constant());
  }
  part.first_operand = static_cast<uint32_t>(operands_.size());
  operands_.insert(operands_.end(), node->operands.begin(), node->operands.end());
  part.last_operand = static_cast<uint32_t>(operands_.size());
  return part;
}

Cone Cones::of(ValueId v, const IdMap<ValueId, bool>& forced, std::vector<ValueId>* values) {
  if (values) values->clear();
  return of(v, forced, values, 0);
}

Cone Cones::of(ValueId v, const IdMap<ValueId, bool>& forced, std::vector<ValueId>* values, std::size_t depth) {
  if (visits_.size() <= depth) visits_.push_back({IdMap<ValueId, uint32_t>(parts_.size(), 0), {}});
  auto& [seen, todo] = visits_[depth];
  const uint32_t question = ++question_;
  Cone cone;
  todo.assign(1, v);
  seen[v] = question;
  while (!todo.empty() && cone.ops <= max_ops_) {
    const ValueId next = todo.back();
    todo.pop_back();
    const Part& part = parts_[next];
    if (part.always_stored || (next != v && (forced[next] || part.in_register))) continue;
    if (values) values->push_back(next);
    cone.ops += part.ops;
    cone.cost += part.cost;
    cone.needs_affine_point |= part.needs_affine_point;
    if (part.moves_points) {
      const ValueId base = operands_[part.first_operand];
      cone.moves_points |= !forced[base] && !parts_[base].always_stored;
    }
    if (part.terms >= 0) {
      const Cone inner = of(operands_[part.first_operand], forced, nullptr, depth + 1);
      cone.ops += part.terms * (inner.ops + 1);
      cone.cost += part.terms * (inner.cost + 1);
      cone.needs_affine_point |= inner.needs_affine_point;
      cone.moves_points |= inner.moves_points;
      continue;
    }
    for (uint32_t i = part.first_operand; i < part.last_operand; ++i) {
      const ValueId operand = operands_[i];
      if (seen[operand] == question) continue;
      seen[operand] = question;
      todo.push_back(operand);
    }
  }
  return cone;
}

namespace {

/// Homes of what is loaded for certain; where is not decided yet.
IdMap<ValueId, Home> provisional_homes(const Graph& graph, Cones& cones, const Forced& forced) {
  IdMap<ValueId, Home> homes(graph.values.size());
  const auto load = [&](ValueId v) { homes[v].buffer = BufferId(0); };
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Node* node = graph.node_of(v);
    if (cones.in_register(v) || forced.values[v] || cones.always_stored(v)) load(v);
    if (!node || node->op != Op::gather) continue;
    if (const ValueId base = node->operands[0]; cones.is_read_by_position(base, forced.values)) load(base);
  }
  return homes;
}

/// Would the body that computes `v` at a point be too long? A cone counts each value once; but where a chain of slices
/// or gathers asks for two points of a value at each link, the number of points doubles from link to link.
bool is_too_long(const Graph& graph, ValueId v, const kernel::BackendCaps& caps, Cones& cones, const Forced& forced,
                 const IdMap<ValueId, Home>& homes, Points& points, Questions& questions) {
  const Cone cone = cones.of(v, forced.values);
  if (cone.ops > caps.max_body_ops) return true;
  if (!cone.moves_points || cones.always_stored(v)) return false;
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

void cap_bodies(const Graph& graph, const kernel::BackendCaps& caps, Cones& cones, Points& points, Forced& forced) {
  IdMap<ValueId, Home> homes = provisional_homes(graph, cones, forced);
  Questions questions(graph.values.size());
  for (ValueId v : ids<ValueId>(graph.values.size())) {
    const Node* node = graph.node_of(v);
    if (!node || node->operands.empty()) continue;
    while (is_too_long(graph, v, caps, cones, forced, homes, points, questions)) {
      // The largest operand is stored; what is left asks for it.
      ValueId largest;
      int most = 0;
      for (ValueId operand : node->operands) {
        if (forced.values[operand] || cones.always_stored(operand)) continue;
        const int ops = cones.of(operand, forced.values).ops;
        if (ops > most) {
          most = ops;
          largest = operand;
        }
      }
      if (!largest.valid()) break;
      forced.add(largest, {kernel::StoredFor::long_body, str(caps.max_body_ops)});
      homes[largest].buffer = BufferId(0);
    }
  }
}

}  // namespace inlay::fuse
