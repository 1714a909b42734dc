#include "fuse/in_place.h"

#include "ir/traits.h"

namespace inlay::fuse {
namespace {

/// A view that shows each element once.
bool is_plain_view(const Node& node) { return is_view(node.op) && node.op != Op::broadcast; }

bool shows_memory(const Graph& graph, const IdMap<ValueId, Home>& homes, const kernel::KernelProgram& program,
                  ValueId v) {
  const Node* node = graph.node_of(v);
  if (!node || !is_plain_view(*node)) return false;
  while (node && is_plain_view(*node) && !homes[v].buffer.valid()) {
    v = node->operands[0];
    node = graph.node_of(v);
  }
  return homes[v].buffer.valid() && program.buffers[homes[v].buffer].role != kernel::Role::scalar;
}

}  // namespace

kernel::Site in_place_site(const Graph& graph, const Node& update) {
  const ValueId base = update.operands[0];
  return {ErrorCode::not_in_place,
          str(op_name(update.op), "!: ", graph.value_text(base), " would be copied"),
          {{"base", graph.describe(base)}},
          update.location};
}

void require_own_bytes(const Graph& graph, const IdMap<ValueId, Home>& homes, const kernel::KernelProgram& program,
                       const Node& update) {
  if (!shows_memory(graph, homes, program, update.operands[0])) return;
  kernel::Site site = in_place_site(graph, update);
  site.message += ": it shows another value, a part of it or in another order";
  throw Error(Diagnostic{site.code, site.location, site.message, site.notes, {}});
}

}  // namespace inlay::fuse
