#include "fuse/in_place.h"

#include "ir/traits.h"

namespace inlay::fuse {
namespace {

/// A view that shows each element once.
bool is_plain_view(const Node& node) { return is_view(node.op) && node.op != Op::broadcast; }

bool shows_memory(const Graph& graph, const Decisions& decisions, ValueId v) {
  const Node* node = graph.node_of(v);
  if (!node || !is_plain_view(*node)) return false;
  while (node && is_plain_view(*node) && decisions[v].how == How::inlined) {
    v = node->operands[0];
    node = graph.node_of(v);
  }
  const How how = decisions[v].how;
  return how == How::given || how == How::constant || how == How::stored || how == How::hosted || how == How::view;
}

}  // namespace

kernel::Site in_place_site(const Graph& graph, const Node& update) {
  const ValueId base = update.operands[0];
  return {ErrorCode::not_in_place,
          str(op_name(update.op), "!: ", graph.value_text(base), " would be copied"),
          {{"base", graph.describe(base)}},
          update.location};
}

void require_own_bytes(const Graph& graph, const Decisions& decisions, const Node& update) {
  if (!shows_memory(graph, decisions, update.operands[0])) return;
  kernel::Site site = in_place_site(graph, update);
  site.message += ": it shows another value, a part of it or in another order";
  throw Error(Diagnostic{site.code, site.location, site.message, site.notes, {}});
}

}  // namespace inlay::fuse
