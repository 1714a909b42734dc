#include "ir/builder.h"

#include <algorithm>
#include <array>

#include "ir/build.h"
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

}  // namespace

std::vector<std::size_t> axes_to_check(const Graph& graph, std::span<const Dim> dims) {
  const IdMap<SymbolId, int64_t> minimum(graph.symbols.size(), 0);
  std::vector<std::size_t> out;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].lower_bound(minimum) >= 0) continue;
    bool is_size = false;
    for (std::size_t v = graph.values.size(); v-- > 0 && !is_size;) {  // mostly a young one's
      is_size =
          std::ranges::find(graph.values[ValueId(v)].type.dims, dims[axis]) != graph.values[ValueId(v)].type.dims.end();
    }
    if (!is_size) out.push_back(axis);
  }
  return out;
}

void refuse_negative(const GraphDraft& draft, std::span<const Dim> dims,
                     const std::function<std::string(std::size_t axis)>& what) {
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!dims[axis].is_constant() || dims[axis].constant() >= 0) continue;
    throw draft.error(ErrorCode::negative_size, str(what(axis), " is ", dims[axis].constant()));
  }
}

std::vector<Dim> broadcast_dims(GraphDraft& draft, std::span<const ValueId> operands, const std::string& what) {
  int rank = 0;
  for (ValueId v : operands) rank = std::max(rank, draft.type(v).rank());
  std::vector<Dim> dims(rank, Dim(1));
  std::vector<ValueId> widest(rank);
  for (ValueId v : operands) {
    const std::vector<Dim>& from = draft.type(v).dims;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t axis = rank - from.size() + i;
      if (from[i].is(1)) continue;
      if (!widest[axis].valid()) {
        dims[axis] = from[i];
        widest[axis] = v;
        continue;
      }
      if (dims[axis] == from[i]) continue;
      draft.require(dims[axis], from[i],
                    [&] { return str(what, ": dim ", axis, " is {0} on the left and {1} on the right"); },
                    {{"left", widest[axis]}, {"right", v}});
      // The one that is a number says more.
      if (from[i].is_constant()) dims[axis] = from[i];
    }
  }
  return dims;
}

GraphBuilder GraphBuilder::rewriting(const Graph& source) {
  GraphBuilder out(source.name);
  out.share_sizes(source, source.is_body ? std::optional(source.num_given) : std::nullopt);
  return out;
}

ValueId GraphBuilder::literal(Literal value) {
  Node node{.op = Op::literal};
  node.elements = {value};
  return add(std::move(node), {value.dtype, {}});
}

ValueId GraphBuilder::literal(std::vector<Literal> elements, std::vector<Dim> dims) {
  require_own(dims, "literal");
  refuse_negative(*this, dims, [](std::size_t axis) { return str("literal: dim ", axis); });
  const Dim count = product(dims);
  if (!count.is(static_cast<int64_t>(elements.size()))) {
    throw error(ErrorCode::shape_mismatch,
                str("literal: ", elements.size(), " elements do not fill ", count.to_text(graph().symbol_names())));
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
        .note("condition", graph().describe(operands[0]));
  }
  const DType dtype = type(operands[first]).dtype;
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (type(operands[i]).dtype == dtype) continue;
    throw error(ErrorCode::wrong_dtype,
                str(row.name, ": operands of ", dtype_name(dtype), " and ", dtype_name(type(operands[i]).dtype)))
        .note(operand_role(first, operands.size()), graph().describe(operands[first]))
        .note(operand_role(i, operands.size()), graph().describe(operands[i]))
        .help("cast one of them");
  }
  if (!accepts(op, dtype)) {
    const bool is_quotient = op == ScalarOp::div_ && accepts(ScalarOp::floor_div_, dtype);
    const bool takes_floats = !is_float(dtype) && !is_complex(dtype) && accepts(op, DType::f64);
    const std::string cast = takes_floats ? str("cast the operand", row.arity == 1 ? "" : "s", " to f64") : "";
    throw error(ErrorCode::wrong_dtype, str(row.name, ": does not take ", dtype_name(dtype)))
        .note(operand_role(first, operands.size()), graph().describe(operands[first]))
        .help(is_quotient ? cast + ", or take floor_div" : cast);
  }
  TensorType result{result_dtype(op, dtype), broadcast_dims(*this, operands, std::string(row.name))};
  Node node{.op = Op::scalar, .scalar = op};
  node.operands = std::move(operands);
  return add(std::move(node), std::move(result));
}

ValueId GraphBuilder::cast(ValueId x, DType dtype) {
  if (dtype == type(x).dtype) return x;
  if (dtype == DType::opaque || type(x).dtype == DType::opaque) {
    throw error(ErrorCode::wrong_dtype, "cast: an opaque value has no elements").note("operand", graph().describe(x));
  }
  if (is_complex(type(x).dtype) && !is_complex(dtype)) {
    throw error(ErrorCode::wrong_dtype, str("cast: from ", dtype_name(type(x).dtype), " to ", dtype_name(dtype),
                                            " would drop the imaginary part"))
        .note("operand", graph().describe(x))
        .help("say which number is meant: real, imag, abs or angle");
  }
  Node node{.op = Op::cast};
  node.operands = {x};
  return add(std::move(node), {dtype, type(x).dims});
}

ValueId GraphBuilder::concat(std::vector<ValueId> parts, int axis) {
  if (parts.empty()) throw error(ErrorCode::wrong_arity, "concat: of no parts");
  TensorType result = type(parts[0]);
  if (axis < 0 || axis >= result.rank()) {
    throw error(ErrorCode::axis_out_of_range, str("concat: axis ", axis, " of a rank ", result.rank(), " value"))
        .note("operand", graph().describe(parts[0]));
  }
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const TensorType part = type(parts[p]);
    const std::string role = str("part ", p);
    if (part.dtype != result.dtype || part.rank() != result.rank()) {
      const bool dtype = part.dtype != result.dtype;
      throw error(dtype ? ErrorCode::wrong_dtype : ErrorCode::wrong_rank,
                  dtype ? str("concat: parts of ", dtype_name(result.dtype), " and ", dtype_name(part.dtype))
                        : str("concat: parts of rank ", result.rank(), " and ", part.rank()))
          .note("part 0", graph().describe(parts[0]))
          .note(role, graph().describe(parts[p]));
    }
    for (int d = 0; d < result.rank(); ++d) {
      if (d == axis) continue;
      require(result.dims[d], part.dims[d],
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
  if (!axes_to_check(graph(), {&length, 1}).empty()) {
    const auto message = [] { return std::string("iota: the length is {1}"); };
    require(0, length, message, {}, ErrorCode::negative_size, DimCheck::Relation::at_most);
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
  for (std::size_t r = 0; r < results.size(); ++r) {
    const std::vector<Dim>& dims = results[r].dims;
    require_own(dims, str("host_call ", name));
    refuse_negative(*this, dims,
                    [&](std::size_t axis) { return str("host_call ", name, ": dim ", axis, " of result ", r); });
    for (const Dim& dim : dims) check_unused_by_params(*this, dim);
  }
  Node node{.op = Op::host_call};
  node.operands = std::move(operands);
  node.text = std::move(name);
  node.host_function = function;
  std::vector<ValueId> values = add(std::move(node), std::move(results));
  for (ValueId v : values) bind_symbols(v);
  return values;
}

ValueId GraphBuilder::assert_that(ValueId x, ValueId condition, std::string message, ErrorCode code,
                                  std::vector<ValueId> numbers) {
  const TensorType& type = this->type(condition);
  if (type.dtype != DType::boolean || type.rank() != 0) {
    throw error(type.rank() ? ErrorCode::wrong_rank : ErrorCode::wrong_dtype,
                str("assert: the condition is ", graph().type_text(type), ", not a 0-d bool"))
        .note("condition", graph().describe(condition));
  }
  for (ValueId number : numbers) {
    if (this->type(number) == TensorType{DType::i64, {}}) continue;
    throw error(ErrorCode::wrong_dtype,
                str("assert: a number of the message is ", graph().type_text(graph().type(number)), ", not a 0-d i64"))
        .note("number", graph().describe(number));
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

}  // namespace inlay
