#include "network/network.h"

#include <set>

#include "inlay/compile.h"
#include "rewrite/bound_part.h"
#include "rewrite/dead_values.h"

namespace inlay::network {
namespace {

using onnx::Tensor;

ArrayRef array_of(const Tensor& tensor) {
  return {*onnx::dtype_of_type(tensor.type), tensor.dims, tensor.data.bytes.data()};
}

Tensor tensor_of(Array array) {
  const auto kept = std::make_shared<const Array>(std::move(array));
  const auto size = static_cast<std::size_t>(kept->num_elements() * size_bytes(kept->dtype()));
  return {"",
          onnx::type_of_dtype(kept->dtype()),
          kept->dims(),
          {kept, {static_cast<const std::byte*>(kept->data()), size}}};
}

std::vector<Array> computed(const rewrite::BoundPart& part, const std::vector<Tensor>& weights) {
  if (part.once.outputs.empty()) return {};
  std::vector<ArrayRef> arguments;
  for (int operand : part.operands) arguments.push_back(array_of(weights[static_cast<std::size_t>(operand)]));
  return compile(part.once)(arguments);
}

/// Names of bound parameters that no other value has: whoever exports a network gives arrays by name.
void name_weights(Graph& graph) {
  std::set<std::string> taken;
  for (const Param& param : graph.params) {
    if (!param.bound) taken.insert(graph.values[param.value].name);
  }
  int number = 0;
  for (const Param& param : graph.params) {
    if (!param.bound) continue;
    std::string& name = graph.values[param.value].name;
    while (name.empty() || taken.contains(name)) name = str("weight_", number++);
    taken.insert(name);
  }
}

/// A network for a small device keeps weights as small as the file has them.
rewrite::BoundPart split(const Graph& graph, const onnx::ImportOptions& options) {
  PassContext context;
  rewrite::BoundPart part = rewrite::split_bound_part(
      rewrite::drop_dead_values(graph, context),
      options.stores_windows ? rewrite::Growth::none_of_elements : rewrite::Growth::none_of_bytes);
  name_weights(part.call);
  return part;
}

}  // namespace

onnx::Network prepare(const onnx::Model& model, const onnx::ImportOptions& options) {
  const onnx::Network network = onnx::import_model(model, options);
  rewrite::BoundPart part = split(network.graph, options);
  std::vector<Tensor> made;
  for (Array& array : computed(part, network.weights)) made.push_back(tensor_of(std::move(array)));
  onnx::Network out{std::move(part.call), {}};
  for (const int weight : part.bound) {
    const bool is_made = weight < 0;
    const auto i = static_cast<std::size_t>(is_made ? ~weight : weight);
    if (is_made) {
      out.weights.push_back(std::move(made[i]));
    } else {
      out.weights.push_back(network.weights[i]);
    }
  }
  return out;
}

Graph prepared_graph(const onnx::Model& model, const onnx::ImportOptions& options) {
  return split(onnx::import_model(model, options).graph, options).call;
}

}  // namespace inlay::network
