#include "fuse/view_maps.h"

#include <algorithm>

#include "fuse/affine_index.h"
#include "fuse/selection.h"
#include "ir/traits.h"
#include "kernel/dim_proof.h"

namespace inlay::fuse {

using kernel::Subscript;

Subscript constant(Dim value) { return {std::move(value), {}, {}}; }

bool is_normal(const AccessMap& at, std::span<const Dim> dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is(1) && !(at.subscripts[i].is_constant() && at.subscripts[i].base.is(0))) return false;
  }
  return true;
}
AccessMap normalized(AccessMap at, std::span<const Dim> dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is(1)) at.subscripts[i] = constant(0);
  }
  return at;
}

namespace {

/// start + step * inner.
Subscript scaled(const Subscript& inner, const Dim& start, int64_t step) {
  Subscript out{start + Dim(step) * inner.base, inner.axes, inner.index};
  for (kernel::AxisTerm& term : out.axes) term.step = term.step * step;
  if (out.index) out.index->step *= step;
  return out;
}

int num_long_dims(std::span<const Dim> dims) {
  return static_cast<int>(std::ranges::count_if(dims, [](const Dim& dim) { return !dim.is(1); }));
}

bool has_constant_strides(std::span<const Dim> dims) {
  for (std::size_t i = 1; i < dims.size(); ++i) {
    if (!dims[i].is_constant()) return false;
  }
  return true;
}

bool only_ones_differ(std::span<const Dim> from, std::span<const Dim> to) {
  std::vector<Dim> a, b;
  for (const Dim& dim : from)
    if (!dim.is(1)) a.push_back(dim);
  for (const Dim& dim : to)
    if (!dim.is(1)) b.push_back(dim);
  return a == b;
}

/// Are the elements of `v` some of 0, 1, ..., extent - 1? Where a mask holds, or all of them.
bool is_place_in(const Graph& graph, ValueId v, const Dim& extent) {
  const Node* node = graph.node_of(v);
  if (node && node->op == Op::compress && v != node->results[0]) {
    v = selected_from(*node, v);
    node = graph.node_of(v);
  }
  return node && node->op == Op::iota && graph.type(v).dtype == DType::i64 && graph.type(v).dims[0] == extent;
}

/// Are the elements of the parameter proved to be some of 0, 1, ..., extent - 1?
bool stays_below(const Param& param, const Dim& extent) {
  if (param.below && kernel::always_at_least(extent, *param.below)) return true;
  const Facts& facts = param.facts;
  return facts.has_range && extent.is_constant() && facts.min >= 0 && facts.max < extent.constant();
}

/// x mod extent, where there is an element: as of a ring of that many rows.
bool is_rest_of(const Graph& graph, ValueId array, const Dim& extent) {
  const Node* node = graph.node_of(array);
  if (!node || node->op != Op::scalar || node->scalar != ScalarOp::mod_) return false;
  const std::vector<Dim>& dims = graph.type(array).dims;
  const bool has_rest = kernel::always_at_least(extent, 1) || std::ranges::find(dims, extent) != dims.end();
  const Node* divisor = graph.node_of(node->operands[1]);
  while (divisor && (divisor->op == Op::broadcast || divisor->op == Op::reshape)) {
    divisor = graph.node_of(divisor->operands[0]);
  }
  return has_rest && divisor && divisor->op == Op::size && divisor->size == extent;
}

/// Do facts of a bound array, or what a loop counts, prove it? Views keep them.
bool facts_prove_within(const Graph& graph, ValueId array, const Dim& extent) {
  if (is_place_in(graph, array, extent)) return true;
  ValueId source = array;
  while (const Node* view = graph.node_of(source)) {
    if (!is_view(view->op)) break;
    source = view->operands[0];
  }
  const auto param = std::ranges::lower_bound(graph.params, source, {}, &Param::value);  // they stand in order
  return param != graph.params.end() && param->value == source && stays_below(*param, extent);
}

}  // namespace

bool always_within(const Graph& graph, ValueId array, const Dim& extent) {
  return facts_prove_within(graph, array, extent) || is_rest_of(graph, array, extent) ||
         affine_index(graph, array, extent);
}

AccessMap broadcast_point(const AccessMap& at, std::span<const Dim> from) {
  AccessMap out;
  const std::size_t shift = at.subscripts.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    out.subscripts.push_back(from[i].is(1) ? constant(0) : at.subscripts[shift + i]);
  }
  return out;
}

PlacedIndex place_index(const Graph& graph, const std::vector<IndexItem>& index, std::span<const Dim> base_dims,
                        const AccessMap& at) {
  std::size_t num_array_axes = 0;  // of all index arrays, broadcast together
  bool any_array = false;
  for (const IndexItem& item : index) {
    if (item.kind != IndexItem::Kind::array) continue;
    any_array = true;
    num_array_axes = std::max(num_array_axes, graph.type(item.array).dims.size());
  }
  const bool arrays_first = any_array && arrays_apart(index);
  std::size_t next = arrays_first ? num_array_axes : 0, arrays_at = 0;
  bool arrays_placed = arrays_first || !any_array;
  PlacedIndex placed;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const IndexItem& item = index[axis];
    switch (item.kind) {
      case IndexItem::Kind::position: placed.map.subscripts.push_back(constant(item.position)); break;
      case IndexItem::Kind::range:
        placed.map.subscripts.push_back(scaled(at.subscripts[next++], item.start, item.step));
        break;
      case IndexItem::Kind::array:
        if (!arrays_placed) {
          arrays_at = next;
          next += num_array_axes;
          arrays_placed = true;
        }
        placed.map.subscripts.push_back({});
        placed.arrays.push_back({static_cast<int>(axis), item.array, {}, 1, base_dims[axis]});
        break;
    }
  }
  AccessMap arrays_point;
  for (std::size_t i = 0; i < num_array_axes; ++i) arrays_point.subscripts.push_back(at.subscripts[arrays_at + i]);
  for (WriteIndex& array : placed.arrays) array.at = broadcast_point(arrays_point, graph.type(array.array).dims);
  return placed;
}

AccessMap diagonal_point(const AccessMap& at, std::span<const int> axes) {
  AccessMap from = at;
  const Subscript place = from.subscripts.back();
  from.subscripts.pop_back();
  for (int axis : axes) from.subscripts.insert(from.subscripts.begin() + axis, place);  // ascending: each finds its own
  return from;
}

bool reshape_moves_ones(const Graph& graph, const Node& node) {
  return only_ones_differ(graph.type(node.operands[0]).dims, graph.type(node.results[0]).dims);
}

bool reshape_is_map(const Graph& graph, const Node& node) {
  if (has_one_element(graph.type(node.results[0])) || has_one_element(graph.type(node.operands[0]))) return true;
  if (reshape_moves_ones(graph, node)) return true;
  const std::vector<Dim>& from = graph.type(node.operands[0]).dims;
  const std::vector<Dim>& to = graph.type(node.results[0]).dims;
  return num_long_dims(from) == 1 && has_constant_strides(to);
}

namespace {

AccessMap reshaped(const Graph& graph, const Node& node, ValueId v, const AccessMap& at) {
  const std::vector<Dim>& from = graph.type(node.operands[0]).dims;
  const std::vector<Dim>& to = graph.type(v).dims;
  AccessMap out;
  // However many dims there are on the other side, which turn out to be 1.
  if (has_one_element(graph.type(v)) || has_one_element(graph.type(node.operands[0]))) {
    out.subscripts.assign(from.size(), constant(0));
    return out;
  }
  if (only_ones_differ(from, to)) {
    std::size_t next = 0;
    for (const Dim& dim : from) {
      if (dim.is(1)) {
        out.subscripts.push_back(constant(0));
        continue;
      }
      while (to[next].is(1)) ++next;
      out.subscripts.push_back(at.subscripts[next++]);
    }
    return out;
  }
  // The operand is a line: its subscript is the row-major number of the point.
  Subscript line;
  int64_t stride = 1;
  for (int d = static_cast<int>(to.size()) - 1; d >= 0; --d) {
    const Subscript part = scaled(at.subscripts[d], 0, stride);
    INLAY_CHECK(!(part.index && line.index), "a reshape of a line through two index arrays");
    const std::optional<kernel::IndexTerm> index = part.index ? part.index : line.index;
    line = plus(line, part, 1);
    line.index = index;
    if (d > 0) stride *= to[d].constant();
  }
  for (const Dim& dim : from) out.subscripts.push_back(dim.is(1) ? constant(0) : line);
  return out;
}

}  // namespace

std::optional<AccessMap> view_point(const Graph& graph, ValueId v, const AccessMap& at) {
  const Node* node = graph.node_of(v);
  if (!node || node->operands.empty()) return std::nullopt;
  const std::vector<Dim>& dims = graph.type(node->operands[0]).dims;
  AccessMap from;
  switch (node->op) {
    case Op::broadcast: return broadcast_point(at, dims);
    case Op::reshape:
      if (!reshape_is_map(graph, *node)) return std::nullopt;
      return reshaped(graph, *node, v, at);
    case Op::transpose:
      from.subscripts.resize(at.subscripts.size());
      for (std::size_t i = 0; i < node->axes.size(); ++i) from.subscripts[node->axes[i]] = at.subscripts[i];
      return from;
    case Op::flip:
      from = at;
      for (int axis : node->axes) from.subscripts[axis] = scaled(at.subscripts[axis], dims[axis] - 1, -1);
      return from;
    case Op::diagonal: return diagonal_point(at, node->axes);
    case Op::slice: return place_index(graph, node->index, dims, at).map;
    default: return std::nullopt;
  }
}

bool is_unrolled(const Graph& graph, const Node& node, const kernel::BackendCaps& caps) {
  return is_short(graph, node, caps.max_short_side) && combines_elements(node);
}

}  // namespace inlay::fuse
