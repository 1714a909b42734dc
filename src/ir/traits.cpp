#include "ir/traits.h"

#include <ranges>

#include "ir/positions.h"

namespace inlay {

bool is_view(Op op) {
  return op == Op::broadcast || op == Op::reshape || op == Op::transpose || op == Op::flip || op == Op::diagonal ||
         op == Op::slice;
}

bool may_fail(const Graph& graph, const Node& node) {
  const auto dtype = [&] { return graph.type(node.results[0]).dtype; };
  switch (node.op) {
    case Op::scalar: return node.scalar == ScalarOp::pow_ && is_signed_integer(dtype());
    case Op::cast: return is_integer(dtype()) && is_float(graph.type(node.operands[0]).dtype);
    case Op::library: return !facts(node.library).failure.empty();
    case Op::literal:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal:
    case Op::slice:
    case Op::update:
    case Op::reduce:
    case Op::cumulative:
    case Op::concat:
    case Op::iota:
    case Op::size: return false;
    case Op::gather:
    case Op::scatter:
    case Op::as_size:
    case Op::compress:
    case Op::host_call:
    case Op::assert_:
    case Op::cond:
    case Op::loop: return true;
  }
  return true;
}

bool is_always_stored(const Node& node) {
  switch (node.op) {
    case Op::update:
    case Op::scatter:
    case Op::cumulative:
    case Op::compress:
    case Op::concat:
    case Op::library:
    case Op::host_call:
    case Op::cond:
    case Op::loop: return true;
    case Op::scalar:
    case Op::cast:
    case Op::literal:
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::flip:
    case Op::diagonal:
    case Op::slice:
    case Op::gather:
    case Op::reduce:
    case Op::iota:
    case Op::size:
    case Op::as_size:
    case Op::assert_: return false;
  }
  return false;
}

bool has_one_element(const TensorType& type) { return type.dtype != DType::opaque && all_one(type.dims); }

std::optional<Combine> combines_elements(const Node& node) {
  if (node.op != Op::reduce || !facts(node.fold).has_one_state()) return std::nullopt;
  return combine_of(node.fold, 0);
}

bool is_short(const Graph& graph, const Node& reduction, int64_t most) {
  const std::vector<Dim>& dims = graph.type(reduction.operands[0]).dims;
  const auto folded = [&](int axis) -> const Dim& { return dims[static_cast<std::size_t>(axis)]; };
  return num_elements_up_to(std::views::transform(reduction.axes, folded), most).has_value();
}

IdMap<ValueId, int> count_uses(const Graph& graph) {
  IdMap<ValueId, int> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (ValueId v : node.operands) ++uses[v];
  }
  for (const Output& output : graph.outputs) ++uses[output.value];
  return uses;
}

IdMap<NodeId, bool> nodes_with_checks(const Graph& graph) {
  IdMap<NodeId, bool> out(graph.nodes.size(), false);
  for (const DimCheck& check : graph.checks) {
    if (check.node.valid()) out[check.node] = true;
  }
  return out;
}

bool is_sum_of_symbols(const Dim& size) {
  return size.constant_part() >= 0 && std::ranges::all_of(size.terms(), [](const Dim::Term& term) {
           return term.coefficient > 0 && term.factors.size() == 1 && term.factors[0].kind == Dim::Atom::Kind::symbol;
         });
}

IdMap<SymbolId, Dim> first_of_equal_sizes(std::size_t num_symbols, std::span<const std::pair<Dim, Dim>> equal) {
  IdMap<SymbolId, SymbolId> first;
  for (SymbolId s : ids<SymbolId>(num_symbols)) first.push_back(s);
  const auto found = [&](SymbolId s) {
    while (first[s] != s) s = first[s];
    return s;
  };
  for (const auto& [left, right] : equal) {
    if (!left.is_symbol() || !right.is_symbol()) continue;
    const SymbolId a = found(left.as_symbol()), b = found(right.as_symbol());
    first[std::max(a, b)] = std::min(a, b);
  }
  IdMap<SymbolId, Dim> out;
  for (SymbolId s : ids<SymbolId>(num_symbols)) out.push_back(Dim::symbol(found(s)));
  const auto replace = [&](const Dim& left, const Dim& right) {
    if (!left.is_symbol() || right.is_symbol() || right.is_constant()) return;
    const Dim symbol = out[left.as_symbol()], sum = right.substitute(out);
    if (!symbol.is_symbol() || !is_sum_of_symbols(sum)) return;
    for (SymbolId s : sum.symbols()) {
      if (s == symbol.as_symbol()) return;
    }
    IdMap<SymbolId, Dim> by;
    for (SymbolId s : ids<SymbolId>(num_symbols)) by.push_back(Dim::symbol(s));
    by[symbol.as_symbol()] = sum;
    for (SymbolId s : ids<SymbolId>(num_symbols)) out[s] = out[s].substitute(by);
  };
  for (const auto& [left, right] : equal) {
    replace(left, right);
    replace(right, left);
  }
  return out;
}

}  // namespace inlay
