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

/// `v`, and the bases below it that are written with it, in the order of writing.
std::vector<ValueId> updates_of(const Graph& graph, ValueId v, const Decisions& decisions) {
  std::vector<ValueId> out = {v};
  for (;;) {
    const Node& written = *graph.node_of(out.back());
    if (written.op == Op::concat || decisions[written.operands[0]].how != How::updated_with) break;
    out.push_back(written.operands[0]);
  }
  std::ranges::reverse(out);
  return out;
}

/// Does the update, of a box, write other elements than those of a dim of size 1? There every point is the same place.
bool divides_size_one(const Graph& graph, const Node& update) {
  const std::vector<Dim>& dims = graph.type(update.operands[0]).dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const IndexItem& item = update.index[axis];
    const bool is_range = item.kind == IndexItem::Kind::range;
    const bool is_all = is_range ? item.start.is(0) && item.stop.is(1) : item.position.is(0);
    if (dims[axis].is(1) && !is_all) return true;
  }
  return false;
}

}  // namespace

void decide_regions(const Graph& graph, ValueId v, Decisions& decisions) {
  Regions& regions = decisions.regions[v];
  regions = {updates_of(graph, v, decisions), {}, {}};
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
  const std::optional<LeftOver> left = left_over(graph, regions.updates, brings, ReadBy::stores);
  if (!left || !may_be_left_out(graph, decisions, base)) return;
  begin = Begin::left_over;
  regions.left = *left;
}

std::optional<Regions> regions_side_by_side(const Graph& graph, ValueId v, const Decisions& decisions, ReadBy by) {
  Regions out{updates_of(graph, v, decisions), {}, {}};
  const auto is_required = [&](ValueId update) { return graph.node_of(update)->in_place == InPlace::required; };
  const Node& first = *graph.node_of(out.updates.front());
  if (first.op != Op::update || std::ranges::any_of(out.updates, is_required)) return std::nullopt;
  const ValueId base = first.operands[0];
  const bool is_there = memory_of(graph, decisions, base).valid() || splat(graph, base, [](ValueId) { return false; });
  const Brings brings = is_there ? Brings::elements : Brings::values;
  const std::optional<LeftOver> left = left_over(graph, out.updates, brings, by);
  if (!left || left->regions != out.updates.size() || !may_be_left_out(graph, decisions, base)) return std::nullopt;
  const auto divides = [&](ValueId update) { return divides_size_one(graph, *graph.node_of(update)); };
  if (std::ranges::any_of(out.updates, divides)) return std::nullopt;
  out.left = *left;
  return out;
}

}  // namespace inlay::fuse
