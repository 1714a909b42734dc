#pragma once
// Questions about values and nodes that several passes ask.
#include <algorithm>
#include <optional>

#include "ir/graph.h"

namespace inlay {

/// Has it no elements of its own, but shows those of its operand at other places?
bool is_view(Op op);

/// May computing an element end the call: a float that is cast to an integer, an integer to a signed integer power, an
/// index, a matrix that a library function refuses? Size checks are not meant. What binds a size, calls the host or has
/// bodies counts as if it could.
bool may_fail(const Graph& graph, const Node& node);

/// The one literal that each element of `v` is: `v` itself, or what it is a view of. `stops` says at which values
/// nothing is looked through.
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

/// Is all of it in memory, whoever reads it? (Of a reduction, a reshape and a literal that is the fuser's to say.)
bool is_always_stored(const Node& node);

/// Has the reduction, at each element of its result, no more points than `most`, as is known?
bool is_short(const Graph& graph, const Node& reduction, int64_t most);

/// How often each value is an operand or an output.
IdMap<ValueId, int> count_uses(const Graph& graph);

/// By node: must sizes agree where it stands?
IdMap<NodeId, bool> nodes_with_checks(const Graph& graph);

/// Is it a sum of symbols and a number, which is a size wherever they are?
bool is_sum_of_symbols(const Dim& size);

/// By symbol: what these pairs of sizes say to be equal to it: the sum of other symbols and a number, as of n == m + 1,
/// else the first of equal symbols; itself where they say neither. Other pairs say nothing.
IdMap<SymbolId, Dim> first_of_equal_sizes(std::size_t num_symbols, std::span<const std::pair<Dim, Dim>> equal);

}  // namespace inlay
