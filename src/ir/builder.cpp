#include "ir/builder.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "ir/dims_to_check.h"
#include "ir/mistakes.h"
#include "ir/traits.h"
#include "support/counted.h"

namespace inlay {
namespace {

constexpr std::size_t kMaxLiteralElements = 16;
constexpr std::size_t kMaxNumbers = 4;  // of an assert: a failed call brings so many
constexpr std::array<const char*, 3> kOperandNames = {"left", "right", "third"};

std::string operand_role(std::size_t position, std::size_t count) {
  if (count == 1) return "operand";
  return count == 2 ? kOperandNames[position] : str("operand ", position);
}

/// Builders are numbered from 1, in no order that anything depends on.
uint32_t next_number() {
  static std::atomic<uint32_t> last = 0;
  uint32_t number = 0;
  while (number == 0) number = ++last;
  return number;
}

}  // namespace

std::vector<std::size_t> axes_to_check(const Graph& graph, std::span<const Dim> dims) {
  const IdMap<SymbolId, int64_t> least(graph.symbols.size(), 0);
  std::vector<std::size_t> out;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].lower_bound(least) >= 0) continue;
    bool is_size = false;
    for (std::size_t v = graph.values.size(); v-- > 0 && !is_size;) {  // mostly a young one's
      is_size =
          std::ranges::find(graph.values[ValueId(v)].type.dims, dims[axis]) != graph.values[ValueId(v)].type.dims.end();
    }
    if (!is_size) out.push_back(axis);
  }
  return out;
}

GraphBuilder::GraphBuilder(std::string name) : number_(next_number()) {
  graph_.name = std::move(name);
  graph_.symbols_of = number_;
}

GraphBuilder GraphBuilder::rewriting(const Graph& source) {
  GraphBuilder out(source.name);
  out.graph_.symbols_of = source.symbols_of;
  if (!source.is_body) return out;
  out.become_body(source, source.num_given);
  return out;
}

void GraphBuilder::reserve(const Graph& like) {
  graph_.nodes.reserve(like.nodes.size());
  graph_.values.reserve(like.values.size());
}

Dim GraphBuilder::symbol(std::string name) {
  return Dim::symbol(graph_.symbols.push_back(Symbol{std::move(name), {}, 0}), graph_.symbols_of);
}

void GraphBuilder::assume_equal(const Dim& left, const Dim& right) {
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

void GraphBuilder::require_own(ValueId v) const {
  if ((v.builder == 0 || v.builder == number_) && v.index < graph_.values.size()) return;
  throw error(ErrorCode::unknown_name, "a value that is not of this builder");
}

void GraphBuilder::require_own(std::span<const Dim> dims, std::string_view what) const {
  const auto exists = [&](SymbolId symbol) { return symbol.index < graph_.symbols.size(); };
  for (const Dim& dim : dims) {
    if (dim.is_constant()) continue;
    // Sizes of a graph that was not built have no number. (What a body finds has that of the graph around it.)
    const bool may_be = dim.builder() == 0 || graph_.symbols_of == 0 || dim.builder() == graph_.symbols_of;
    if (may_be && (dim.is_symbol() ? exists(dim.as_symbol()) : std::ranges::all_of(dim.symbols(), exists))) continue;
    throw error(ErrorCode::unknown_name, str(what, ": a size that is not of this builder"));
  }
}

void GraphBuilder::require_own(std::span<const IndexItem> index, std::string_view what) const {
  for (const IndexItem& item : index) {
    for (const Dim* dim : {&item.start, &item.stop, &item.position}) require_own({dim, 1}, what);
    if (item.kind == IndexItem::Kind::array) require_own(item.array);
  }
}

ValueId GraphBuilder::new_value(TensorType type, std::string name, NodeId node) {
  return ValueId(graph_.values.push_back(ValueInfo{std::move(type), std::move(name), node}).index, number_);
}

/// With ids that are indices alone.
NodeId GraphBuilder::new_node(Node node) {
  const auto make_plain = [&](ValueId& v) {
    require_own(v);
    v.builder = 0;
  };
  for (ValueId& v : node.operands) make_plain(v);
  for (IndexItem& item : node.index) {
    if (item.kind == IndexItem::Kind::array) make_plain(item.array);
  }
  node.location = location_;
  return graph_.nodes.push_back(std::move(node));
}

void GraphBuilder::bind_symbols(ValueId v) {
  const std::vector<Dim>& dims = graph_.values[v].type.dims;
  for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
    if (!dims[axis].is_symbol()) continue;
    Symbol& symbol = graph_.symbols[dims[axis].as_symbol()];
    if (symbol.source.valid() || graph_.is_given(dims[axis].as_symbol())) continue;
    symbol.source = ValueId(v.index);
    symbol.axis = axis;
  }
}

/// What another value is to give a number: the sizes of parameters are known before.
void GraphBuilder::check_unused_by_params(const Dim& size) const {
  if (graph_.is_body || !size.is_symbol() || graph_.symbols[size.as_symbol()].source.valid()) return;
  for (const Param& param : graph_.params) {
    for (const Dim& dim : given_dims(graph_, param)) {
      const std::vector<SymbolId> used = dim.symbols();
      if (std::ranges::find(used, size.as_symbol()) == used.end()) continue;
      const std::string& name = graph_.symbols[size.as_symbol()].name;
      throw error(ErrorCode::unknown_name, str(name, " is known only after the parameters, and one has it in a size"))
          .note("parameter", graph_.describe(param.value))
          .help(str("a parameter says how large it is by a dim of its own, as in f64[", name, "]"));
    }
  }
}

ValueId GraphBuilder::param(std::string name, TensorType type) {
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
  const ValueId v = new_value(std::move(type), std::move(name), NodeId());
  graph_.params.push_back({.value = ValueId(v.index)});
  bind_symbols(v);
  return v;
}

ValueId GraphBuilder::bound(std::string name, TensorType type, Facts facts) {
  if (facts != Facts() && !is_integer(type.dtype)) {
    throw error(ErrorCode::wrong_dtype, str("%", name, ": facts are of integers, not of ", dtype_name(type.dtype)));
  }
  if (facts.has_range && facts.least > facts.greatest) {
    throw error(ErrorCode::false_fact, str("%", name, ": min ", facts.least, " is greater than max ", facts.greatest));
  }
  const ValueId v = param(std::move(name), std::move(type));
  graph_.params.back().bound = true;
  graph_.params.back().facts = facts;
  return v;
}

ValueId GraphBuilder::donated(std::string name, TensorType type) {
  if (type.dtype == DType::opaque) {
    throw error(ErrorCode::wrong_dtype, str("%", name, ": an opaque value has no bytes to donate"));
  }
  const ValueId v = param(std::move(name), std::move(type));
  graph_.params.back().donated = true;
  return v;
}

void GraphBuilder::check_known_by_params(ValueId param, std::span<const Dim> dims) const {
  for (const Dim& dim : dims) {
    for (SymbolId s : dim.symbols()) {
      const Symbol& symbol = graph_.symbols[s];
      if (symbol.source.valid()) continue;
      throw error(ErrorCode::unknown_name,
                  str(graph_.value_text(param), " has the size ", symbol.name, ", which no parameter is given by"))
          .help(str("another parameter has it as a dim, as in f64[", symbol.name, "]"));
    }
  }
}

void GraphBuilder::check_assumed_equal(ValueId param, std::span<const Dim> dims, std::span<const Dim> given) const {
  const auto count = [](std::size_t rank) { return str(rank, rank == 1 ? " dim" : " dims"); };
  if (dims.size() != given.size()) {
    throw error(ErrorCode::wrong_rank,
                str(graph_.value_text(param), " has ", count(dims.size()), ", and is given by ", count(given.size())));
  }
  const IdMap<SymbolId, Dim> first = first_of_equal_sizes(graph_.symbols.size(), graph_.assumptions);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].substitute(first) == given[axis].substitute(first)) continue;
    const auto text = [&](const Dim& dim) { return dim.to_text(graph_.symbol_names()); };
    Error wrong = error(ErrorCode::shape_mismatch,
                        str(graph_.value_text(param), ": dim ", axis, " is ", text(dims[axis]), " and is given by ",
                            text(given[axis]), ", which is not assumed to be equal"));
    if (!dims[axis].is_symbol() || !given[axis].is_symbol()) throw wrong;
    throw std::move(wrong).help(str("behind the parameters: assume ", text(given[axis]), " == ", text(dims[axis])));
  }
}

void GraphBuilder::equate_dims(ValueId param, std::vector<Dim> dims) {
  require_own(param);
  require_own(dims, "dims of a parameter");
  const auto at = std::ranges::find(graph_.params, param, &Param::value);
  if (at == graph_.params.end()) throw error(ErrorCode::unknown_name, "only a parameter has dims that it is given by");
  const std::vector<Dim> given = graph_.type(param).dims;
  check_known_by_params(param, dims);
  check_assumed_equal(param, dims, given);
  graph_.values[param].type.dims = std::move(dims);
  at->given = given;
}

void GraphBuilder::name(ValueId v, std::string name) {
  require_own(v);
  graph_.values[v].name = std::move(name);
}

ValueId GraphBuilder::add(Node node, TensorType type) {
  const NodeId id = new_node(std::move(node));
  const ValueId v = new_value(std::move(type), "", id);
  graph_.nodes[id].results.emplace_back(v.index);
  return v;
}

const TensorType& GraphBuilder::type(ValueId v) const {
  require_own(v);
  return graph_.type(v);
}

Error GraphBuilder::error(ErrorCode code, std::string message) const {
  return Error(code, location_, std::move(message));
}

bool GraphBuilder::holds(const Dim& left, const Dim& right, DimCheck::Relation relation) const {
  const bool equal = relation == DimCheck::Relation::equal;
  const Dim difference = left - right;
  if (difference.is_constant()) return equal ? difference.is(0) : difference.constant() <= 0;
  // Assumptions are equations that hold at the entry: what differs by exactly one of them is equal.
  for (const auto& [a, b] : graph_.assumptions) {
    if (difference == a - b || difference == b - a) return true;
  }
  return !equal && (right - left).lower_bound(IdMap<SymbolId, int64_t>(graph_.symbols.size(), 0)) >= 0;
}

/// Of the node that is made next; throws where it fails whatever the sizes are.
void GraphBuilder::check_at_run_time(DimCheck check) {
  if ((check.left - check.right).is_constant()) {
    const auto names = graph_.symbol_names();
    const std::string sizes[] = {check.left.to_text(names), check.right.to_text(names)};
    throw Error(Diagnostic{check.code, check.location, with_numbers(check.message, sizes), std::move(check.notes), {}});
  }
  check.node = NodeId(graph_.nodes.size());
  graph_.checks.push_back(std::move(check));
}

std::vector<std::pair<std::string, std::string>> GraphBuilder::notes_of(std::initializer_list<Operand> operands) const {
  std::vector<std::pair<std::string, std::string>> notes;
  for (const Operand& operand : operands) {
    require_own(operand.value);
    notes.emplace_back(std::string(operand.role), graph_.describe(operand.value));
  }
  return notes;
}

ValueId GraphBuilder::literal(Literal value) {
  Node node{.op = Op::literal};
  node.elements = {value};
  return add(std::move(node), {value.dtype, {}});
}

ValueId GraphBuilder::literal(std::vector<Literal> elements, std::vector<Dim> dims) {
  require_own(dims, "literal");
  const Dim count = product(dims);
  if (!count.is(static_cast<int64_t>(elements.size()))) {
    throw error(ErrorCode::shape_mismatch,
                str("literal: ", elements.size(), " elements do not fill ", count.to_text(graph_.symbol_names())));
  }
  if (elements.empty() || elements.size() > kMaxLiteralElements) {
    throw error(ErrorCode::unsupported, str("literal: ", elements.size(), " elements; 1 to ", kMaxLiteralElements,
                                            " can be written into a program"))
        .help("pass a larger array as a bound parameter");
  }
  const DType dtype = elements[0].dtype;
  Node node{.op = Op::literal};
  node.elements = std::move(elements);
  return add(std::move(node), {dtype, std::move(dims)});
}

std::vector<Dim> GraphBuilder::broadcast_dims(std::span<const ValueId> operands, const std::string& what) {
  int rank = 0;
  for (ValueId v : operands) rank = std::max(rank, type(v).rank());
  std::vector<Dim> dims(rank, Dim(1));
  std::vector<ValueId> widest(rank);
  for (ValueId v : operands) {
    const std::vector<Dim>& from = type(v).dims;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t axis = rank - from.size() + i;
      if (from[i].is(1)) continue;
      if (!widest[axis].valid()) {
        dims[axis] = from[i];
        widest[axis] = v;
        continue;
      }
      if (dims[axis] == from[i]) continue;
      require_same(dims[axis], from[i],
                   [&] { return str(what, ": dim ", axis, " is {0} on the left and {1} on the right"); },
                   {{"left", widest[axis]}, {"right", v}});
      // The one that is a number says more.
      if (from[i].is_constant()) dims[axis] = from[i];
    }
  }
  return dims;
}

ValueId GraphBuilder::scalar(ScalarOp op, std::vector<ValueId> operands) {
  const ScalarOpFacts& row = facts(op);
  if (static_cast<int>(operands.size()) != row.arity) {
    throw error(
        ErrorCode::wrong_arity,
        str(row.name, ": takes ", counted(static_cast<std::size_t>(row.arity), "operand"), ", not ", operands.size()));
  }
  const bool is_select = op == ScalarOp::select_;
  const std::size_t first = is_select ? 1 : 0;
  if (is_select && type(operands[0]).dtype != DType::boolean) {
    throw error(ErrorCode::wrong_dtype,
                str("select: the condition is ", dtype_name(type(operands[0]).dtype), ", not bool"))
        .note("condition", graph_.describe(operands[0]));
  }
  const DType dtype = type(operands[first]).dtype;
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (type(operands[i]).dtype == dtype) continue;
    throw error(ErrorCode::wrong_dtype,
                str(row.name, ": operands of ", dtype_name(dtype), " and ", dtype_name(type(operands[i]).dtype)))
        .note(operand_role(first, operands.size()), graph_.describe(operands[first]))
        .note(operand_role(i, operands.size()), graph_.describe(operands[i]))
        .help("cast one of them");
  }
  if (!accepts(op, dtype)) {
    const bool is_quotient = op == ScalarOp::div_ && accepts(ScalarOp::floor_div_, dtype);
    const bool takes_floats = !is_float(dtype) && !is_complex(dtype) && accepts(op, DType::f64);
    const std::string cast = takes_floats ? str("cast the operand", row.arity == 1 ? "" : "s", " to f64") : "";
    throw error(ErrorCode::wrong_dtype, str(row.name, ": does not take ", dtype_name(dtype)))
        .note(operand_role(first, operands.size()), graph_.describe(operands[first]))
        .help(is_quotient ? cast + ", or take floor_div" : cast);
  }
  TensorType result{result_dtype(op, dtype), broadcast_dims(operands, std::string(row.name))};
  Node node{.op = Op::scalar, .scalar = op};
  node.operands = std::move(operands);
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::cast(ValueId x, DType dtype) {
  if (dtype == type(x).dtype) return x;
  if (dtype == DType::opaque || type(x).dtype == DType::opaque) {
    throw error(ErrorCode::wrong_dtype, "cast: an opaque value has no elements").note("operand", graph_.describe(x));
  }
  if (is_complex(type(x).dtype) && !is_complex(dtype)) {
    throw error(ErrorCode::wrong_dtype, str("cast: from ", dtype_name(type(x).dtype), " to ", dtype_name(dtype),
                                            " would drop the imaginary part"))
        .note("operand", graph_.describe(x))
        .help("say which number is meant: real, imag, abs or angle");
  }
  Node node{.op = Op::cast};
  node.operands = {x};
  return add(std::move(node), {dtype, type(x).dims});
}

std::vector<ValueId> GraphBuilder::promoted(std::vector<ValueId> operands) {
  DType common = DType::boolean;
  for (ValueId v : operands) common = promote(common, type(v).dtype);
  for (ValueId& v : operands) v = cast(v, common);
  return operands;
}

ValueId GraphBuilder::concat(std::vector<ValueId> parts, int axis) {
  if (parts.empty()) throw error(ErrorCode::wrong_arity, "concat: of no parts");
  TensorType result = type(parts[0]);
  if (axis < 0 || axis >= result.rank()) {
    throw error(ErrorCode::axis_out_of_range, str("concat: axis ", axis, " of a rank ", result.rank(), " value"))
        .note("operand", graph_.describe(parts[0]));
  }
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const TensorType part = type(parts[p]);
    const std::string role = str("part ", p);
    if (part.dtype != result.dtype || part.rank() != result.rank()) {
      const bool dtype = part.dtype != result.dtype;
      throw error(dtype ? ErrorCode::wrong_dtype : ErrorCode::wrong_rank,
                  dtype ? str("concat: parts of ", dtype_name(result.dtype), " and ", dtype_name(part.dtype))
                        : str("concat: parts of rank ", result.rank(), " and ", part.rank()))
          .note("part 0", graph_.describe(parts[0]))
          .note(role, graph_.describe(parts[p]));
    }
    for (int d = 0; d < result.rank(); ++d) {
      if (d == axis) continue;
      require_same(result.dims[d], part.dims[d],
                   [&] { return str("concat: dim ", d, " is {0} in part 0 and {1} in ", role); },
                   {{"part 0", parts[0]}, {role, parts[p]}});
    }
    result.dims[axis] = result.dims[axis] + part.dims[axis];
  }
  if (parts.size() == 1) return parts[0];
  Node node{.op = Op::concat};
  node.operands = std::move(parts);
  node.axes = {axis};
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::iota(Dim length, DType dtype) {
  require_own({&length, 1}, "iota");
  if (!is_integer(dtype) && !is_float(dtype)) {
    throw error(ErrorCode::wrong_dtype, str("iota: does not make ", dtype_name(dtype)));
  }
  if (!axes_to_check(graph_, {&length, 1}).empty()) {
    const auto message = [] { return std::string("iota: the length is {1}"); };
    require_same(0, length, message, {}, ErrorCode::negative_size, DimCheck::Relation::at_most);
  }
  return add(Node{.op = Op::iota}, {dtype, {std::move(length)}});
}

ValueId GraphBuilder::size(Dim size) {
  require_own({&size, 1}, "size");
  Node node{.op = Op::size};
  node.size = std::move(size);
  return add(std::move(node), {DType::i64, {}});
}

std::vector<ValueId> GraphBuilder::host_call(std::string name, int function, std::vector<ValueId> operands,
                                             std::vector<TensorType> results) {
  for (const TensorType& type : results) {
    require_own(type.dims, str("host_call ", name));
    for (const Dim& dim : type.dims) check_unused_by_params(dim);
  }
  Node node{.op = Op::host_call};
  node.operands = std::move(operands);
  node.text = std::move(name);
  node.host_function = function;
  const NodeId id = new_node(std::move(node));
  std::vector<ValueId> values;
  for (TensorType& type : results) {
    const ValueId v = new_value(std::move(type), "", id);
    graph_.nodes[id].results.emplace_back(v.index);
    bind_symbols(v);
    values.push_back(v);
  }
  return values;
}

ValueId GraphBuilder::assert_that(ValueId x, ValueId condition, std::string message, ErrorCode code,
                                  std::vector<ValueId> numbers) {
  const TensorType& type = this->type(condition);
  if (type.dtype != DType::boolean || type.rank() != 0) {
    throw error(type.rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                str("assert: the condition is ", graph_.type_text(type), ", not a 0-d bool"))
        .note("condition", graph_.describe(condition));
  }
  for (ValueId number : numbers) {
    if (this->type(number) == TensorType{DType::i64, {}}) continue;
    throw error(ErrorCode::wrong_dtype,
                str("assert: a number of the message is ", graph_.type_text(graph_.type(number)), ", not a 0-d i64"))
        .note("number", graph_.describe(number));
  }
  if (!numbers.empty() && (numbers.size() > kMaxNumbers || code == ErrorCode::assert_failed)) {
    throw error(ErrorCode::unsupported,
                str("assert: up to ", kMaxNumbers, " numbers, in the message of another code than assert-failed"));
  }
  Node node{.op = Op::assert_};
  node.operands = {x, condition};
  node.operands.insert(node.operands.end(), numbers.begin(), numbers.end());
  node.text = std::move(message);
  node.error = code;
  return add(std::move(node), this->type(x));
}

void GraphBuilder::output(ValueId v, std::string name) {
  require_own(v);
  graph_.outputs.push_back({ValueId(v.index), std::move(name)});
}

Graph GraphBuilder::finish() && {
  for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
    if (graph_.symbols[s].source.valid() || graph_.is_given(s)) continue;
    throw undefined_size({}, graph_.symbols[s].name);
  }
  number_ = next_number();  // what it gave out is of the graph that leaves
  return std::exchange(graph_, Graph{.symbols_of = number_});
}

}  // namespace inlay
