#include "host_functions.h"

#include "ir/region.h"

namespace inlay::tool {
namespace {

using reference::HostFunction;
using reference::Tensor;

std::vector<Tensor> copy(std::span<const Tensor> operands) { return {operands.begin(), operands.end()}; }

std::vector<Tensor> positive(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  std::vector<double> kept;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (x.get<double>(i) > 0) kept.push_back(x.get<double>(i));
  }
  Tensor out = Tensor::zeros(DType::f64, {static_cast<int64_t>(kept.size())});
  for (std::size_t i = 0; i < kept.size(); ++i) out.set(static_cast<int64_t>(i), kept[i]);
  return {out};
}

/// One element too few.
std::vector<Tensor> shorter(std::span<const Tensor> operands) {
  return {Tensor::zeros(operands[0].dtype, {operands[0].dims[0] - 1})};
}

std::vector<Tensor> fail(std::span<const Tensor>) {
  throw Error(ErrorCode::host_call_failed, {}, "fail: as it was asked to");
}

HostFunction by_name(const std::string& name) {
  if (name == "copy") return copy;
  if (name == "positive") return positive;
  if (name == "shorter") return shorter;
  if (name == "fail") return fail;
  return {};
}

void add(std::vector<HostFunction>& functions, int number, const std::string& name) {
  const auto at = static_cast<std::size_t>(number);
  if (functions.size() <= at) functions.resize(at + 1);
  functions[at] = by_name(name);
}

}  // namespace

std::vector<HostFunction> host_functions_of(const Graph& graph) {
  std::vector<HostFunction> functions;
  for_each_node(graph, [&](const Node& node) {
    if (node.op == Op::host_call && node.host_function >= 0) add(functions, node.host_function, node.text);
  });
  return functions;
}

std::vector<HostFunction> host_functions_of(const kernel::KernelProgram& program) {
  std::vector<HostFunction> functions;
  for (const kernel::Step& step : program.steps) {
    if (const auto* call = std::get_if<kernel::HostCall>(&step)) add(functions, call->function, call->name);
  }
  return functions;
}

}  // namespace inlay::tool
