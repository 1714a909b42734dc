// What is written region by region: what its bytes hold before the first of them.
#include <algorithm>

#include "fuse/decide.h"
#include "fuse/in_place.h"
#include "ir/traits.h"

namespace inlay::fuse {
namespace {

/// The value in whose bytes `v` lies, if under another shape. None: it is in a register, or computed where it is asked
/// for.
ValueId memory_of(const Graph& graph, const Decisions& decisions, ValueId v) {
  const Decision& decision = decisions[v];
  switch (decision.how) {
    case How::given:
    case How::constant:
    case How::stored:
    case How::hosted: return v;
    case How::view: return memory_of(graph, decisions, decision.with);
    case How::inlined: {
      const Node& node = *graph.node_of(v);
      if (node.op != Op::reshape || decision.slot >= 0) return {};
      const ValueId shown = memory_of(graph, decisions, node.operands[0]);
      return shown.valid() && decisions[shown].how != How::constant ? shown : ValueId();
    }
    case How::unneeded:
    case How::number:
    case How::updated_with:
    case How::in_parts: break;
  }
  return {};
}

/// An argument is not overwritten, so it is copied; in a body it may be what is carried, which is, as a donated one.
bool is_kept(const Graph& graph, const Decisions& decisions, ValueId v) {
  const auto is_v = [&](const Param& param) { return param.value == v && !param.donated; };
  return decisions[v].how == How::given && !graph.is_body && std::ranges::any_of(graph.params, is_v);
}

}  // namespace

void decide_regions(const Graph& graph, ValueId v, Decisions& decisions) {
  Regions& regions = decisions.regions[v];
  regions.updates = {v};
  for (;;) {
    const Node& written = *graph.node_of(regions.updates.back());
    if (written.op == Op::concat || decisions[written.operands[0]].how != How::updated_with) break;
    regions.updates.push_back(written.operands[0]);
  }
  std::ranges::reverse(regions.updates);
  const Node& first = *graph.node_of(regions.updates.front());
  if (first.op == Op::concat) return;

  const ValueId base = first.operands[0], memory = memory_of(graph, decisions, base);
  const bool is_required = first.in_place == InPlace::required;
  if (is_required && !memory.valid()) require_own_bytes(graph, decisions, first);
  regions.fill = splat(graph, base, [](ValueId) { return false; });
  Begin& begin = decisions.of[v].begin;
  begin = regions.fill ? Begin::fill : memory.valid() ? Begin::copy : Begin::computed;
  if (memory.valid() && (is_required || !is_kept(graph, decisions, memory))) return;
  const Brings brings = begin == Begin::computed ? Brings::values : Brings::elements;
  const std::optional<LeftOver> left = left_over(graph, regions.updates, brings);
  if (!left || !may_be_left_out(graph, decisions, base)) return;
  begin = Begin::left_over;
  regions.left = *left;
}

}  // namespace inlay::fuse
