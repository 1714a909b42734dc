#include "rewrite/rewriter.h"

#include <algorithm>

#include "ir/region.h"
#include "support/stop.h"

namespace inlay::rewrite {
namespace {

/// Does the earlier check cover this one: does it stand alone, or at the same node? (Another node may be removed by the
/// next pass, with its check.)
bool covers(const DimCheck& earlier, const DimCheck& check) {
  if (earlier.node.valid() && earlier.node != check.node) return false;
  return earlier.relation == check.relation && earlier.left == check.left && earlier.right == check.right;
}

}  // namespace

std::vector<ValueId> rebuild(GraphBuilder& builder, const Node& node, std::vector<TensorType> types) {
  const std::vector<ValueId>& operands = node.operands;
  const auto one = [&]() -> ValueId {
    switch (node.op) {
      case Op::literal: return builder.literal(node.elements, types[0].dims);
      case Op::scalar: return builder.scalar(node.scalar, operands);
      case Op::cast: return builder.cast(operands[0], types[0].dtype);
      case Op::broadcast: return builder.broadcast(operands[0], types[0].dims);
      case Op::reshape: return builder.reshape(operands[0], types[0].dims);
      case Op::transpose: return builder.transpose(operands[0], node.axes);
      case Op::flip: return builder.flip(operands[0], node.axes);
      case Op::diagonal: return builder.diagonal(operands[0], node.axes[0], node.axes[1]);
      case Op::slice: return builder.slice(operands[0], node.index);
      case Op::gather: return builder.gather(operands[0], node.index, node.text);
      case Op::update: return builder.update(node.combine, operands[0], node.index, operands[1], node.in_place);
      case Op::scatter: return builder.scatter(node.combine, operands[0], node.index, operands[1], node.in_place);
      case Op::cumulative: return builder.cumulative(node.combine, operands[0], node.axes[0], types[0].dtype);
      case Op::concat: return builder.concat(operands, node.axes[0]);
      case Op::iota: return builder.iota(types[0].dims[0], types[0].dtype);
      case Op::size: return builder.size(node.size);
      case Op::as_size: return builder.as_size(operands[0], node.size);
      case Op::assert_:
        return builder.assert_that(operands[0], operands[1], node.text, node.error,
                                   {operands.begin() + 2, operands.end()});
      case Op::reduce:
      case Op::compress:
      case Op::library:
      case Op::host_call:
      case Op::cond:
      case Op::loop: break;
    }
    return {};
  };
  const Region& region = node.region;
  if (node.op == Op::cond) {
    return builder.cond(operands[0], {operands.begin() + 1, operands.end()}, *region.bodies[0], *region.bodies[1]);
  }
  if (node.op == Op::loop) {
    const auto captured = operands.begin() + region.num_carried;
    return builder.loop(region.count, {operands.begin(), captured}, {captured, operands.end()}, *region.bodies[0],
                        region.has_condition ? Ends::by_condition : Ends::after_count);
  }
  if (node.op == Op::compress) return builder.compress(operands[0], {operands.begin() + 1, operands.end()}, node.size);
  if (node.op == Op::host_call) return builder.host_call(node.text, node.host_function, operands, std::move(types));
  if (node.op == Op::reduce) return builder.reduce(node.fold, operands, node.axes, types[0].dtype);
  if (node.op == Op::library) return builder.library(node.library, operands, node.library_options);
  return {one()};
}

Rewriter::Rewriter(const Graph& source) : Rewriter(source, IdMap<SymbolId, bool>(source.symbols.size(), true)) {}

Rewriter::Rewriter(const Graph& source, const IdMap<SymbolId, bool>& keep)
    : Rewriter(source, keep, IdMap<ValueId, bool>(source.values.size(), true)) {}

Rewriter::Rewriter(const Graph& source, const IdMap<SymbolId, bool>& keep, const IdMap<ValueId, bool>& keep_bound)
    : source_(source),
      builder_(GraphBuilder::rewriting(source)),
      symbols_(source.symbols.size()),
      values_(source.values.size()),
      began_at_(source.nodes.size()) {
  builder_.reserve(source);
  for (SymbolId s : ids<SymbolId>(source.symbols.size())) {
    if (source.is_given(s)) {  // the enclosing graph decides
      symbols_[s] = Dim::symbol(s, source.symbols_of);
      continue;
    }
    if (keep[s]) symbols_[s] = builder_.symbol(source.symbols[s].name);
    same_symbols_ = same_symbols_ && keep[s];
  }
  for (const Param& param : source.params) {
    if (param.bound && !keep_bound[param.value]) continue;
    const ValueInfo& value = source.values[param.value];
    TensorType type{value.type.dtype, {}};
    for (const Dim& old : given_dims(source, param)) type.dims.push_back(dim(old));
    values_[param.value] = param.bound     ? builder_.bound(value.name, std::move(type), param.facts)
                           : param.donated ? builder_.donated(value.name, std::move(type))
                           : param.below   ? builder_.step(value.name, dim(*param.below))
                                           : builder_.param(value.name, std::move(type));
  }
  for (const DimCheck& check : source.checks) {
    INLAY_CHECK(!check.node.valid() || check.node.index < source.nodes.size(), "a check at no node: ", check.message);
  }
  if (source.is_body) return;
  for (const auto& [left, right] : source.assumptions) builder_.assume_equal(dim(left), dim(right));
  for (const Param& param : source.params) {
    if (param.given.empty()) continue;
    std::vector<Dim> dims;
    for (const Dim& old : source.type(param.value).dims) dims.push_back(dim(old));
    builder_.equate_dims(values_[param.value], std::move(dims));
  }
}

ValueId Rewriter::operator[](ValueId old) const {
  INLAY_CHECK(values_[old].valid(), source_.value_text(old), " was left out, but something still uses it");
  return values_[old];
}

Dim Rewriter::dim(const Dim& old) const { return same_symbols_ ? old : old.substitute(symbols_); }

Node Rewriter::mapped(NodeId old) const {
  checkpoint();
  Node node = source_.nodes[old];
  for (ValueId& v : node.operands) v = (*this)[v];
  for (IndexItem& item : node.index) {
    if (item.array.valid()) item.array = (*this)[item.array];
    item.start = dim(item.start);
    item.stop = dim(item.stop);
    item.position = dim(item.position);
  }
  node.size = dim(node.size);
  node.region.count = dim(node.region.count);
  for (auto& body : node.region.bodies) {
    if (!same_symbols_) body = std::make_shared<const Graph>(with_symbols(*body, graph(), symbols_));
  }
  return node;
}

void Rewriter::at(NodeId old) {
  builder_.at(source_.nodes[old].location);
  began_at_[old] = NodeId(graph().nodes.size());
}

void Rewriter::copy(NodeId old, const Node& mapped) {
  at(old);
  const Node& from = source_.nodes[old];
  std::vector<TensorType> types;
  for (ValueId v : from.results) {
    TensorType type{source_.type(v).dtype, {}};
    for (const Dim& d : source_.type(v).dims) type.dims.push_back(dim(d));
    types.push_back(std::move(type));
  }
  const std::vector<ValueId> made = rebuild(builder_, mapped, types);
  for (std::size_t i = 0; i < made.size(); ++i) {
    INLAY_CHECK(builder_.type(made[i]) == types[i], "the copy of ", source_.describe(from.results[i]), " is ",
                graph().type_text(builder_.type(made[i])));
    values_[from.results[i]] = made[i];
    pass_name_on(from.results[i], made[i]);
  }
}

void Rewriter::replace(NodeId old, ValueId by) {
  INLAY_CHECK(source_.nodes[old].results.size() == 1, "a node of several results cannot be replaced by one value");
  if (!began_at_[old].valid()) at(old);
  replace_result(source_.nodes[old].results.at(0), by);
}

void Rewriter::replace(NodeId old, std::span<const ValueId> by) {
  const std::vector<ValueId>& results = source_.nodes[old].results;
  INLAY_CHECK(results.size() == by.size(), results.size(), " results, and ", by.size(), " values for them");
  if (!began_at_[old].valid()) at(old);
  for (std::size_t r = 0; r < by.size(); ++r) {
    if (by[r].valid()) replace_result(results[r], by[r]);
  }
}

void Rewriter::replace_result(ValueId old, ValueId by) {
  INLAY_CHECK(builder_.type(by) == source_.type(old), "what replaces ", source_.describe(old), " is ",
              graph().type_text(builder_.type(by)));
  values_[old] = by;
  pass_name_on(old, by);
}

void Rewriter::stand_in(ValueId old, ValueId by) {
  values_[old] = by;
  pass_name_on(old, by);
}

void Rewriter::replace_along(NodeId old, NodeId earlier, ValueId by) {
  began_at_[old] = began_at_[earlier];
  replace(old, by);
}

void Rewriter::share(NodeId old, NodeId twin) {
  began_at_[old] = began_at_[twin];
  const std::vector<ValueId>&results = source_.nodes[old].results, &twins = source_.nodes[twin].results;
  for (std::size_t r = 0; r < results.size(); ++r) replace_result(results[r], (*this)[twins[r]]);
}

void Rewriter::pass_name_on(ValueId old, ValueId by) {
  const ValueInfo& value = graph().values[by];
  if (value.node.valid() && value.name.empty()) builder_.name(by, source_.values[old].name);
}

std::vector<DimCheck> Rewriter::merged_checks(std::vector<DimCheck> built) const {
  const NodeId end(graph().nodes.size());
  // Those of the source come first: they show what the user wrote, while a rewrite's own show what it was lowered to.
  std::vector<DimCheck> all;
  for (const DimCheck& check : source_.checks) {
    if (check.node.valid() && !began_at_[check.node].valid()) continue;  // its node was left out
    all.push_back(check);
    all.back().left = dim(check.left);
    all.back().right = dim(check.right);
    if (check.node.valid()) all.back().node = began_at_[check.node];
  }
  all.insert(all.end(), std::make_move_iterator(built.begin()), std::make_move_iterator(built.end()));
  std::vector<std::pair<int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].node == end) all[i].node = NodeId();  // no node follows that could carry it
    order.emplace_back(all[i].node.valid() ? static_cast<int64_t>(all[i].node.index) : -1, i);
  }
  std::ranges::sort(order);

  std::vector<DimCheck> out;
  for (const auto& [place, i] : order) {
    DimCheck& check = all[i];
    if (std::ranges::any_of(out, [&](const DimCheck& earlier) { return covers(earlier, check); })) continue;
    out.push_back(std::move(check));
  }
  return out;
}

Graph Rewriter::finish() && {
  for (const Output& output : source_.outputs) builder_.output((*this)[output.value], output.name);
  std::vector<DimCheck> checks = merged_checks(graph().checks);
  Graph out = std::move(builder_).finish();
  out.checks = std::move(checks);
  return out;
}

}  // namespace inlay::rewrite
