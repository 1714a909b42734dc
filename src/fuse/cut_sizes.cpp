#include <algorithm>
#include <utility>

#include "fuse/cutter.h"
#include "ir/library_types.h"

namespace inlay::fuse {

using kernel::Role;
using kernel::Start;
using kernel::Statement;

/// The number is known before anything of that size is touched.
PieceId Cutter::bind(ValueId v, const Node& node) {
  kernel::Site site{ErrorCode::negative_size, "as_size: a size of {0}", {}, node.location};
  site.notes.emplace_back("operand", graph_.describe(node.operands[0]));
  // What is asserted before it may be why it is no size: that is said first.
  Piece piece{.value = v, .step_operands = {v}, .after = before_host_call_};
  piece.steps = {
      kernel::BindSize{out_.homes[v].buffer, node.size.as_symbol(), program_.sites.push_back(std::move(site))}};
  return out_.pieces.push_back(std::move(piece));
}

void Cutter::as_size(ValueId v, const Node& node) {
  add(v, elementwise(v, new_home(v), /*defines=*/true));
  bind(v, node);
}

/// Twice over the mask: to count, and then each element that counts goes where the count stands.
void Cutter::compress(const Node& node) {
  const ValueId mask = node.operands[0], count = node.results[0];
  const Loop loop = loop_over(graph_.type(mask).dims);
  const auto counting = [&](BufferId into, int64_t first) {
    Piece piece{.axes = loop.axes};
    piece.starts.push_back({into, {Start::Kind::fill, Literal::of_integer(DType::i64, first), {}}});
    piece.writes.push_back({.kind = Statement::Kind::fold,
                            .combine = Combine::add,
                            .buffer = into,
                            .value = mask,
                            .at = loop.at,
                            .converted = DType::i64,
                            .target = count});
    return piece;
  };
  add(count, counting(new_home(count), 0));
  const PieceId bound = bind(count, node);

  Piece piece = counting(new_state(count, DType::i64, {}), -1);
  piece.writes[0].runs = true;
  piece.after = {bound};
  piece.value = count;
  std::vector<ValueId> made;
  const auto move = [&](ValueId v, ValueId value, NodeId selection) {
    made.push_back(v);
    Write write{.buffer = new_home(v),
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
    if (decisions_[node.results[r]].how == How::stored) move(node.results[r], node.operands[r], {});
  }
  for (ValueId v : ids<ValueId>(graph_.values.size())) {
    const Decision& decision = decisions_[v];
    if (decision.how == How::stored && decision.with == count) move(v, v, graph_.values[count].node);
  }
  if (made.empty()) return;
  const PieceId id = out_.pieces.push_back(std::move(piece));
  for (ValueId v : made) out_.homes[v].pieces = {id};
}

}  // namespace inlay::fuse
