#include "oracle/reference/evaluate.h"

#include <algorithm>
#include <map>

#include "ir/checks.h"
#include "ir/library_types.h"
#include "ir/region.h"
#include "ops/scalar_value.h"
#include "oracle/reference/control_flow.h"
#include "oracle/reference/elementwise.h"
#include "oracle/reference/moves.h"
#include "oracle/reference/reduce.h"
#include "oracle/reference/region.h"
#include "support/counted.h"
#include "textbook/textbook.h"

namespace inlay::reference {
namespace {

std::vector<Tensor> call(const Node& node, const HostFunction& function, std::span<const Tensor> operands) {
  try {
    return function(operands);
  } catch (const std::exception& reason) {
    throw Error(ErrorCode::host_call_failed, node.location, str(node.text, ": the host call failed"))
        .note("reason", reason.what());
  }
}

Tensor literal(std::span<const Literal> elements, DType dtype, std::vector<int64_t> dims) {
  Tensor out = Tensor::zeros(dtype, std::move(dims));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(out.element(static_cast<int64_t>(i)));
  return out;
}

Tensor iota(DType dtype, std::vector<int64_t> dims) {
  Tensor out = Tensor::zeros(dtype, std::move(dims));
  visit_element_type(out.dtype, [&](auto zero) {
    for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, scalar_cast<decltype(zero)>(i));
  });
  return out;
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, std::span<const HostFunction> host_functions, const Observer& observer)
      : graph_(graph),
        host_functions_(host_functions),
        observer_(observer),
        values_(graph.values.size()),
        symbols_(graph.symbols.size(), 0) {
    for (const DimCheck& check : graph.checks) {
      const NodeId behind = check.node.valid() ? NodeId() : binder_of(graph, check);
      (check.node.valid() ? checks_of_[check.node] : checks_behind_[behind]).push_back(&check);
    }
  }

  void bind(std::span<const Tensor> inputs) {
    if (inputs.size() != graph_.params.size()) {
      throw Error(ErrorCode::wrong_argument_count, {},
                  str(graph_.name, ": takes ", counted(graph_.params.size(), "argument"), ", not ", inputs.size()));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) give(graph_.params[i].value, inputs[i], Location());
    for (const Param& param : graph_.params) check_dims(param.value, given_dims(graph_, param), Location());
    for (const Param& param : graph_.params) {
      const Tensor& tensor = values_[param.value];
      check_facts(param.facts, tensor.dtype, tensor.data.data(), tensor.num_elements(), label(param.value));
    }
    make_checks(checks_behind_, NodeId());
  }

  /// Of a body: the sizes are known.
  void know(std::span<const int64_t> first) { std::ranges::copy(first, symbols_.begin()); }

  void run() {
    for (NodeId n : ids<NodeId>(graph_.nodes.size())) {
      make_checks(checks_of_, n);
      node(graph_.nodes[n]);
      make_checks(checks_behind_, n);
      if (!observer_) continue;
      for (ValueId v : graph_.nodes[n].results) observer_(graph_, v, values_[v]);
    }
  }

  IdMap<ValueId, Tensor> values() && { return std::move(values_); }
  std::vector<int64_t> symbols() && { return std::move(symbols_); }

 private:
  // What arrives from outside.

  std::string label(ValueId v) const { return graph_.value_text(v); }

  /// An argument, or the result of a host call; its shape binds the symbols that it is the source of.
  void give(ValueId v, const Tensor& tensor, const Location& location) {
    const TensorType& type = graph_.type(v);
    if (tensor.dtype != type.dtype) {
      throw Error(ErrorCode::wrong_dtype, location,
                  str(label(v), ": dtype is ", dtype_name(tensor.dtype), ", not ", dtype_name(type.dtype)));
    }
    if (tensor.rank() != type.rank()) {
      throw Error(ErrorCode::wrong_rank, location, str(label(v), ": rank is ", tensor.rank(), ", not ", type.rank()));
    }
    for (SymbolId s : ids<SymbolId>(graph_.symbols.size())) {
      if (graph_.symbols[s].source == v) symbols_[s.index] = tensor.dims[graph_.symbols[s].axis];  // never of a value
    }
    values_[v] = tensor;
  }

  void check_dims(ValueId v, const std::vector<Dim>& dims, const Location& location) const {
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const int64_t given = values_[v].dims[axis], wanted = dims[axis].evaluate(symbols_);
      if (given == wanted) continue;
      Error error(
          ErrorCode::shape_mismatch, location,
          str(label(v), ": dim ", axis, " is ", given, ", but ", dims[axis].to_text(graph_.symbol_names()),
              dims[axis].is_constant() ? "" : str(" is ", wanted), dims[axis].is_constant() ? " is wanted" : ""));
      for (SymbolId s : dims[axis].symbols()) {
        const Symbol& symbol = graph_.symbols[s];
        const std::string from = symbol.axis == Symbol::kOfValue ? "" : str("dim ", symbol.axis, " of ");
        error = std::move(error).note(symbol.name, str(symbols_[s.index], ", from ", from, label(symbol.source)));
      }
      throw Error(error);
    }
  }

  using Checks = std::map<NodeId, std::vector<const DimCheck*>>;

  void make_checks(const Checks& checks, NodeId node) const {
    const auto found = checks.find(node);
    if (found == checks.end()) return;
    for (const DimCheck* check : found->second) this->check(*check);
  }

  void check(const DimCheck& check) const {
    const int64_t left = check.left.evaluate(symbols_), right = check.right.evaluate(symbols_);
    const bool equal = check.relation == DimCheck::Relation::equal;
    if (equal ? left == right : left <= right) return;
    const int64_t sizes[] = {left, right};
    throw Error(Diagnostic{check.code, check.location, with_numbers(check.message, sizes), check.notes, {}});
  }

  // Nodes.

  const Tensor& operand(const Node& node, std::size_t i) const { return values_[node.operands[i]]; }

  std::vector<Tensor> operands(const Node& node) const {
    std::vector<Tensor> out;
    for (ValueId v : node.operands) out.push_back(values_[v]);
    return out;
  }

  std::vector<int64_t> dims_of(ValueId v) const {
    std::vector<int64_t> dims;
    for (const Dim& dim : graph_.type(v).dims) dims.push_back(dim.evaluate(symbols_));
    return dims;
  }
  const TensorType& result_type(const Node& node) const { return graph_.type(node.results[0]); }
  std::vector<int64_t> result_dims(const Node& node) const { return dims_of(node.results[0]); }

  void node(const Node& node) {
    if (node.op == Op::host_call) return host_call(node);
    if (node.op == Op::compress) return compress(node);
    if (is_region(node.op)) return region(node);
    try {
      if (node.op == Op::library) return library(node);
      if (node.op == Op::reduce) return reduce(node);
      values_[node.results[0]] = result(node);
      if (node.op == Op::as_size) bind_size(node);
    } catch (const Error& error) {
      // What one element found wrong does not know where it stands.
      Diagnostic diagnostic = error.diagnostic();
      diagnostic.location = node.location;
      for (ValueId v : node.operands) diagnostic.notes.emplace_back("operand", graph_.describe(v));
      throw Error(diagnostic);
    }
  }

  Tensor result(const Node& node) const {
    switch (node.op) {
      case Op::literal: return literal(node.elements, result_type(node).dtype, result_dims(node));
      case Op::scalar: return scalar(node);
      case Op::cast: return cast(operand(node, 0), result_type(node).dtype);
      case Op::broadcast: return broadcast(operand(node, 0), result_dims(node));
      case Op::reshape: return {operand(node, 0).dtype, result_dims(node), operand(node, 0).data};
      case Op::transpose: return transpose(operand(node, 0), node.axes, result_dims(node));
      case Op::flip: return flip(operand(node, 0), node.axes);
      case Op::diagonal: return diagonal(operand(node, 0), node.axes, result_dims(node));
      case Op::slice:
      case Op::gather: return read(node);
      case Op::update:
      case Op::scatter: return write(node);
      case Op::cumulative: return cumulative(node.combine, operand(node, 0), node.axes[0]);
      case Op::concat: return concat(operands(node), node.axes[0], result_dims(node));
      case Op::iota: return iota(result_type(node).dtype, result_dims(node));
      case Op::size: return i64({}, {node.size.evaluate(symbols_)});
      case Op::assert_: return assert_that(node);
      case Op::as_size: return operand(node, 0);
      case Op::reduce:
      case Op::compress:
      case Op::library:
      case Op::host_call:
      case Op::cond:
      case Op::loop: break;
    }
    INLAY_CHECK(false, "the results of ", op_name(node.op), " are not made here");
    return {};
  }

  Tensor scalar(const Node& node) const {
    std::vector<Tensor> operands;
    for (ValueId v : node.operands) operands.push_back(broadcast(values_[v], result_dims(node)));
    return apply_scalar(node.scalar, operands);
  }

  Region region(const Node& node, std::size_t first_array) const {
    std::vector<Tensor> arrays;
    for (std::size_t i = first_array; i < node.operands.size(); ++i) arrays.push_back(operand(node, i));
    return region_of(operand(node, 0).dims, node.index, arrays, symbols_, std::string(called(node)));
  }

  Tensor read(const Node& node) const {
    const Tensor& x = operand(node, 0);
    const Region from = region(node, 1);
    Tensor out = Tensor::zeros(x.dtype, from.dims);
    for (std::size_t i = 0; i < from.elements.size(); ++i) {
      combine_element(Combine::set, out, static_cast<int64_t>(i), x, from.elements[i]);
    }
    return out;
  }

  /// In row-major order of the region, so of two writes to one element the later one stays.
  Tensor write(const Node& node) const {
    Tensor out = operand(node, 0);
    const Tensor& value = operand(node, 1);
    const Region to = region(node, 2);
    std::size_t next = 0;
    for_each_point(to.dims, [&](std::span<const int64_t> point) {
      combine_element(node.combine, out, to.elements[next++], value, broadcast_offset(value.dims, point));
    });
    return out;
  }

  void reduce(const Node& node) {
    std::vector<Tensor> states =
        reference::reduce(node.fold, operands(node), node.axes, result_dims(node), result_type(node).dtype);
    for (std::size_t r = 0; r < states.size(); ++r) values_[node.results[r]] = std::move(states[r]);
  }

  void bind_size(const Node& node) {
    const int64_t number = operand(node, 0).get<int64_t>(0);
    if (number < 0) {
      throw Error(ErrorCode::negative_size, node.location, str("as_size: a size of ", number));
    }
    symbols_[node.size.as_symbol().index] = number;
  }

  void compress(const Node& node) {
    const Tensor& mask = operand(node, 0);
    int64_t count = 0;
    for (int64_t i = 0; i < mask.num_elements(); ++i) count += mask.get<bool>(i) ? 1 : 0;
    symbols_[node.size.as_symbol().index] = count;
    values_[node.results[0]] = i64({}, {count});
    for (std::size_t r = 1; r < node.results.size(); ++r) {
      values_[node.results[r]] = reference::compress(operand(node, r), mask, count);
    }
  }

  void library(const Node& node) {
    std::vector<TensorType> types;
    std::vector<const std::byte*> operands;
    std::vector<std::byte*> results;
    for (ValueId v : node.operands) {
      types.push_back(graph_.type(v));
      operands.push_back(values_[v].data.data());
    }
    for (ValueId v : node.results) {
      values_[v] = Tensor::zeros(graph_.type(v).dtype, dims_of(v));
      results.push_back(values_[v].data.data());
    }
    const LibraryShape shape = library_shape(node.library, types);
    std::vector<int64_t> sizes = {product(shape.batch).evaluate(symbols_)};
    for (const Dim& size : shape.sizes) sizes.push_back(size.evaluate(symbols_));
    const auto failure = textbook::run(node.library, node.library_options, types[0].dtype, operands, results, sizes);
    if (!failure) return;
    std::string message = failure_message(node.library);
    for (const auto& [place, number] : {std::pair("{0}", failure->number), std::pair("{1}", failure->matrix)}) {
      const std::size_t at = message.find(place);
      if (at != std::string::npos) message.replace(at, 3, std::to_string(number));
    }
    throw Error(ErrorCode::factorization_failed, node.location, message);
  }

  Tensor assert_that(const Node& node) const {
    if (operand(node, 1).get<bool>(0)) return operand(node, 0);
    std::vector<int64_t> numbers;
    for (std::size_t i = 2; i < node.operands.size(); ++i) numbers.push_back(operand(node, i).get<int64_t>(0));
    throw Error(node.error, node.location, with_numbers(node.text, numbers));
  }

  void region(const Node& node) {
    const std::vector<Tensor> operands = this->operands(node);
    const RunBody run = [&](const Graph& body, std::vector<Tensor> params) {
      Evaluator inside(body, host_functions_, observer_);
      inside.know(std::span(symbols_).first(body.num_given));
      inside.bind(params);
      inside.run();
      std::vector<Tensor> outputs;
      for (const Output& output : body.outputs) outputs.push_back(inside.values_[output.value]);
      return outputs;
    };
    std::vector<Tensor> traces;
    for (std::size_t i = static_cast<std::size_t>(node.region.num_carried); i < node.results.size(); ++i) {
      const ValueId trace = node.results[i];
      if (node.op == Op::loop) traces.push_back(Tensor::zeros(graph_.type(trace).dtype, dims_of(trace)));
    }
    const std::vector<Tensor> results =
        node.op == Op::cond ? run_cond(node, operands, run)
                            : run_loop(node, operands, node.region.count.evaluate(symbols_), std::move(traces), run);
    for (std::size_t i = 0; i < results.size(); ++i) values_[node.results[i]] = results[i];
  }

  void host_call(const Node& node) {
    const auto function = static_cast<std::size_t>(node.host_function);
    if (node.host_function < 0 || function >= host_functions_.size() || !host_functions_[function]) {
      throw Error(ErrorCode::host_call_failed, node.location, str("host_call: nobody supplies ", node.text));
    }
    const std::vector<Tensor> results = call(node, host_functions_[function], operands(node));
    if (results.size() != node.results.size()) {
      throw Error(ErrorCode::host_call_failed, node.location,
                  str(node.text, ": ", results.size(), " results, not ", node.results.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) give(node.results[i], results[i], node.location);
    for (std::size_t i = 0; i < results.size(); ++i) check_host_dims(node, i);
  }

  void check_host_dims(const Node& node, std::size_t result) const {
    const TensorType& type = graph_.type(node.results[result]);
    for (int axis = 0; axis < type.rank(); ++axis) {
      const int64_t came = values_[node.results[result]].dims[axis], promised = type.dims[axis].evaluate(symbols_);
      if (came == promised) continue;
      Error error(ErrorCode::shape_mismatch, node.location,
                  str(node.text, ": axis ", axis, " of result ", result, " has ", came, " elements, not ", promised));
      for (std::size_t r = 0; r < node.results.size(); ++r) {
        error = std::move(error).note(str("result ", r), graph_.describe(node.results[r]));
      }
      throw Error(error);
    }
  }

  const Graph& graph_;
  std::span<const HostFunction> host_functions_;
  const Observer& observer_;
  IdMap<ValueId, Tensor> values_;
  std::vector<int64_t> symbols_;
  Checks checks_of_;      // by the node that they are made for
  Checks checks_behind_;  // those that stand alone, by the node that finds their last size; none: the entry
};

}  // namespace

IdMap<ValueId, Tensor> evaluate_all(const Graph& graph, std::span<const Tensor> inputs,
                                    std::span<const HostFunction> host_functions, const Observer& observer) {
  Evaluator evaluator(graph, host_functions, observer);
  evaluator.bind(inputs);
  evaluator.run();
  return std::move(evaluator).values();
}

std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                             std::span<const HostFunction> host_functions) {
  const IdMap<ValueId, Tensor> values = evaluate_all(graph, inputs, host_functions);
  std::vector<Tensor> outputs;
  for (const Output& output : graph.outputs) outputs.push_back(values[output.value]);
  return outputs;
}

std::vector<int64_t> bind_symbols(const Graph& graph, std::span<const Tensor> inputs) {
  const Observer nobody;
  Evaluator evaluator(graph, {}, nobody);
  evaluator.bind(inputs);
  return std::move(evaluator).symbols();
}

}  // namespace inlay::reference
