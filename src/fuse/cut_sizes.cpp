#include <algorithm>
#include <utility>

#include "fuse/cut.h"

namespace inlay::fuse {

using kernel::Start;
using kernel::Statement;

namespace {

/// The number is known before anything of that size is touched.
PieceId bind_size(Cut& cut, ValueId v, const Node& node) {
  kernel::Site site{ErrorCode::negative_size, "as_size: a size of {0}", {}, node.location};
  site.notes.emplace_back("operand", cut.graph.describe(node.operands[0]));
  // What is asserted before it may be why it is no size: that is said first.
  Piece piece{.value = v, .step_operands = {v}, .after = cut.before_host_call};
  piece.steps = {
      kernel::BindSize{cut.homes[v].buffer, node.size.as_symbol(), cut.program.sites.push_back(std::move(site))}};
  return cut.pieces.push_back(std::move(piece));
}

}  // namespace

void cut_as_size(Cut& cut, ValueId v, const Node& node) {
  cut.add(v, elementwise(cut.graph, v, cut.new_home(v), /*defines=*/true));
  bind_size(cut, v, node);
}

/// Twice over the mask: to count, and then each element that counts goes where the count stands.
void cut_compress(Cut& cut, const Node& node) {
  const ValueId mask = node.operands[0], count = node.results[0];
  const Loop loop = loop_over(cut.graph.type(mask).dims);
  const auto counting = [&](BufferId into, int64_t first) {
    Piece piece{.axes = loop.axes};
    piece.starts.push_back({into, {Start::Kind::fill, Literal::of_integer(DType::i64, first), {}}});
    piece.writes.push_back({.kind = Statement::Kind::fold,
                            .fold = Fold::add,
                            .buffer = into,
                            .value = mask,
                            .at = loop.at,
                            .converted = DType::i64,
                            .target = count});
    return piece;
  };
  cut.add(count, counting(cut.new_home(count), 0));
  const PieceId bound = bind_size(cut, count, node);

  Piece piece = counting(cut.buffers.new_state(count, DType::i64, {}), -1);
  piece.writes[0].runs = true;
  piece.after = {bound};
  piece.value = count;
  std::vector<ValueId> made;
  const auto move = [&](ValueId v, ValueId value, NodeId selection) {
    made.push_back(v);
    Write write{.buffer = cut.new_home(v),
                .value = value,
                .at = loop.at,
                .defines = selection.valid(),
                .predicate = mask,
                .selection = selection,
                .target = v};
    write.map.subscripts.emplace_back();
    write.indices.push_back({.extent = node.size, .running = piece.writes[0].buffer});
    piece.writes.push_back(std::move(write));
  };
  for (std::size_t r = 1; r < node.results.size(); ++r) {
    if (cut.decisions[node.results[r]].how == How::stored) move(node.results[r], node.operands[r], {});
  }
  for (ValueId v : ids<ValueId>(cut.graph.values.size())) {
    const Decision& decision = cut.decisions[v];
    if (decision.how == How::stored && decision.with == count) move(v, v, cut.graph.values[count].node);
  }
  if (made.empty()) return;
  const PieceId id = cut.pieces.push_back(std::move(piece));
  for (ValueId v : made) cut.homes[v].pieces = {id};
}

}  // namespace inlay::fuse
