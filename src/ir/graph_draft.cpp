#include "ir/graph_draft.h"

#include <algorithm>
#include <atomic>

#include "ir/build.h"
#include "ir/mistakes.h"
#include "ir/traits.h"

namespace inlay {
namespace {

/// Builders are numbered from 1, in no order that anything depends on.
uint32_t next_number() {
  static std::atomic<uint32_t> last = 0;
  uint32_t number = 0;
  while (number == 0) number = ++last;
  return number;
}

/// An opaque value is one object of the host, however many elements that has: what has dims would be read as an array.
void require_type(const GraphDraft& draft, const TensorType& type, const auto& what) {
  if (type.dtype != DType::opaque || type.dims.empty()) return;
  throw draft.error(ErrorCode::wrong_rank,
                    str(what(), ": ", draft.graph().type_text(type), ", where an opaque value has no dims"));
}

}  // namespace

bool holds(const Graph& graph, const Dim& left, const Dim& right, DimCheck::Relation relation) {
  const bool equal = relation == DimCheck::Relation::equal;
  const Dim difference = left - right;
  if (difference.is_constant()) return equal ? difference.is(0) : difference.constant() <= 0;
  // Assumptions are equations that hold at the entry: what differs by exactly one of them is equal.
  for (const auto& [a, b] : graph.assumptions) {
    if (difference == a - b || difference == b - a) return true;
  }
  return !equal && (right - left).lower_bound(IdMap<SymbolId, int64_t>(graph.symbols.size(), 0)) >= 0;
}

void check_unused_by_params(const GraphDraft& draft, const Dim& size) {
  if (draft.graph().is_body || !size.is_symbol() || draft.graph().symbols[size.as_symbol()].source.valid()) return;
  for (const Param& param : draft.graph().params) {
    for (const Dim& dim : given_dims(draft.graph(), param)) {
      const std::vector<SymbolId> used = dim.symbols();
      if (std::ranges::find(used, size.as_symbol()) == used.end()) continue;
      const std::string& name = draft.graph().symbols[size.as_symbol()].name;
      throw draft
          .error(ErrorCode::unknown_name, str(name, " is known only after the parameters, and one has it in a size"))
          .note("parameter", draft.graph().describe(param.value))
          .help(str("a parameter says how large it is by a dim of its own, as in f64[", name, "]"));
    }
  }
}

GraphDraft::GraphDraft(std::string name) : number_(next_number()) {
  graph_.name = std::move(name);
  graph_.symbols_of = number_;
}

Dim GraphDraft::symbol(std::string name) {
  return Dim::symbol(graph_.symbols.push_back(Symbol{std::move(name), {}, 0}), graph_.symbols_of);
}

void GraphDraft::assume_equal(const Dim& left, const Dim& right) {
  for (const Dim* dim : {&left, &right}) require_own({dim, 1}, "assume");
  graph_.assumptions.emplace_back(left, right);
  const auto names = graph_.symbol_names();
  DimCheck check{.left = left, .right = right, .location = location_};
  const std::string sides[] = {left.to_text(names), right.to_text(names)};
  check.message = str(
      "assume ", sides[0], " == ", sides[1], " does not hold: ", left.is_constant() ? "" : str(sides[0], " is {0}"),
      left.is_constant() || right.is_constant() ? "" : " and ", right.is_constant() ? "" : str(sides[1], " is {1}"));
  for (SymbolId s : (left - right).symbols()) {
    const Symbol& symbol = graph_.symbols[s];
    if (!symbol.source.valid()) continue;
    check.notes.emplace_back(symbol.name, str("dim ", symbol.axis, " of ", graph_.describe(symbol.source)));
  }
  graph_.checks.push_back(std::move(check));
}

void GraphDraft::share_sizes(const Graph& like, std::optional<std::size_t> num_given) {
  graph_.symbols_of = like.symbols_of;
  if (!num_given) return;
  graph_.is_body = true;
  graph_.num_given = *num_given;
  for (SymbolId s : ids<SymbolId>(*num_given)) graph_.symbols.push_back(Symbol{like.symbols[s].name, {}, 0});
  graph_.assumptions = like.assumptions;  // they hold in a body too
}

void GraphDraft::reserve(const Graph& like) {
  graph_.nodes.reserve(like.nodes.size());
  graph_.values.reserve(like.values.size());
}

ValueId GraphDraft::own(ValueId v) const {
  if ((v.builder == 0 || v.builder == number_) && v.index < graph_.values.size()) return ValueId(v.index);
  throw error(ErrorCode::unknown_name, "a value that is not of this builder");
}

void GraphDraft::require_own(std::span<const Dim> dims, std::string_view what) const {
  const auto exists = [&](SymbolId symbol) { return symbol.index < graph_.symbols.size(); };
  for (const Dim& dim : dims) {
    if (dim.is_constant()) continue;
    // Sizes of a graph that was not built have no number. (What a body finds has that of the graph around it.)
    const bool may_be = dim.builder() == 0 || graph_.symbols_of == 0 || dim.builder() == graph_.symbols_of;
    if (may_be && (dim.is_symbol() ? exists(dim.as_symbol()) : std::ranges::all_of(dim.symbols(), exists))) continue;
    throw error(ErrorCode::unknown_name, str(what, ": a size that is not of this builder"));
  }
}

void GraphDraft::bind_symbols(ValueId v) {
  const std::vector<Dim>& dims = graph_.values[v].type.dims;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (!dims[axis].is_symbol()) continue;
    Symbol& symbol = graph_.symbols[dims[axis].as_symbol()];
    if (symbol.source.valid() || graph_.is_given(dims[axis].as_symbol())) continue;
    symbol.source = ValueId(v.index);
    symbol.axis = axis;
  }
}

void GraphDraft::bind_to_value(const Dim& symbol, ValueId v, const char* op) {
  INLAY_CHECK(symbol.is_symbol(), op, " binds a symbol, not ", symbol.to_text(graph_.symbol_names()));
  check_unused_by_params(*this, symbol);
  Symbol& bound = graph_.symbols[symbol.as_symbol()];
  if (graph_.is_given(symbol.as_symbol())) {
    throw error(ErrorCode::duplicate_name, str(op, ": ", bound.name, " is a size of the graph around the body"));
  }
  if (bound.source.valid()) {
    throw error(ErrorCode::duplicate_name, str(op, ": ", bound.name, " is bound already"))
        .note("by", graph_.describe(bound.source));
  }
  bound.source = ValueId(v.index);
  bound.axis = Symbol::kOfValue;
}

ValueId GraphDraft::param(std::string name, TensorType type) {
  require_type(*this, type, [&] { return str("parameter ", name); });
  for (const Dim& dim : type.dims) {
    if (dim.is_constant() && dim.constant() < 0) {
      throw error(ErrorCode::shape_mismatch, str("parameter ", name, ": a size of ", dim.constant()));
    }
  }
  require_own(type.dims, str("parameter ", name));
  if (graph_.is_body && !std::ranges::all_of(type.dims, [&](const Dim& dim) { return graph_.is_given(dim); })) {
    throw error(ErrorCode::unsupported, str("parameter ", name, ": a size that the body finds itself"))
        .help("what comes into a body has sizes of the graph around it");
  }
  const ValueId v = ValueId(graph_.values.push_back({std::move(type), std::move(name), NodeId()}).index, number_);
  graph_.params.push_back({.value = ValueId(v.index)});
  bind_symbols(v);
  return v;
}

ValueId GraphDraft::bound(std::string name, TensorType type, Facts facts) {
  if (facts != Facts() && !is_integer(type.dtype)) {
    throw error(ErrorCode::wrong_dtype, str("%", name, ": facts are of integers, not of ", dtype_name(type.dtype)));
  }
  if (facts.has_range && facts.min > facts.max) {
    throw error(ErrorCode::false_fact, str("%", name, ": min ", facts.min, " is greater than max ", facts.max));
  }
  const ValueId v = param(std::move(name), std::move(type));
  graph_.params.back().bound = true;
  graph_.params.back().facts = facts;
  return v;
}

ValueId GraphDraft::donated(std::string name, TensorType type) {
  if (type.dtype == DType::opaque) {
    throw error(ErrorCode::wrong_dtype, str("%", name, ": an opaque value has no bytes to donate"));
  }
  const ValueId v = param(std::move(name), std::move(type));
  graph_.params.back().donated = true;
  return v;
}

ValueId GraphDraft::step(std::string name, Dim count) {
  require_own({&count, 1}, "step");
  const ValueId v = param(std::move(name), {DType::i64, {}});
  graph_.params.back().below = std::move(count);
  return v;
}

namespace {

void check_known_by_params(const GraphDraft& draft, ValueId param, std::span<const Dim> dims) {
  for (const Dim& dim : dims) {
    for (SymbolId s : dim.symbols()) {
      const Symbol& symbol = draft.graph().symbols[s];
      if (symbol.source.valid()) continue;
      throw draft
          .error(ErrorCode::unknown_name, str(draft.graph().value_text(param), " has the size ", symbol.name,
                                              ", which no parameter is given by"))
          .help(str("another parameter has it as a dim, as in f64[", symbol.name, "]"));
    }
  }
}

void check_assumed_equal(const GraphDraft& draft, ValueId param, std::span<const Dim> dims,
                         std::span<const Dim> given) {
  const auto count = [](std::size_t rank) { return str(rank, rank == 1 ? " dim" : " dims"); };
  if (dims.size() != given.size()) {
    throw draft.error(ErrorCode::wrong_rank, str(draft.graph().value_text(param), " has ", count(dims.size()),
                                                 ", and is given by ", count(given.size())));
  }
  const IdMap<SymbolId, Dim> first = first_of_equal_sizes(draft.graph().symbols.size(), draft.graph().assumptions);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].substitute(first) == given[axis].substitute(first)) continue;
    const auto text = [&](const Dim& dim) { return dim.to_text(draft.graph().symbol_names()); };
    Error wrong = draft.error(ErrorCode::shape_mismatch,
                              str(draft.graph().value_text(param), ": dim ", axis, " is ", text(dims[axis]),
                                  " and is given by ", text(given[axis]), ", which is not assumed to be equal"));
    if (!dims[axis].is_symbol() || !given[axis].is_symbol()) throw wrong;
    throw std::move(wrong).help(str("behind the parameters: assume ", text(given[axis]), " == ", text(dims[axis])));
  }
}

}  // namespace

void GraphDraft::equate_dims(ValueId param, std::vector<Dim> dims) {
  (void)own(param);
  require_own(dims, "dims of a parameter");
  const auto at = std::ranges::find(graph_.params, param, &Param::value);
  if (at == graph_.params.end()) throw error(ErrorCode::unknown_name, "only a parameter has dims that it is given by");
  const std::vector<Dim> given = graph_.type(param).dims;
  check_known_by_params(*this, param, dims);
  check_assumed_equal(*this, param, dims, given);
  graph_.values[param].type.dims = std::move(dims);
  at->given = given;
}

void GraphDraft::name(ValueId v, std::string name) { graph_.values[own(v)].name = std::move(name); }

void GraphDraft::output(ValueId v, std::string name) { graph_.outputs.push_back({own(v), std::move(name)}); }

const TensorType& GraphDraft::type(ValueId v) const { return graph_.type(own(v)); }

Error GraphDraft::error(ErrorCode code, std::string message) const {
  return Error(code, location_, std::move(message));
}

/// Of the node that is made next; throws where it fails whatever the sizes are.
void GraphDraft::check(DimCheck check, std::initializer_list<Operand> operands) {
  for (const Operand& operand : operands) {
    check.notes.emplace_back(std::string(operand.role), graph_.describe(own(operand.value)));
  }
  if ((check.left - check.right).is_constant()) {
    const auto names = graph_.symbol_names();
    const std::string sizes[] = {check.left.to_text(names), check.right.to_text(names)};
    throw Error(Diagnostic{check.code, check.location, with_numbers(check.message, sizes), std::move(check.notes), {}});
  }
  check.node = NodeId(graph_.nodes.size());
  graph_.checks.push_back(std::move(check));
}

/// With ids that are indices alone.
NodeId GraphDraft::new_node(Node node, std::span<TensorType> types) {
  for (ValueId& v : node.operands) v = own(v);
  for (IndexItem& item : node.index) {
    if (item.kind == IndexItem::Kind::array) item.array = own(item.array);
  }
  node.location = location_;
  for (const TensorType& type : types) {
    require_type(*this, type,
                 [&] { return str(op_name(node.op), node.op == Op::host_call ? str(" ", node.text) : ""); });
  }
  const NodeId id(graph_.nodes.size());
  for (TensorType& type : types) node.results.push_back(graph_.values.push_back({std::move(type), "", id}));
  return graph_.nodes.push_back(std::move(node));
}

ValueId GraphDraft::add(Node node, TensorType type) {
  const NodeId id = new_node(std::move(node), {&type, 1});
  return ValueId(graph_.nodes[id].results[0].index, number_);
}

std::vector<ValueId> GraphDraft::add(Node node, std::vector<TensorType> types) {
  const NodeId id = new_node(std::move(node), types);
  std::vector<ValueId> results;
  results.reserve(graph_.nodes[id].results.size());
  for (ValueId v : graph_.nodes[id].results) results.emplace_back(v.index, number_);
  return results;
}

Graph GraphDraft::finish() && {
  for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
    if (graph_.symbols[s].source.valid() || graph_.is_given(s)) continue;
    throw undefined_size({}, graph_.symbols[s].name);
  }
  for (DimCheck& check : graph_.checks) {
    if (check.node == NodeId(graph_.nodes.size())) check.node = NodeId();
  }
  number_ = next_number();  // what it gave out is of the graph that leaves
  return std::exchange(graph_, Graph{.symbols_of = number_});
}

}  // namespace inlay
