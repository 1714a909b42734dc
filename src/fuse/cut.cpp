#include "fuse/cut.h"

#include <utility>

namespace inlay::fuse {

Cut::Cut(const Graph& graph, const Decisions& decisions, kernel::KernelProgram& program)
    : graph(graph),
      decisions(decisions),
      program(program),
      buffers(graph, decisions, program),
      homes(graph.values.size()) {
  pieces.reserve(graph.values.size());
}

BufferId Cut::new_home(ValueId v) { return homes[v].buffer = buffers.new_place(v); }

PieceId Cut::add(ValueId v, Piece piece) {
  piece.value = v;
  const PieceId id = pieces.push_back(std::move(piece));
  homes[v].pieces.push_back(id);
  return id;
}

const Node* Cut::compress_with(ValueId v) const {
  const ValueId with = decisions[v].with;
  return with.valid() && !whole_below(v).valid() ? graph.node_of(with) : nullptr;
}

ValueId Cut::whole_below(ValueId v) const {
  const ValueId with = decisions[v].with;
  return with.valid() && decisions[with].how == How::in_parts ? with : ValueId();
}

Piece over(Loop loop, ValueId v, BufferId buffer, bool defines) {
  Piece piece{.axes = std::move(loop.axes)};
  piece.writes.push_back(
      {.buffer = buffer, .map = loop.at, .value = v, .at = loop.at, .defines = defines, .target = v});
  return piece;
}

Piece elementwise(const Graph& graph, ValueId v, BufferId buffer, bool defines) {
  return over(loop_over(graph.type(v).dims), v, buffer, defines);
}

}  // namespace inlay::fuse
