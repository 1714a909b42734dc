#include <algorithm>
#include <utility>

#include "fuse/cutter.h"
#include "fuse/view_maps.h"
#include "ir/library_types.h"

namespace inlay::fuse {

using kernel::Buffer;
using kernel::Role;
using kernel::Start;
using kernel::Statement;

void Cutter::reduce(ValueId v, const Node& node) {
  const ValueId x = node.operands[0];
  const NodeId selection = needs_.selection[v];
  const ValueId mask = selection.valid() ? graph_.nodes[selection].operands[0] : ValueId();
  const std::vector<Dim>& dims = graph_.type(mask.valid() ? mask : x).dims;
  const BufferId buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
  out_.homes[v].buffer = buffer;
  if (const ValueId concat = regions_.concat_in[v]; concat.valid()) {
    return fold_parts(v, node, *graph_.node_of(concat));
  }
  // A short static result beside a long sum is written out: one fold for each element, so that it joins loops over
  // the long axis (X.T @ r over the observations).
  const int64_t short_result = short_static_size(graph_.type(v).dims);
  const std::optional<Beside> beside = make_beside(v);
  const int ops = cones_.of(x, forced_.values).ops + (beside ? cones_.of(beside->value, forced_.values).ops + 2 : 1);
  const bool written_out = short_result > 1 && short_result * ops <= caps_.max_body_ops;
  std::vector<Dim> loop_dims = dims;
  if (written_out) {
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
      if (!std::ranges::binary_search(node.axes, axis)) loop_dims[axis] = 1;
    }
  }
  const Loop loop = loop_over(loop_dims);
  Piece piece{.axes = loop.axes};
  piece.starts.push_back({buffer, {Start::Kind::fill, identity_of(node.combine, graph_.type(v).dtype), {}}});
  for (int64_t k = 0; k < (written_out ? short_result : 1); ++k) {
    AccessMap at = loop.at;
    int64_t rest = k, below = short_result;
    for (int axis = 0; written_out && axis < static_cast<int>(dims.size()); ++axis) {
      if (std::ranges::binary_search(node.axes, axis)) continue;
      below /= dims[axis].constant();
      at.subscripts[axis] = {rest / below, {}, {}};
      rest %= below;
    }
    Write write = fold_at(v, node, std::move(at));
    write.predicate = mask;
    write.selection = selection;
    if (beside) {
      piece.writes.push_back(write_beside(write, *beside));
      if (facts(beside->fold).num_stored == 2) write.fold = beside->fold, write.state = 1;
    }
    piece.writes.push_back(std::move(write));
  }
  if (beside) piece.starts.push_back({beside->buffer, {Start::Kind::fill, nothing(*beside), {}}});
  const PieceId id = add(v, std::move(piece));
  if (beside && !needs_.sum_folds[needs_.beside[v]]) out_.homes[needs_.beside[v]].pieces.push_back(id);
}

/// The fold of the reduce's operand at a point of that.
Write Cutter::fold_at(ValueId v, const Node& reduce, AccessMap at) const {
  Write write{.kind = Statement::Kind::fold,
              .combine = reduce.combine,
              .buffer = out_.homes[v].buffer,
              .value = reduce.operands[0],
              .at = std::move(at),
              .target = v};
  for (int axis = 0; axis < write.at.rank(); ++axis) {
    if (!std::ranges::binary_search(reduce.axes, axis)) write.map.subscripts.push_back(write.at.subscripts[axis]);
  }
  return write;
}

/// A fold for each part of a concat that is read for nothing else. One that is a loop begins.
void Cutter::fold_parts(ValueId v, const Node& reduce, const Node& concat) {
  std::vector<Piece> pieces;
  for (ConcatPart& part : parts_of(graph_, concat)) {
    Piece& piece = pieces.emplace_back(Piece{.axes = std::move(part.loop.axes)});
    piece.writes.push_back(fold_at(v, reduce, std::move(part.in_whole)));
  }
  std::ranges::stable_partition(pieces, [](const Piece& piece) { return !piece.axes.empty(); });
  const Literal nothing = identity_of(reduce.combine, graph_.type(v).dtype);
  pieces.front().starts.push_back({out_.homes[v].buffer, {Start::Kind::fill, nothing, {}}});
  std::vector<PieceId> first;
  for (Piece& piece : pieces) {
    piece.after = first;
    const PieceId id = add(v, std::move(piece));
    if (first.empty()) first = {id};
  }
}

std::optional<Cutter::Beside> Cutter::make_beside(ValueId other) {
  const ValueId v = needs_.beside[other];
  if (!v.valid()) return std::nullopt;
  if (const std::optional<SumFold>& fold = needs_.sum_folds[v]) {
    const BufferId folded = new_state(v, graph_.type(v).dtype, {});
    out_.homes[v].sum = {fold->fold, folded, other, fold->if_finite};
    return Beside{fold->fold, fold->x, folded};
  }
  make_places(v);
  const bool is_max = graph_.node_of(other)->combine == Combine::max;
  return Beside{is_max ? Fold::argmax : Fold::argmin, needs_.place_folds[v]->number, out_.homes[v].buffer};
}

Literal Cutter::nothing(const Beside& beside) const {
  return identity_of(facts(beside.fold).states[0].combine, program_.buffers[beside.buffer].dtype);
}

/// What finds the places of an extreme is folded with it: so what it is made of, sizes and places, is made before.
void Cutter::make_places(ValueId v) {
  is_made_[v] = true;
  out_.homes[v].buffer = has_one_element(graph_.type(v)) ? new_buffer(v, Role::scalar) : new_memory(v);
  std::vector<ValueId> made_of = {needs_.place_folds[v]->number};
  for (std::size_t i = 0; i < made_of.size(); ++i) {
    const Node& node = *graph_.node_of(made_of[i]);
    made_of.insert(made_of.end(), node.operands.begin(), node.operands.end());
  }
  std::ranges::sort(made_of);
  for (ValueId part : made_of) materialize(part);
}

Write Cutter::write_beside(const Write& other, const Beside& beside) const {
  Write write = other;
  write.fold = beside.fold;
  write.combine = facts(beside.fold).states[0].combine;
  write.target = needs_.beside[other.target];
  write.buffer = beside.buffer;
  write.value = beside.value;
  write.converted = program_.buffers[beside.buffer].dtype;
  write.at = broadcast_point(other.at, graph_.type(beside.value).dims);
  write.beside_of = other.value;
  write.beside_at = other.at;
  return write;
}

int64_t Cutter::short_static_size(std::span<const Dim> dims) const {
  int64_t size = 1;
  for (const Dim& dim : dims) {
    if (!dim.is_constant() || dim.constant() > caps_.max_short_side) return 0;
    size *= dim.constant();
  }
  return size <= caps_.max_short_side ? size : 0;
}

/// A buffer that holds no value of the graph: what a running fold has got so far.
BufferId Cutter::new_state(ValueId of, DType dtype, std::vector<Dim> dims) {
  const bool one = std::ranges::all_of(dims, [](const Dim& dim) { return dim.is(1); });
  std::string name = unique_name(str(graph_.name_text(of), "_so_far"));
  return program_.buffers.push_back(Buffer{
      .name = std::move(name), .dtype = dtype, .dims = std::move(dims), .role = one ? Role::scalar : Role::temporary});
}

void Cutter::cumulative(ValueId v, const Node& node) {
  const TensorType& type = graph_.type(v);
  const auto axis = static_cast<std::size_t>(node.axes[0]);
  const BufferId buffer = new_memory(v);
  out_.homes[v].buffer = buffer;
  Piece piece = elementwise(v, buffer, /*defines=*/false);
  Write fold{.kind = Statement::Kind::fold,
             .combine = node.combine,
             .map = piece.writes[0].map,
             .value = node.operands[0],
             .at = piece.writes[0].at,
             .running = v,
             .runs = true,
             .target = v};
  std::vector<Dim> rest = type.dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  fold.map.subscripts.erase(fold.map.subscripts.begin() + static_cast<std::ptrdiff_t>(axis));
  fold.buffer = new_state(v, type.dtype, std::move(rest));
  piece.starts.push_back({fold.buffer, {Start::Kind::fill, first_of(node.combine, type.dtype), {}}});
  piece.writes.insert(piece.writes.begin(), std::move(fold));
  add(v, std::move(piece));
}

/// What leaves even the sign of a first zero as it is.
Literal Cutter::first_of(Combine combine, DType dtype) {
  return combine == Combine::add && is_float(dtype) ? Literal::of_float(dtype, -0.0) : identity_of(combine, dtype);
}

}  // namespace inlay::fuse
