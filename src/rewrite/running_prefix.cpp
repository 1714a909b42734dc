#include "rewrite/running_prefix.h"

#include <algorithm>

#include "ir/traits.h"

namespace inlay::rewrite {
namespace {

/// Does the slice keep its axes, and take a prefix of `axis`?
bool is_prefix(const Node& slice, int axis) {
  const IndexItem& along = slice.index[static_cast<std::size_t>(axis)];
  const auto is_range = [](const IndexItem& item) { return item.kind == IndexItem::Kind::range; };
  return std::ranges::all_of(slice.index, is_range) && along.start.is(0) && along.step == 1;
}

/// Can the slice come before `fold`? Its sizes must be known there: from parameters, or from the fold's operand.
bool is_known_before(const Graph& graph, const Node& slice, const Node& fold) {
  std::vector<SymbolId> known;
  const auto add = [](const Dim& dim, std::vector<SymbolId>& to) {
    for (SymbolId s : dim.symbols()) to.push_back(s);
  };
  for (const Dim& dim : graph.type(fold.operands[0]).dims) add(dim, known);
  std::vector<SymbolId> asked;
  for (const IndexItem& item : slice.index) {
    add(item.start, asked);
    add(item.stop, asked);
  }
  return std::ranges::all_of(asked, [&](SymbolId s) {
    const bool of_param = !graph.binder_of(s).valid();
    return of_param || std::ranges::find(known, s) != known.end();
  });
}

}  // namespace

std::optional<Graph> shorten_running_folds(const Graph& graph, PassContext& context) {
  std::vector<NodeId> found;
  IdMap<ValueId, int> uses;
  for (NodeId id : ids<NodeId>(graph.nodes.size())) {
    const Node& slice = graph.nodes[id];
    const Node* fold = slice.op == Op::slice ? graph.node_of(slice.operands[0]) : nullptr;
    if (!fold || fold->op != Op::cumulative || !is_prefix(slice, fold->axes[0])) continue;
    if (!is_known_before(graph, slice, *fold)) continue;
    if (uses.size() == 0) uses = count_uses(graph);
    if (uses[slice.operands[0]] == 1 && context.fires("running-prefix", Close::bitwise)) found.push_back(id);
  }
  if (found.empty()) return std::nullopt;
  Graph out = graph;
  for (NodeId id : found) {
    // They swap: the first node slices, the second folds.
    const ValueId between = out.nodes[id].operands[0];
    Node slice = out.nodes[id], fold = *out.node_of(between);
    out.values[between].type = {out.type(fold.operands[0]).dtype, out.type(slice.results[0]).dims};
    std::swap(slice.operands, fold.operands);
    std::swap(slice.results, fold.results);
    std::swap(slice.location, fold.location);
    const NodeId first = out.values[between].node;
    for (DimCheck& check : out.checks) {
      if (check.node == id) check.node = first;  // it is about the slice
    }
    out.nodes[first] = std::move(slice);
    out.nodes[id] = std::move(fold);
  }
  return out;
}

}  // namespace inlay::rewrite
