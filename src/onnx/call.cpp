#include "onnx/call.h"

#include <array>

#include "inlay/linalg.h"
#include "onnx/importer.h"
#include "onnx/ops.h"
#include "support/counted.h"

namespace inlay::onnx {
ValueId Call::in(std::size_t i) {
  if (!has(i)) throw error(ErrorCode::wrong_arity, str("input ", i, " is missing"));
  return importer.value(node.inputs[i], scope);
}

std::optional<ValueId> Call::maybe(std::size_t i) { return has(i) ? std::optional(in(i)) : std::nullopt; }

std::vector<ValueId> Call::inputs() {
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) out.push_back(in(i));
  return out;
}

std::vector<Dim> Call::dims(std::size_t i, int rank) {
  const ValueId v = in(i);
  if (b.type(v).rank() != rank) {
    throw error(ErrorCode::wrong_rank,
                str("input ", i, " is to have ", counted(static_cast<std::size_t>(rank), "axis", "axes"), ", and is ",
                    b.graph().describe(v)));
  }
  return b.type(v).dims;
}

void Call::out(std::size_t i, ValueId v) {
  if (!wants(i)) return;
  const inlay::Graph& graph = b.graph();
  if (graph.values[v].name.empty() && graph.values[v].node.valid()) b.name(v, node.outputs[i]);
  scope.set(node.outputs[i], v);
}

std::vector<std::optional<Dim>> Call::known_integers(std::size_t i) {
  const ValueId v = in(i);
  const TensorType type = b.type(v);
  if (!is_integer(type.dtype) || type.rank() > 1) {
    throw wrong(str("input ", i, " is to be a vector of integers, and is ", b.graph().describe(v)));
  }
  const Dim count = product(type.dims);
  if (!count.is_constant()) throw needs(v, str("how many numbers input ", i, " has"));
  constexpr int64_t kMost = 4096;  // beyond any rank, so that a file cannot ask for gigabytes
  if (count.constant() > kMost) {
    throw unsupported(
        str("input ", i, " has ", count.constant(), " numbers where sizes are expected, more than ", kMost));
  }
  std::vector<std::optional<Dim>> out;
  for (int64_t place = 0; place < count.constant(); ++place) out.push_back(scope.frame.known_size(v, place));
  return out;
}

std::vector<Dim> Call::sizes(std::size_t i) {
  const auto count = static_cast<int64_t>(known_integers(i).size());
  std::vector<Dim> out;
  for (int64_t place = 0; place < count; ++place) out.push_back(scope.frame.size_of(in(i), place));
  return out;
}

ValueId Call::element(std::size_t i, int64_t place) {
  const ValueId v = in(i);
  return b.cast(b.type(v).rank() == 0 ? v : b.slice(v, {IndexItem::at(place)}), DType::i64);
}

Dim Call::size(std::size_t i) {
  const std::vector<Dim> all = sizes(i);
  if (all.size() != 1) throw wrong(str("input ", i, " is to be one number, and has ", all.size()));
  return all[0];
}

std::optional<std::vector<Literal>> Call::known_literals(ValueId v) {
  const auto elements = scope.frame.known.of(v);
  if (!elements) {
    if (product(b.type(v).dims).is(0)) return std::vector<Literal>();
    return {};
  }
  std::vector<Literal> out;
  for (const auto& number : elements->numbers) {
    const std::optional<Literal> literal = as_literal(number, b.type(v).dtype);
    if (!literal) return {};
    out.push_back(*literal);
  }
  return out;
}

std::optional<bool> Call::known_truth(ValueId v) {
  const auto literals = known_literals(v);
  if (!literals || literals->size() != 1) return {};
  return literals->front().i != 0;
}

std::vector<Literal> Call::literals(std::size_t i) {
  const ValueId v = in(i);
  if (auto known = known_literals(v)) return *std::move(known);
  throw needs(v, str("what input ", i, " holds"));
}

std::vector<int64_t> Call::constants(std::size_t i) {
  if (!is_integer(dtype(i))) throw wrong(str("input ", i, " is to be integers, and is ", b.graph().describe(in(i))));
  std::vector<int64_t> out;
  for (const Literal& literal : literals(i)) out.push_back(literal.i);
  return out;
}

int64_t Call::constant(std::size_t i) {
  const std::vector<int64_t> all = constants(i);
  if (all.size() != 1) throw wrong(str("input ", i, " is to be one number, and has ", all.size()));
  return all[0];
}

std::optional<std::vector<int64_t>> Call::constants_or_attribute(std::size_t i, std::string_view name, int64_t since) {
  if (version < since) return integers(name);
  return has(i) ? std::optional(constants(i)) : std::nullopt;
}

std::optional<std::vector<Dim>> Call::sizes_or_attribute(std::size_t i, std::string_view name, int64_t since) {
  if (version >= since) return has(i) ? std::optional(sizes(i)) : std::nullopt;
  const auto numbers = integers(name);
  if (!numbers) return {};
  return std::vector<Dim>(numbers->begin(), numbers->end());
}

int Call::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    throw error(ErrorCode::axis_out_of_range,
                str("axis ", axis, " of ", counted(static_cast<std::size_t>(rank), "axis", "axes")));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> Call::axes(const std::vector<int64_t>& axes, int rank) const {
  std::vector<int> out;
  for (int64_t each : axes) out.push_back(axis(each, rank));
  return out;
}

ValueId Call::scalar(ScalarOp op, std::vector<ValueId> operands) {
  if (operands.size() > 1) broadcast(*this, operands);
  return b.scalar(op, std::move(operands));
}

Error Call::needs(ValueId v, const std::string& what) const {
  const Importer::Origins origins = importer.origins_of(v, scope.frame);
  std::vector<std::string> names;
  std::string list;
  const auto add = [&](const char* kind, const std::set<std::string>& some) {
    for (const std::string& name : some) {
      names.push_back(name);
      list += str(list.empty() ? "" : ", ", "the ", kind, " `", name, "`");
    }
  };
  add("input", origins.inputs);
  add("size", origins.sizes);
  if (names.empty()) return unsupported(str(what, " is known only when the network runs"));
  throw NeedsFixed(unsupported(str(what, " decides how the network looks, and hangs on ", list, ", to be fixed")),
                   names);
}

ValueId as_number(Call& c, DType dtype, const Dim& size) {
  if (!size.is_constant()) return c.b.cast(c.b.size(size), dtype);
  if (is_integer(dtype)) return c.b.literal(Literal::of_integer(dtype, size.constant()));
  return c.literal(dtype, static_cast<double>(size.constant()));
}

ValueId one_number(Call& c, ValueId v) { return c.type(v).rank() == 0 ? v : c.b.reshape(v, {}); }

ValueId along(Call& c, ValueId vector, std::size_t axis, std::size_t rank) {
  std::vector<Dim> dims(rank, Dim(1));
  dims[axis] = c.type(vector).dims[0];
  return c.b.reshape(vector, std::move(dims));
}

ValueId clamped(Call& c, ValueId places, const Dim& size) {
  const DType dtype = c.type(places).dtype;
  const ValueId below = c.scalar(ScalarOp::min_, {places, as_number(c, dtype, size - 1)});
  return c.scalar(ScalarOp::max_, {below, c.literal(dtype, 0)});
}

void broadcast(Call& c, std::span<ValueId> operands, std::size_t num_core) {
  std::vector<Dim> common;
  for (ValueId x : operands) c.importer.broadcast_sizes.add(c.scope.frame, common, c.type(x).dims, num_core);
  for (ValueId& x : operands) x = stretched(c.scope.frame, x, common, num_core, c.node.op);
}

ValueId matmul(Call& c, ValueId x, ValueId y) {
  std::array<ValueId, 2> operands = {x, y};
  broadcast(c, operands, 2);
  return linalg::matmul(c.b, operands[0], operands[1]);
}

ValueId applied(Importer& importer, Scope& scope, Node node, std::span<const ValueId> operands, int64_t version) {
  const OpRow* row = find_op(node.domain, node.op, version);
  if (!row) {
    throw scope.frame.b.error(ErrorCode::unsupported,
                              str("version ", version, " of the operator set has no op `", node.op, "`"));
  }
  Scope names(scope.frame, nullptr);
  node.inputs.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    node.inputs.push_back(str("x", i));
    names.set(node.inputs.back(), operands[i]);
  }
  node.outputs = {node.op};
  Call call(importer, names, node, version);
  row->make(call);
  return importer.value(node.op, names);
}

ValueId with_sizes(const Call& c, GraphBuilder& b, ValueId x, const std::vector<Dim>& dims, const std::string& what) {
  const std::vector<Dim> own = b.type(x).dims;
  if (own == dims) return x;
  if (own.size() != dims.size()) {
    throw c.error(ErrorCode::wrong_rank, str(what, " is to have ", dims.size(), " axes, and has ", own.size()));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto message = [&] {
      return str(c.node.op, ": axis ", i, " of ", what, " is to have {1} elements, and has {0}");
    };
    b.require(own[i], dims[i], message, {{"value", x}});
  }
  return b.reshape(x, dims);
}

}  // namespace inlay::onnx
