#pragma once
// Questions about values and nodes that several passes ask.
#include <algorithm>
#include <optional>

#include "ir/graph.h"

namespace inlay {

/// Does the op only show elements of its operand, at other positions, without elements of its own?
bool is_view(Op op);

/// Can computing an element fail: a float cast to an integer, an integer to a signed integer power, an index, a matrix
/// that a library function rejects? Size checks do not count. Ops that define a size, call the host or have bodies
/// count as if they could.
bool may_fail(const Graph& graph, const Node& node);

/// Returns the one literal that each element of `v` is, if `v` or what it is a view of is such a literal. `stops` holds
/// for values that must not be looked through.
template <class Stops>
std::optional<Literal> splat(const Graph& graph, ValueId v, Stops stops) {
  const Node* node = graph.node_of(v);
  for (; node && is_view(node->op) && !stops(v); node = graph.node_of(v)) v = node->operands[0];
  if (!node || node->op != Op::literal || stops(v)) return std::nullopt;
  const auto is_first = [&](const Literal& element) { return element.same_bits(node->elements[0]); };
  return std::ranges::all_of(node->elements, is_first) ? std::optional(node->elements[0]) : std::nullopt;
}

/// Is every dim 1? Such values live in registers of the entry function.
bool has_one_element(const TensorType& type);

/// Is it always stored in memory, whoever reads it? (For a reduction, a reshape and a literal the fuser decides.)
bool is_always_stored(const Node& node);

/// Is it a reduce by the fold?
inline bool reduces_by(const Node& node, Fold fold) { return node.op == Op::reduce && node.fold == fold; }

/// Returns how a reduce makes one element of two. Nothing for other nodes, and where a state is more than an element,
/// as of an argmax.
std::optional<Combine> combines_elements(const Node& node);

/// Is the number of points that the reduction folds into each element known to be at most `most`?
bool is_short(const Graph& graph, const Node& reduction, int64_t most);

/// Returns how often each value is an operand or an output.
IdMap<ValueId, int> count_uses(const Graph& graph);

/// Returns, by node, whether it carries size checks.
IdMap<NodeId, bool> nodes_with_checks(const Graph& graph);

/// Is it a sum of symbols and a number, which is at least 0 if they are?
bool is_sum_of_symbols(const Dim& size);

/// Returns, by symbol, the size that these equal pairs give it: the sum of other symbols and a number, as in n == m +
/// 1, else the first of equal symbols; itself if they give none. Other pairs are ignored.
IdMap<SymbolId, Dim> first_of_equal_sizes(std::size_t num_symbols, std::span<const std::pair<Dim, Dim>> equal);

}  // namespace inlay
