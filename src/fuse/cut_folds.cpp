#include <algorithm>
#include <utility>

#include "fuse/cut.h"
#include "ir/traits.h"

namespace inlay::fuse {

using kernel::Start;
using kernel::Statement;

namespace {

/// One state that a reduction makes, and what it folds.
struct Folded {
  ValueId result, x;
  Fold fold = Fold::none;
  int state = 0;
  DType dtype = DType::f64;

  Literal nothing() const { return identity_of(combine_of(fold, state), dtype); }
};

/// The stored ones.
std::vector<Folded> states_of(const Graph& graph, const Node& node) {
  std::vector<Folded> out;
  std::size_t operand = 0;
  for (std::size_t k = 0; k < node.results.size(); ++k) {
    const bool counts = facts(node.fold).states[k].counts_points();
    const ValueId x = counts ? node.operands.back() : node.operands[operand++];
    out.push_back({node.results[k], x, node.fold, static_cast<int>(k), graph.type(node.results[k]).dtype});
  }
  return out;
}

/// The fold of the state's operand at a point of that.
Write fold_at(const Cut& cut, const Folded& state, const Node& reduction, AccessMap at) {
  const BufferId buffer = cut.homes[state.result].buffer;
  Write write{.kind = Statement::Kind::fold,
              .fold = state.fold,
              .state = state.state,
              .buffer = buffer,
              .value = state.x,
              .at = std::move(at),
              .converted = cut.program.buffers[buffer].dtype,
              .target = state.result};
  for (int axis = 0; axis < write.at.rank(); ++axis) {
    if (!std::ranges::binary_search(reduction.axes, axis)) write.map.subscripts.push_back(write.at.subscripts[axis]);
  }
  return write;
}

void fold_loop(Cut& cut, const Node& node, std::span<const Folded> states) {
  const ValueId v = node.results.back();
  const Node* compress = cut.compress_with(v);
  const NodeId selection = compress ? cut.graph.values[compress->results[0]].node : NodeId();
  const ValueId mask = compress ? compress->operands[0] : ValueId();
  const std::vector<Dim>& dims = cut.graph.type(mask.valid() ? mask : node.operands.back()).dims;
  const int num_folds = cut.decisions[v].folds;
  const bool written_out = num_folds > 1;
  std::vector<Dim> loop_dims = dims;
  if (written_out) {
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
      if (!std::ranges::binary_search(node.axes, axis)) loop_dims[axis] = 1;
    }
  }
  const Loop loop = loop_over(loop_dims);
  Piece piece{.axes = loop.axes};
  for (const Folded& state : states) {
    piece.starts.push_back({cut.homes[state.result].buffer, {Start::Kind::fill, state.nothing(), {}}});
  }
  for (int k = 0; k < num_folds; ++k) {
    AccessMap at = loop.at;
    int64_t rest = k, below = num_folds;
    for (int axis = 0; written_out && axis < static_cast<int>(dims.size()); ++axis) {
      if (std::ranges::binary_search(node.axes, axis)) continue;
      below /= dims[axis].constant();
      at.subscripts[axis] = {rest / below, {}, {}};
      rest %= below;
    }
    for (const Folded& state : states) {
      Write write = fold_at(cut, state, node, at);
      write.predicate = mask;
      write.selection = selection;
      if (state.state == 0) {
        for (const Folded& other : states.subspan(1)) write.along.push_back(other.x);
      }
      piece.writes.push_back(std::move(write));
    }
  }
  const PieceId id = cut.add(v, std::move(piece));
  for (const Folded& state : states) cut.homes[state.result].pieces = {id};
}

/// A fold for each part of a whole that is read for nothing else. One that is a loop begins.
void fold_parts(Cut& cut, const Node& reduce, const Folded& state, ValueId whole) {
  std::vector<Piece> pieces;
  for (PieceOfWhole& one : parts_of(cut, whole)) {
    Piece& piece = pieces.emplace_back(Piece{.axes = std::move(one.loop.axes), .of_whole = std::move(one.part)});
    piece.writes.push_back(fold_at(cut, state, reduce, std::move(one.loop.at)));
  }
  std::ranges::stable_partition(pieces, [](const Piece& piece) { return !piece.axes.empty(); });
  pieces.front().starts.push_back({cut.homes[state.result].buffer, {Start::Kind::fill, state.nothing(), {}}});
  std::vector<PieceId> first;
  for (Piece& piece : pieces) {
    piece.after = first;
    const PieceId id = cut.add(state.result, std::move(piece));
    if (first.empty()) first = {id};
  }
}

}  // namespace

void cut_reduction(Cut& cut, const Node& node) {
  const std::vector<Folded> states = states_of(cut.graph, node);
  for (const Folded& state : states) cut.new_home(state.result);
  const ValueId whole = cut.whole_below(node.results[0]);
  whole.valid() ? fold_parts(cut, node, states[0], whole) : fold_loop(cut, node, states);
}

void cut_cumulative(Cut& cut, ValueId v, const Node& node) {
  const TensorType& type = cut.graph.type(v);
  const auto axis = static_cast<std::size_t>(node.axes[0]);
  Piece piece = elementwise(cut.graph, v, cut.new_home(v), /*defines=*/false);
  Write fold{.kind = Statement::Kind::fold,
             .fold = fold_by(node.combine),
             .map = piece.writes[0].map,
             .value = node.operands[0],
             .at = piece.writes[0].at,
             .running = v,
             .runs = true,
             .target = v};
  std::vector<Dim> rest = type.dims;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  fold.map.subscripts.erase(fold.map.subscripts.begin() + static_cast<std::ptrdiff_t>(axis));
  fold.buffer = cut.buffers.new_state(v, type.dtype, std::move(rest));
  piece.starts.push_back({fold.buffer, {Start::Kind::fill, exact_identity_of(node.combine, type.dtype), {}}});
  piece.writes.insert(piece.writes.begin(), std::move(fold));
  cut.add(v, std::move(piece));
}

}  // namespace inlay::fuse
